export { airflow } from './airflow.ts';
export { peers } from './queues.ts';
export { temporal } from './temporal.ts';
