/**
 * One partition per day, created some days ahead, and `default` for rows of a day without one, so rows from a clock that is
 * far ahead find a place too. Which days have partitions is read when a chain is opened and after each upkeep. A node that
 * missed a new partition gets an error from the database (its row violates the bounds of `default`), opens a new chain and
 * reads the list again.
 */

import type { Database } from './database.ts';
import { DAY_MS, dayOf, type KnownDays, runBounds } from './leaf.ts';
import { type Call, call, statement } from './statement.ts';

type Group = keyof KnownDays;
/** Tables that are cut together; the first one of each tells which days there are. */
const TABLES = {
  run: ['run', 'task', 'attempt', 'payload', 'map_expansion', 'attempt_usage'],
  journal: ['journal', 'journal_member'],
  window: ['window_decision'],
} as const satisfies Record<Group, readonly string[]>;
const GROUPS = Object.keys(TABLES) as readonly Group[];

/** Held while partitions come and go: two nodes that do it at once wait for each other. */
const PARTITION_LOCK = 7_331_002;
const LOCK_TIMEOUT_MS = 2_000;
const DAYS_BEHIND = 1;
const DAYS_AHEAD = 3;

const selectLeaves = statement(
  'select_leaves',
  `
  select p.relname, c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid join pg_class p on p.oid = i.inhparent
   where i.inhparent in ('run'::regclass, 'journal'::regclass, 'window_decision'::regclass)`,
);
const setLockTimeout = statement('set_lock_timeout', `select set_config('lock_timeout', $1::text, true)`);
const takePartitionLock = statement('take_partition_lock', 'select pg_advisory_xact_lock($1::bigint)');
const ensurePartition = statement(
  'ensure_partition',
  'select ensure_partition($1::text, $2::integer, $3::bigint, $4::bigint)',
);

/** Sent before statements that change which partitions there are: they never queue for long, with commits behind them. */
export function partitionLock(): Call[] {
  return [call(setLockTimeout, `${LOCK_TIMEOUT_MS}ms`), call(takePartitionLock, PARTITION_LOCK)];
}

export class Partitions {
  readonly #database: Database;
  #days: KnownDays = { run: new Set(), journal: new Set(), window: new Set() };

  constructor(database: Database) {
    this.#database = database;
  }

  get days(): KnownDays {
    return this.#days;
  }

  async refresh(): Promise<void> {
    const { rows } = await this.#database.one(call(selectLeaves));
    const daysOf = (table: string) => {
      const names = rows.filter(([parent]) => parent === table).map(([, leaf]) => /_d(\d+)$/.exec(leaf ?? '')?.[1]);
      return new Set(names.filter((day) => day !== undefined).map(Number));
    };
    this.#days = { run: daysOf('run'), journal: daysOf('journal'), window: daysOf('window_decision') };
  }

  /** Makes what is missing from the day before `now` to some days after it. A day that can't be made now is left for later. */
  async ensureAhead(now: number): Promise<void> {
    await this.refresh();
    for (let day = dayOf(now) - DAYS_BEHIND; day <= dayOf(now) + DAYS_AHEAD; day++) {
      for (const group of GROUPS) {
        if (!this.#days[group].has(day)) await this.#ensureDay(group, day);
      }
    }
    await this.refresh();
  }

  async #ensureDay(group: Group, day: number): Promise<void> {
    const [from, to] = group === 'run' ? runBounds(day) : [day * DAY_MS, (day + 1) * DAY_MS];
    try {
      const calls = TABLES[group].map((table) => call(ensurePartition, table, day, from, to));
      await this.#database.write([...partitionLock(), ...calls]);
    } catch (error) {
      // Locked for long, or rows of that day are in `default` already: there they stay, and everything goes on.
      this.#database.options.log('warn', 'a partition could not be made', { group, day, error: String(error) });
    }
  }
}
