/**
 * Removes what is older than it must be kept, in bounded steps (I62). A day of runs is dropped as a whole when all its runs
 * ended long enough ago and no idempotency key refers to them. Keys are removed first, when their runs are old enough. A day
 * that something still needs is cleaned run by run instead, and so is `default`. Each call does a bounded amount of work and
 * says whether there is more.
 */
import { firstRunIdAt, type Instant, type RunId, type ShardNo } from '@signalbox/engine';
import { type Database, holdToIndexes } from './database.ts';
import { dayOf, type Leaf, runBounds } from './leaf.ts';
import { type Partitions, partitionLock } from './partitions.ts';
import { call, leafStatement, statement } from './statement.ts';

export interface Expiry {
  readonly now: Instant;
  /** Runs that ended before it, and windows before it, go. */
  readonly olderThan: Instant;
  readonly journalOlderThan: Instant;
  /** Idempotency keys stored before it go, if their runs are past their age too. Without it: with the runs. */
  readonly keysOlderThan?: Instant;
  /** How many steps of at most a thousand rows each a call may take. */
  readonly maxSteps?: number;
}

export interface Dropped {
  readonly partitions: number;
  readonly runs: number;
  readonly keys: number;
  /** False when the call ran out of steps: call again. */
  readonly complete: boolean;
}

const DEFAULT_MAX_STEPS = 200;
const ROWS_PER_STEP = 1_000;
/** Looking through a day of ten million runs once takes seconds. */
const DROP_TIMEOUT_MS = 120_000;

/**
 * One step through the keys in order of their runs. A key goes only with its run: one whose run is open, ended too lately or
 * is kept for a dead letter stays, however old it is, or the same key would make a second run (I11). Answers with how many
 * keys it looked at, how many it removed, and where it stopped. Leans on the index (run_id) of keys and dead letters,
 * and on the primary key (shard, run_id) of the one partition of `run` that the id belongs to.
 */
const deleteKeys = statement(
  'delete_expired_keys',
  `
  with looked as materialized (
    select ctid as place, run_id, at from idempotency_key
     where run_id >= $1::bigint and run_id < $2::bigint order by run_id limit ${ROWS_PER_STEP}),
  expired as materialized (
    select place from looked l
     where l.at < $3::bigint
       and not exists (select from run r
             where r.shard = ((l.run_id >> 16) & 63)::smallint and r.run_id = l.run_id
               and (r.phase <> 2 or r.ended_at >= $4::bigint))
       and not exists (select from dead_letter d where d.run_id = l.run_id and d.state = 0)),
  gone as (delete from idempotency_key where ctid = any (array (select place from expired)) returning 1)
  select count(*), (select count(*) from gone), max(run_id) from looked`,
);

const dropRunDay = statement('drop_run_day', 'select drop_run_day($1::integer, $2::bigint, $3::bigint, $4::bigint)');
const dropLeaf = (table: string) => leafStatement(`drop_${table}`, (leaf) => `drop table if exists ${table}_${leaf}`);
const dropJournal = [dropLeaf('journal'), dropLeaf('journal_member')];
const dropWindows = [dropLeaf('window_decision')];

/**
 * One step through a partition in the order of its primary key (shard, run_id). Answers with where it stopped, how many rows
 * it looked at and how many runs it removed, with all that belongs to them.
 */
const sweepRuns = leafStatement(
  'sweep_runs',
  (leaf) => `
  with looked as materialized (
    select shard, run_id, phase = 2 and ended_at < $4::bigint as expired from run_${leaf}
     where (shard, run_id) > ($1::smallint, $2::bigint) and run_id < $3::bigint
     order by shard, run_id limit ${ROWS_PER_STEP}),
  expired as materialized (
    select shard, run_id from looked l
     where expired and not exists (select from idempotency_key k where k.run_id = l.run_id)
       and not exists (select from dead_letter d where d.run_id = l.run_id and d.state = 0)),
  payloads as (delete from payload_${leaf} p using expired e where p.shard = e.shard and p.run_id = e.run_id),
  attempts as (delete from attempt_${leaf} a using expired e where a.shard = e.shard and a.run_id = e.run_id),
  maps as (delete from map_expansion_${leaf} m using expired e where m.shard = e.shard and m.run_id = e.run_id),
  usage as (delete from attempt_usage_${leaf} u using expired e where u.shard = e.shard and u.run_id = e.run_id),
  tasks as (delete from task_${leaf} t using expired e where t.shard = e.shard and t.run_id = e.run_id),
  runs as (delete from run_${leaf} r using expired e where r.shard = e.shard and r.run_id = e.run_id returning 1)
  select count(*), (select count(*) from runs),
      (select shard from looked order by shard desc, run_id desc limit 1),
      (select run_id from looked order by shard desc, run_id desc limit 1)
    from looked`,
);

const sweepDefault = (table: string, column: string) =>
  statement(
    `sweep_${table}_default`,
    `
  with gone as (
    delete from ${table}_default where ctid = any (array (
      select ctid from ${table}_default where ${column} < $1::bigint limit ${ROWS_PER_STEP}))
    returning 1)
  select count(*) from gone`,
  );
const sweepJournal = sweepDefault('journal', 'at');
const sweepMembers = sweepDefault('journal_member', 'at');
const sweepWindows = sweepDefault('window_decision', 'fires_at');

/** A worker that was silent for a day will not be waited for any more: its attempts were given up within seconds. */
const forgetSilent = statement(
  'forget_silent_workers',
  `delete from silent_worker where since < clock_timestamp() - interval '1 day'`,
);

export async function dropExpired(database: Database, partitions: Partitions, expiry: Expiry): Promise<Dropped> {
  const round = new Round(database, partitions, expiry);
  await partitions.ensureAhead(expiry.now);
  await database.one(call(forgetSilent));
  await round.dropKeys();
  await round.dropTimes();
  await round.dropRuns();
  await partitions.refresh();
  return round.dropped;
}

class Round {
  readonly #database: Database;
  readonly #partitions: Partitions;
  readonly #expiry: Expiry;
  #stepsLeft: number;
  #counts = { partitions: 0, runs: 0, keys: 0 };

  constructor(database: Database, partitions: Partitions, expiry: Expiry) {
    this.#database = database;
    this.#partitions = partitions;
    this.#expiry = expiry;
    this.#stepsLeft = expiry.maxSteps ?? DEFAULT_MAX_STEPS;
  }

  get dropped(): Dropped {
    return { ...this.#counts, complete: this.#stepsLeft > 0 };
  }

  async dropKeys(): Promise<void> {
    const { olderThan, keysOlderThan = olderThan } = this.#expiry;
    const before = firstRunIdAt(keysOlderThan);
    let from = 0;
    while (this.#stepsLeft-- > 0) {
      const step = call(deleteKeys, from, before, keysOlderThan, olderThan);
      const [, swept] = await this.#database.write([holdToIndexes, step]);
      const [looked = 0, removed = 0, last = 0] = (swept?.rows[0] ?? []).map(Number);
      this.#counts.keys += removed;
      if (looked < ROWS_PER_STEP) return;
      // A run with more keys than a step takes: those that are left wait for the next round.
      from = last === from && removed === 0 ? last + 1 : last;
    }
  }

  async dropTimes(): Promise<void> {
    const { journalOlderThan, olderThan } = this.#expiry;
    const { journal, window } = this.#partitions.days;
    for (const day of daysBefore(journal, journalOlderThan)) await this.#dropLeaves(dropJournal, `d${day}`);
    for (const day of daysBefore(window, olderThan)) await this.#dropLeaves(dropWindows, `d${day}`);
    await this.#repeat(call(sweepJournal, journalOlderThan));
    await this.#repeat(call(sweepMembers, journalOlderThan));
    await this.#repeat(call(sweepWindows, olderThan));
  }

  async dropRuns(): Promise<void> {
    const { olderThan } = this.#expiry;
    for (const day of daysBefore(this.#partitions.days.run, olderThan)) {
      if (this.#stepsLeft <= 0) return;
      if (await this.#dropRunDay(day)) this.#counts.partitions += 1;
      else await this.#sweep(`d${day}`);
    }
    await this.#sweep('default');
  }

  async #dropRunDay(day: number): Promise<boolean> {
    this.#stepsLeft -= 1;
    const [from, to] = runBounds(day);
    const drop = call(dropRunDay, day, from, to, this.#expiry.olderThan);
    const [result] = (await this.#tryWrite([drop])) ?? [];
    return result?.rows[0]?.[0] === 't';
  }

  async #dropLeaves(drops: readonly ReturnType<typeof dropLeaf>[], leaf: Leaf): Promise<void> {
    if (this.#stepsLeft-- <= 0) return;
    if ((await this.#tryWrite(drops.map((drop) => call(drop(leaf))))) !== null) this.#counts.partitions += 1;
  }

  /** A lock that is not to be had soon is left for the next call: commits would queue behind the wish for it. */
  async #tryWrite(calls: Parameters<Database['write']>[0]) {
    try {
      return (await this.#database.write([...partitionLock(), ...calls], DROP_TIMEOUT_MS)).slice(-calls.length);
    } catch (error) {
      this.#database.options.log('warn', 'a partition could not be dropped', { error: String(error) });
      return null;
    }
  }

  /** Once through the whole partition. */
  async #sweep(leaf: Leaf): Promise<void> {
    let [shard, runId] = [-1 as ShardNo, -1 as RunId];
    while (this.#stepsLeft-- > 0) {
      const before = firstRunIdAt(this.#expiry.olderThan);
      const sweep = call(sweepRuns(leaf), shard, runId, before, this.#expiry.olderThan);
      const [, swept] = await this.#database.write([holdToIndexes, sweep]);
      const [looked, removed, lastShard, lastRunId] = (swept?.rows[0] ?? []).map(Number);
      this.#counts.runs += removed ?? 0;
      if ((looked ?? 0) < ROWS_PER_STEP) return;
      [shard, runId] = [lastShard as ShardNo, lastRunId as RunId];
    }
  }

  async #repeat(deletion: ReturnType<typeof call>): Promise<number> {
    let total = 0;
    while (this.#stepsLeft-- > 0) {
      const count = Number((await this.#database.one(deletion)).rows[0]?.[0]);
      total += count;
      if (count < ROWS_PER_STEP) break;
    }
    return total;
  }
}

/** Days that lie wholly before the instant, oldest first. */
function daysBefore(days: ReadonlySet<number>, before: Instant): number[] {
  return [...days].filter((day) => day < dayOf(before)).sort((a, b) => a - b);
}
