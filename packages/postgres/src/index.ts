export { PostgresError } from './error.ts';
export { type FolderInspection, inspectFolder, inspectPrograms, type ProgramsInspection } from './inspect.ts';
export { type RunningPostgres, type StartOptions, startPostgres } from './start.ts';
