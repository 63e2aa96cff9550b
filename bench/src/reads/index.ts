export { historyQueries } from './history.ts';
export { viewOfLargeRun } from './run-view.ts';
export { statusReads } from './status.ts';
