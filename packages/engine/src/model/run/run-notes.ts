/**
 * Notes of a run: data beside its row, for runs that use more than plain tasks. They are JSON. Each change that alters them
 * writes them completely, so they are the same live, on load and in replay (I19).
 */
import type { AssetSource } from '../asset.ts';
import type { ClosingPlan } from '../dag/closing-plan.ts';
import type { BackfillUid, Instant, RunUid } from '../ids.ts';
import type { RequiresNote } from '../schedule/requirement.ts';

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
  /** Its key, where the dag limits its runs by key; see `model/run/run-key.ts`. */
  readonly key?: string;
  /** It waits until the dag has no active run, by the schedule of its window. */
  readonly waits?: true;
  /** While it waits until they are met; see `decide/requires/`. */
  readonly requires?: RequiresNote;
  /** Dags of requirements that were not met in time. */
  readonly unmet?: readonly string[];
  /** The assets that it was created by. */
  readonly assets?: readonly AssetSource[];
  /** Absent until the window before is known; see `decide/past/`. */
  readonly past?: PastNote;
}

/** What tasks that depend on the past wait for. */
export interface PastNote {
  /** The window before that had a run; null for a first one. */
  readonly at: Instant | null;
  /** Its newest run when that was found out, for people. */
  readonly run?: RunUid;
  /** Numbers, in the spec, of the tasks that still wait for it. */
  readonly left: readonly number[];
}

/** As it is stored, or as a reader has it. */
export function readRunNotes(notes: string | RunNotes | null | undefined): RunNotes {
  return typeof notes === 'string' ? (JSON.parse(notes) as RunNotes) : (notes ?? {});
}

/** The run is open again: its deadlines start again, the past is looked at again, and the counts of hooks continue. */
export function notesReopened(notes: RunNotes, closing: ClosingPlan | null): { notes?: string } {
  const { slowTimes, reopens = 0 } = notes;
  const counts = closing !== null && closing.repeatingOf(null).length > 0;
  const begun = begunWith(notes);
  if (!counts && Object.keys(begun).length === 0) return {};
  const kept: RunNotes = {
    ...(counts && slowTimes !== undefined ? { slowTimes } : {}),
    ...(counts ? { reopens: reopens + 1 } : {}),
    ...begun,
  };
  return { notes: JSON.stringify(kept) };
}

type Begun = Pick<RunNotes, 'until' | 'backfill' | 'assets' | 'key' | 'waits'>;

/** Those that a run begins with, if any. Most have none: they are asked one by one, and nothing is made for them. */
export function notesCreated(run: Begun & Pick<RunNotes, 'requires'>): { notes?: string } {
  const { until, backfill, assets, key, waits, requires } = run;
  if (until === undefined && backfill === undefined && assets === undefined && key === undefined) {
    if (requires === undefined && waits === undefined) return {};
  }
  const notes: RunNotes = { ...begunWith(run), ...(requires === undefined ? {} : { requires }) };
  return { notes: JSON.stringify(notes) };
}

/** These never change. */
function begunWith({ until, backfill, assets, key, waits }: Begun): Begun {
  return {
    ...(until === undefined ? {} : { until }),
    ...(backfill === undefined ? {} : { backfill }),
    ...(assets === undefined ? {} : { assets }),
    ...(key === undefined ? {} : { key }),
    ...(waits === undefined ? {} : { waits }),
  };
}

/** Counted only where a hook asks for it. */
export function notesSlow(notes: RunNotes, closing: ClosingPlan | null, at: Instant): string {
  const counts = (closing?.repeatingOf(null).length ?? 0) > 0;
  return JSON.stringify({ ...notes, slowAt: at, ...(counts ? { slowTimes: (notes.slowTimes ?? 0) + 1 } : {}) });
}
