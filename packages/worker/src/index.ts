export type { WorkerOptions } from './options.ts';
export { startWorker, type Worker } from './worker.ts';
