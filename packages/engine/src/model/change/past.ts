/** Runs that wait for others: for the window before theirs, or for what their window requires. */
import type { RunId } from '../ids.ts';
import { type ChangeOf, defineChange, notTold } from './define.ts';
import { f } from './fields.ts';
import type { RunNote } from './run.ts';

/** What both kinds of check do: they replace the notes of the run. */
const checked = {
  since: 6,
  group: 'notes',
  fields: {
    runId: f.run,
    /** All notes of the run from here on, as JSON: see `model/run/run-notes.ts`. */
    notes: f.text(),
    at: f.instant,
  },
  rows({ runId, notes }: RunNote, { runNotes }: PastRows) {
    runNotes.set(runId, { runId, notes });
  },
  event: notTold,
} as const;

/** It is known which window the tasks of the run wait for, or fewer of them still do. */
const pastChecked = defineChange('PastChecked', { no: 80, ...checked });

/** What the window of the run requires was met, or its time is over; the notes have `unmet` where something was not met. */
const requirementsChecked = defineChange('RequirementsChecked', { no: 82, ...checked });

/**
 * The run does nothing but wait for another one, which waits for a place among the active runs of the dag: it gives up its own,
 * and waits to be admitted again (I7).
 */
const runYielded = defineChange('RunYielded', {
  no: 81,
  since: 6,
  group: 'manual',
  rowKey: ({ kind, runId }) => `${runId} ${kind}`,
  fields: { runId: f.run, at: f.instant },
  rows(change, { yielded }: PastRows) {
    yielded.push(change);
  },
  event: () => ({ kind: 'run.yielded', details: {} }),
});

export interface PastRows {
  readonly runNotes: Map<RunId, RunNote>;
  readonly yielded: RunYielded[];
}

export interface PastChecked extends ChangeOf<typeof pastChecked> {}
export interface RunYielded extends ChangeOf<typeof runYielded> {}
export interface RequirementsChecked extends ChangeOf<typeof requirementsChecked> {}
export type PastChange = PastChecked | RunYielded | RequirementsChecked;

export const pastChanges = [pastChecked, runYielded, requirementsChecked] as const;
