/** A class is a priority, or the backfills. Higher classes claim first. */
import { PRIORITIES } from '../../model/dag/spec.ts';

/** Tasks of backfills have lanes after those of all priorities: see `decide/match/backfill-share.ts`. */
export const BACKFILL_LANES = PRIORITIES.length;
export const CLASSES: readonly number[] = [...PRIORITIES.map((_, priority) => priority), BACKFILL_LANES];
