/** The table of all kinds of change. */
import { type AddedChange, addedChanges } from './added.ts';
import { type AttemptChange, attemptChanges } from './attempt.ts';
import { type BackfillChange, backfillChanges } from './backfill.ts';
import { type DagChange, dagChanges } from './dag.ts';
import { type DeadLetterChange, deadLetterChanges } from './dead-letter.ts';
import { type DeadlineChange, deadlineChanges } from './deadline.ts';
import type { ChangeEvent, ChangeGroup, ShowInstant } from './define.ts';
import type { Fields } from './fields.ts';
import { type HeldChange, heldChanges } from './held.ts';
import { type ManualChange, manualChanges } from './manual.ts';
import { type MapChange, mapChanges } from './map.ts';
import type { FoldedRows } from './rows.ts';
import { type RunChange, runChanges } from './run.ts';
import { type ScheduleChange, scheduleChanges } from './schedule.ts';
import { type ShardChange, shardChanges } from './shard.ts';
import { type SpeculativeChange, speculativeChanges } from './speculative.ts';

export type Change =
  | DagChange
  | ScheduleChange
  | RunChange
  | AttemptChange
  | SpeculativeChange
  | ManualChange
  | DeadlineChange
  | MapChange
  | AddedChange
  | DeadLetterChange
  | HeldChange
  | ShardChange
  | BackfillChange;

/** A description, whatever its kind. */
export interface AnyChangeKind {
  readonly kind: Change['kind'];
  readonly no: number;
  readonly since: number;
  readonly group: ChangeGroup;
  readonly fields: Fields;
  readonly rowKey?: (change: Change) => string;
  readonly rows: (change: Change, rows: FoldedRows) => void;
  readonly event: (change: Change, show: ShowInstant) => ChangeEvent | null;
}

const DESCRIBED = [
  ...dagChanges,
  ...scheduleChanges,
  ...runChanges,
  ...attemptChanges,
  ...speculativeChanges,
  ...manualChanges,
  ...deadlineChanges,
  ...mapChanges,
  ...addedChanges,
  ...deadLetterChanges,
  ...heldChanges,
  ...shardChanges,
  ...backfillChanges,
] as const satisfies readonly { readonly rows: (change: never, rows: FoldedRows) => void }[];

type Described = (typeof DESCRIBED)[number];

/** The names of all events that changes become. */
export type ChangeEventKind = NonNullable<ReturnType<Described['event']>>['kind'];

/** In the order of their numbers in the journal. A description takes changes of its own kind: the table loses that. */
export const CHANGE_KINDS = (DESCRIBED as readonly unknown[] as readonly AnyChangeKind[]).toSorted(
  (a, b) => a.no - b.no,
);

const BY_NAME: ReadonlyMap<Described['kind'], AnyChangeKind> = new Map(CHANGE_KINDS.map((kind) => [kind.kind, kind]));

export function kindOf(change: Change): AnyChangeKind {
  return BY_NAME.get(change.kind) as AnyChangeKind;
}
