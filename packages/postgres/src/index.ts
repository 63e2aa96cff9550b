export { PostgresError } from './error.ts';
export { type RunningPostgres, type StartOptions, startPostgres } from './start.ts';
