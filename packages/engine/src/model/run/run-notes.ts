/**
 * Notes of a run: data beside its row, for runs that use more than plain tasks. They are JSON. Each change that alters them
 * writes them completely, so they are the same live, on load and in replay (I19).
 */
import type { ClosingPlan } from '../dag/closing-plan.ts';
import type { BackfillUid, Instant } from '../ids.ts';

export interface RunNotes {
  /** Since it was opened the last time: when it was found to be slow, and when its time was over. */
  readonly slowAt?: Instant;
  readonly timedOutAt?: Instant;
  /** How often it was slow, and how often it was opened again, where a hook of the run counts that. */
  readonly slowTimes?: number;
  readonly reopens?: number;
  /** The task or group that it goes up to; see `model/dag/until.ts`. */
  readonly until?: string;
  /** The backfill that made it. */
  readonly backfill?: BackfillUid;
}

/** As it is stored, or as a reader has it. */
export function readRunNotes(notes: string | RunNotes | null | undefined): RunNotes {
  return typeof notes === 'string' ? (JSON.parse(notes) as RunNotes) : (notes ?? {});
}

/** The run is open again: its deadlines start again, and the counts of hooks continue. */
export function notesReopened(notes: RunNotes, closing: ClosingPlan | null): { notes?: string } {
  const { slowTimes, reopens = 0, until, backfill } = notes;
  const counts = closing !== null && closing.repeatingOf(null).length > 0;
  if (!counts && until === undefined && backfill === undefined) return {};
  const kept: RunNotes = {
    ...(counts && slowTimes !== undefined ? { slowTimes } : {}),
    ...(counts ? { reopens: reopens + 1 } : {}),
    ...begunWith({ until, backfill }),
  };
  return { notes: JSON.stringify(kept) };
}

/** Those that a run begins with, if any. */
export function notesCreated({ until, backfill }: Pick<RunNotes, 'until' | 'backfill'>): { notes?: string } {
  if (until === undefined && backfill === undefined) return {};
  return { notes: JSON.stringify(begunWith({ until, backfill }) satisfies RunNotes) };
}

interface BegunWith {
  readonly until: string | undefined;
  readonly backfill: BackfillUid | undefined;
}

/** These never change. */
function begunWith({ until, backfill }: BegunWith): Pick<RunNotes, 'until' | 'backfill'> {
  return { ...(until === undefined ? {} : { until }), ...(backfill === undefined ? {} : { backfill }) };
}

/** Counted only where a hook asks for it. */
export function notesSlow(notes: RunNotes, closing: ClosingPlan | null, at: Instant): string {
  const counts = (closing?.repeatingOf(null).length ?? 0) > 0;
  return JSON.stringify({ ...notes, slowAt: at, ...(counts ? { slowTimes: (notes.slowTimes ?? 0) + 1 } : {}) });
}
