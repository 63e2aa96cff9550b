import type { DagId, Instant } from './ids.ts';

/** Names a window of a dag, in memory. */
export const windowName = (dagId: DagId, at: Instant): string => `${dagId}/${at}`;
