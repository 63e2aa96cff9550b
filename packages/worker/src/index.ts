export type { WorkerOptions } from './options.ts';
export type { WorkKind } from './work.ts';
export { startWorker, type Worker } from './worker.ts';
