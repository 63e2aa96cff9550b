/** What a shard stores besides dags and runs: idempotency keys, breakers, silent workers. */
import type { Actor, DagId, RunId, RunUid, ShardNo, TenantId, WorkerId } from '../ids.ts';
import { c } from '../table/column.ts';
import { defineTable, type RowOf } from '../table/define-table.ts';
import { type Fingerprint, fingerprintText } from '../task/fingerprint.ts';
import { type ChangeOf, defineChange, notTold } from './define.ts';
import { f } from './fields.ts';
import { WORDS, type WordOf } from './words.ts';

export const keys = defineTable('idempotency_key', {
  key: {
    shard: c.shard,
    tenantId: c.int32<TenantId>(),
    operation: c.text(),
    target: c.int64(),
    key: c.text(),
  },
  columns: { bodyHash: c.text(), runId: c.int64<RunId>(), uid: c.uuid<RunUid>(), at: c.shown(c.instant) },
  load: 'fetch',
  isAppendOnly: true,
});

/** One idempotency key, one outcome (I11). `target` is the dag for submissions. */
const keyStored = defineChange('KeyStored', {
  no: 6,
  fields: {
    shard: f.uint<ShardNo>(),
    tenantId: f.uint<TenantId>(),
    operation: f.text(),
    target: f.uint(),
    key: f.text(),
    bodyHash: f.text(),
    runId: f.run,
    uid: f.uuid<RunUid>(),
    at: f.instant,
  },
  tables: (change, tables) => tables.insert(keys, change),
  event: notTold,
});

/** Breakers that are not closed. */
export const breakers = defineTable('breaker', {
  key: { shard: c.shard, dagId: c.int64<DagId>(), fingerprint: c.zeroForNull(c.int64<Fingerprint>()) },
  columns: {
    tenantId: c.int32<TenantId>(),
    state: c.word<WordOf<'breakerStates'>, 'open' | 'ramping'>(WORDS.breakerStates),
    pauseMs: c.int64(),
    openedAt: c.instant,
    since: c.instant,
    error: c.keepIfNull(c.shown(c.text())),
  },
  load: 'heads',
});

/**
 * A breaker opened, was tried, let go or closed. `fingerprint` null is the dag's own breaker, which holds its new tasks; that
 * of an error holds retries of tasks that failed with it.
 */
const breakerSet = defineChange('BreakerSet', {
  no: 27,
  fields: {
    shard: f.uint<ShardNo>(),
    tenantId: f.uint<TenantId>(),
    dagId: f.uint<DagId>(),
    fingerprint: f.uintOrNull<Fingerprint>(),
    /** `open`: only single probes go. `ramping`: what it held is let go, more each second. */
    state: f.word(WORDS.breakerStates),
    /** From one probe to the next. */
    pauseMs: f.uint(),
    /** Since when it has held anything back. */
    openedAt: f.instant,
    /** The error that opened it, for people. */
    error: f.trace,
    actor: f.text<Actor>(),
    at: f.instant,
  },
  tables({ shard, dagId, fingerprint, tenantId, state, pauseMs, openedAt, error, at: since }, tables) {
    const key = { shard, dagId, fingerprint };
    if (state === 'closed') tables.remove(breakers, key);
    else tables.put(breakers, { ...key, tenantId, state, pauseMs, openedAt, since, error });
  },
  event({ state, pauseMs, openedAt, actor, ...change }, show) {
    const fingerprint = change.fingerprint === null ? null : fingerprintText(change.fingerprint);
    return { kind: 'breaker.set', details: { state, fingerprint, pauseMs, openedAt: show(openedAt), actor } };
  },
});

/** At takeover this worker was silent; stored once, so that handovers do not give it more time (D5, I25). */
const workerSilenced = defineChange('WorkerSilenced', {
  no: 13,
  fields: { shard: f.uint<ShardNo>(), workerId: f.text<WorkerId>() },
  rows(change, rows: ShardRows) {
    silenceOf(rows, change).silent = true;
  },
  event: notTold,
});

const workerHeardAgain = defineChange('WorkerHeardAgain', {
  no: 14,
  fields: { shard: f.uint<ShardNo>(), workerId: f.text<WorkerId>() },
  rows(change, rows: ShardRows) {
    Object.assign(silenceOf(rows, change), { heard: true, silent: false });
  },
  event: notTold,
});

/** The changes about the silence of one worker in a batch, folded. */
export interface SilenceFold {
  readonly shard: ShardNo;
  readonly workerId: WorkerId;
  /** The worker was heard in this batch: an older row goes. */
  heard: boolean;
  /** The worker is silent at the end of the batch. */
  silent: boolean;
}

export interface ShardRows {
  readonly silence: Map<string, SilenceFold>;
}

function silenceOf(
  { silence }: ShardRows,
  { shard, workerId }: Pick<WorkerSilenced, 'shard' | 'workerId'>,
): SilenceFold {
  const key = `${shard}/${workerId}`;
  let fold = silence.get(key);
  if (fold === undefined) {
    fold = { shard, workerId, heard: false, silent: false };
    silence.set(key, fold);
  }
  return fold;
}

export type StoredKey = RowOf<typeof keys>;
export type StoredBreaker = RowOf<typeof breakers>;

export interface KeyStored extends ChangeOf<typeof keyStored> {}
export interface BreakerSet extends ChangeOf<typeof breakerSet> {}
export interface WorkerSilenced extends ChangeOf<typeof workerSilenced> {}
export interface WorkerHeardAgain extends ChangeOf<typeof workerHeardAgain> {}
export type ShardChange = KeyStored | BreakerSet | WorkerSilenced | WorkerHeardAgain;

export const shardChanges = [keyStored, breakerSet, workerSilenced, workerHeardAgain] as const;
export const shardTables = { keys, breakers } as const;
