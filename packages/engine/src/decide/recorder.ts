/** Collects one step: decisions record changes, which are applied at once, and effects, which wait for the commit. */
import { apply } from '../apply/apply.ts';
import { TABLES } from '../model/change/kinds.ts';
import type { Change, StoredKey } from '../model/change.ts';
import type { Command } from '../model/command.ts';
import type { RunId } from '../model/ids.ts';
import type { Seen, StoredDeadLetter, StoredPast, StoredRun, StoredVersion, StoredWindow } from '../model/stored.ts';
import { type AnyRow, type AnyTable, type KeyOf, keyTextOf, type RowOf } from '../model/table/define-table.ts';
import type { TableName, TableNamed } from '../model/table/stored-tables.ts';
import type { UnstoredChange } from '../model/unstored-change.ts';
import type { State } from '../tables/state.ts';
import type { Offer } from '../tables/worker/worker-table.ts';
import type { Effect } from './effect.ts';

export class Recorder {
  readonly state: State;
  readonly changes: Change[] = [];
  readonly effects: Effect[] = [];
  /** Ended runs, and keys, that the host fetched for this step: not part of the working set. */
  readonly endedRuns = new Map<RunId, StoredRun>();
  /** Versions that came with them. */
  seenVersions: readonly StoredVersion[] = [];
  /** All that was fetched for this step. */
  seen: Seen | null = null;
  readonly runsByUid = new Map<string, StoredRun>();
  /** Slots that were lent for this decision only. */
  readonly lent = new Set<Offer>();
  readonly keys = new Map<string, StoredKey>();
  readonly deadLetters = new Map<string, StoredDeadLetter>();
  readonly windows = new Map<string, StoredWindow>();
  readonly pasts = new Map<string, StoredPast>();
  /** Whether they are met, by name. */
  readonly requirements = new Map<string, boolean>();
  readonly #rows = new Map<TableName, ReadonlyMap<string, AnyRow>>();

  constructor(state: State) {
    this.state = state;
  }

  record(change: Change): void {
    apply(this.state, change);
    this.changes.push(change);
  }

  /** A move that is applied, and not stored. */
  move(change: UnstoredChange): void {
    apply(this.state, change);
  }

  /** A row that the host fetched for this step. */
  fetched<Name extends TableName>(name: Name, key: KeyOf<TableNamed<Name>>): RowOf<TableNamed<Name>> | undefined {
    const table: AnyTable = TABLES[name];
    let rows = this.#rows.get(name);
    if (rows === undefined) {
      const found: readonly AnyRow[] = this.seen?.tables[name] ?? [];
      rows = new Map(found.map((row) => [keyTextOf(table, row), row]));
      this.#rows.set(name, rows);
    }
    return rows.get(keyTextOf(table, key)) as RowOf<TableNamed<Name>> | undefined;
  }

  send(effect: Effect): void {
    this.effects.push(effect);
  }

  /** Sets of workers that say more in the same batch: what an earlier one lacks proves nothing, the later one tells. */
  readonly overtaken = new Set<Command>();

  /** The step has made its share of changes: what is left goes on in the next one. */
  isFull(): boolean {
    return this.changes.length >= this.state.settings.changesPerStep;
  }
}
