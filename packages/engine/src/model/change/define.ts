/**
 * The description of one kind of change: its fields, which part of a commit it goes with, what rows it writes and how it
 * reads as an event. Journal codec, row folding, samples for tests and event text follow from it. What it does to state is
 * `apply`, a layer above.
 */
import type { Instant, TaskNo } from '../ids.ts';
import type { TableWrites } from '../table/define-table.ts';
import type { Fields, RecordOf } from './fields.ts';

/**
 * Rows of a batch are written in one go, but for changes that need the row as earlier ones have left it. Such changes have
 * a group, and changes of one run that are of different groups are written one after the other. `manual`: made by people.
 * `notes`: about deadlines. `speculative`: about the speculative attempt of a task.
 */
export type ChangeGroup = 'plain' | 'manual' | 'notes' | 'speculative';

/** The change as users see it in the event stream. Run, dag, task and instant follow from the fields. */
export interface ChangeEvent<Name extends string = string> {
  readonly kind: Name;
  readonly details: Readonly<Record<string, unknown>>;
}

/** An instant as events show it: the engine itself knows no calendar. */
export type ShowInstant = (at: Instant | null) => string | null;

type ChangeRecord<Kind extends string, F extends Fields> = { readonly kind: Kind } & RecordOf<F>;

interface Properties<C, Rows, EventName extends string> {
  /** The kind's number in the journal: never changed, never used again. */
  readonly no: number;
  /** The first format of the journal that has the kind, for those that came after format 4. */
  readonly since?: number;
  readonly group?: ChangeGroup;
  /** The row that it writes, if a statement may write it only once: a second change of that row begins a new part. */
  readonly rowKey?: (change: C) => string;
  /** The rows of runs, tasks and other tables with statements of their own. */
  readonly rows?: (change: C, rows: Rows) => void;
  /** The rows of described tables. */
  readonly tables?: (change: C, tables: TableWrites) => void;
  /** Null: users are not told. */
  readonly event: (change: C, show: ShowInstant) => ChangeEvent<EventName> | null;
}

export interface ChangeKind<Kind extends string, F extends Fields, Rows, EventName extends string>
  extends Properties<ChangeRecord<Kind, F>, Rows, EventName> {
  readonly kind: Kind;
  readonly fields: F;
  readonly since: number;
  readonly group: ChangeGroup;
  readonly rows: (change: ChangeRecord<Kind, F>, rows: Rows) => void;
}

export function defineChange<
  const Kind extends string,
  const F extends Fields,
  Rows,
  const EventName extends string = never,
>(
  kind: Kind,
  { fields, ...properties }: { readonly fields: F } & Properties<ChangeRecord<Kind, F>, Rows, EventName>,
): ChangeKind<Kind, F, Rows, EventName> {
  return { kind, fields, since: 1, group: 'plain', rows: noRows, ...properties };
}

/** The change that a description describes. */
export type ChangeOf<D> = D extends {
  readonly kind: infer Kind extends string;
  readonly fields: infer F extends Fields;
}
  ? ChangeRecord<Kind, F>
  : never;

/** For kinds that write none of these rows. */
export const noRows = (): void => {};
/** For kinds that only matter inside. */
export const notTold = (): null => null;

/** The row of a task, as a key. */
export const taskKey = ({ runId, taskNo }: { readonly runId: number; readonly taskNo: TaskNo }): string =>
  `${runId}/${taskNo}`;
