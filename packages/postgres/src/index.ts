export { type FolderInspection, inspectFolder, inspectPrograms, type ProgramsInspection } from './inspect.ts';
export { type RunningPostgres, startPostgres } from './start.ts';
