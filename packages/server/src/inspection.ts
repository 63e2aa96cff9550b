/** Questions about the parts of a server without starting one, for `signalbox doctor`. */
export { type FolderInspection, inspectFolder, inspectPrograms, type ProgramsInspection } from '@signalbox/postgres';
export { type DatabaseInspection, inspectDatabase } from '@signalbox/store';
