/** All kinds of change, and all tables that have a description. */

import type { TableWrites } from '../table/define-table.ts';
import { type AddedChange, addedChanges } from './added.ts';
import { type AssetChange, assetChanges, assetTables } from './asset.ts';
import { type AttemptChange, attemptChanges } from './attempt.ts';
import { type BackfillChange, backfillChanges, backfillTables } from './backfill.ts';
import { type BudgetChange, budgetChanges, budgetTables } from './budget.ts';
import { type DagChange, dagChanges } from './dag.ts';
import { type DeadLetterChange, deadLetterChanges } from './dead-letter.ts';
import { type DeadlineChange, deadlineChanges } from './deadline.ts';
import type { ChangeEvent, ChangeGroup, ShowInstant } from './define.ts';
import { type ExpectChange, expectChanges, expectTables } from './expect.ts';
import type { Fields } from './fields.ts';
import { type HaltChange, haltChanges, haltTables } from './halt.ts';
import { type HeldChange, heldChanges, heldTables } from './held.ts';
import { type LimitChange, limitChanges, limitTables } from './limit.ts';
import { type ManualChange, manualChanges } from './manual.ts';
import { type MapChange, mapChanges } from './map.ts';
import { type PastChange, pastChanges } from './past.ts';
import { type QuotaChange, quotaChanges, quotaTables } from './quota.ts';
import { type RateChange, rateChanges, rateTables } from './rate.ts';
import type { FoldedRows } from './rows.ts';
import { type RunChange, runChanges } from './run.ts';
import { type RunKeyChange, runKeyChanges, runKeyTables } from './run-key.ts';
import { type ScheduleChange, scheduleChanges, scheduleTables } from './schedule.ts';
import { type ShardChange, shardChanges, shardTables } from './shard.ts';
import { type SpeculativeChange, speculativeChanges } from './speculative.ts';

export type * from './added.ts';
export type * from './asset.ts';
export type * from './attempt.ts';
export type * from './backfill.ts';
export type * from './budget.ts';
export type * from './dag.ts';
export type * from './dead-letter.ts';
export type * from './deadline.ts';
export type * from './expect.ts';
export type * from './halt.ts';
export type * from './held.ts';
export type * from './limit.ts';
export type * from './manual.ts';
export type * from './map.ts';
export type * from './past.ts';
export type * from './payload.ts';
export type * from './quota.ts';
export type * from './rate.ts';
export type * from './run.ts';
export type * from './run-key.ts';
export type * from './schedule.ts';
export type * from './shard.ts';
export type * from './speculative.ts';

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
  | PastChange
  | ShardChange
  | BackfillChange
  | AssetChange
  | ExpectChange
  | RateChange
  | BudgetChange
  | LimitChange
  | QuotaChange
  | HaltChange
  | RunKeyChange;

/** A description, whatever its kind. */
export interface AnyChangeKind {
  readonly kind: Change['kind'];
  readonly no: number;
  readonly since: number;
  readonly group: ChangeGroup;
  readonly fields: Fields;
  readonly rowKey?: (change: Change) => string;
  readonly rows: (change: Change, rows: FoldedRows) => void;
  readonly tables?: (change: Change, tables: TableWrites) => void;
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
  ...pastChanges,
  ...shardChanges,
  ...backfillChanges,
  ...assetChanges,
  ...expectChanges,
  ...limitChanges,
  ...quotaChanges,
  ...haltChanges,
  ...runKeyChanges,
  ...rateChanges,
  ...budgetChanges,
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

/** By the name that loads and fetches give their rows. */
export const TABLES = {
  ...shardTables,
  ...heldTables,
  ...backfillTables,
  ...scheduleTables,
  ...assetTables,
  ...expectTables,
  ...limitTables,
  ...quotaTables,
  ...haltTables,
  ...runKeyTables,
  ...rateTables,
  ...budgetTables,
} as const;
