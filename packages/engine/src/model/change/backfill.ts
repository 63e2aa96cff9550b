/** The life of a backfill. Its runs are created by `RunCreated`, in the same commit as the move of its cursor. */
import type { BackfillSpec, BackfillState } from '../backfill.ts';
import type { Actor, BackfillUid, DagId, ShardNo, TenantId } from '../ids.ts';
import { c } from '../table/column.ts';
import { defineTable, type RowOf } from '../table/define-table.ts';
import { type ChangeOf, defineChange, notTold } from './define.ts';
import { f } from './fields.ts';
import { WORDS } from './words.ts';

const LIVE: readonly BackfillState[] = ['running', 'paused'];

export const backfills = defineTable('backfill', {
  key: { shard: c.shard, uid: c.uuid<BackfillUid>() },
  columns: {
    tenantId: c.int32<TenantId>(),
    dagId: c.int64<DagId>(),
    spec: c.json<BackfillSpec>(),
    windowCount: c.shown(c.int32()),
    actor: c.text<Actor>(),
    startedAt: c.shown(c.instant),
    state: c.word(WORDS.backfillStates),
    /** The last window that was decided; null before the first. */
    cursorAt: c.nullable(c.instant),
    /** All windows of the range are decided. */
    isDone: c.flag,
    createdCount: c.int32(),
    skippedCount: c.int32(),
    stateAt: c.nullable(c.shown(c.instant)),
    stateActor: c.nullable(c.shown(c.text())),
    reason: c.nullable(c.shown(c.text())),
    /** Runs of it that have not ended. */
    liveRuns: c.counted,
  },
  load: 'heads',
  loaded: { column: 'state', words: LIVE },
  isFetched: true,
});

const backfillStarted = defineChange('BackfillStarted', {
  no: 45,
  since: 5,
  fields: {
    shard: f.uint<ShardNo>(),
    uid: f.uuid<BackfillUid>(),
    tenantId: f.uint<TenantId>(),
    dagId: f.uint<DagId>(),
    spec: f.json<BackfillSpec>(),
    /** How many windows the range has, for people. */
    windowCount: f.uint(),
    actor: f.text<Actor>(),
    at: f.instant,
  },
  tables({ shard, uid, tenantId, dagId, spec, windowCount, actor, at }, tables) {
    const asked = { shard, uid, tenantId, dagId, spec, windowCount, actor, startedAt: at };
    const fresh = { state: 'running', cursorAt: null, isDone: false, createdCount: 0, skippedCount: 0 } as const;
    tables.insert(backfills, { ...asked, ...fresh, stateAt: null, stateActor: null, reason: null });
  },
  event({ uid: backfill, spec: { fromAt, toAt, which, order }, windowCount, actor }, show) {
    const details = { backfill, from: show(fromAt), to: show(toAt), which, order, windows: windowCount, actor };
    return { kind: 'backfill.started', details };
  },
});

/** Windows up to the cursor are decided: each has got a run in this commit, or needs none. */
const backfillMoved = defineChange('BackfillMoved', {
  no: 46,
  since: 5,
  fields: {
    shard: f.uint<ShardNo>(),
    uid: f.uuid<BackfillUid>(),
    dagId: f.uint<DagId>(),
    /** Null when the range has no window at all. */
    cursorAt: f.nullable(f.instant),
    /** Since it started. */
    createdCount: f.uint(),
    skippedCount: f.uint(),
    /** Nothing of the range is left. */
    isDone: f.flag,
    at: f.instant,
  },
  tables: ({ shard, uid, cursorAt, createdCount, skippedCount, isDone }, tables) =>
    tables.patch(backfills, { shard, uid }, { cursorAt, createdCount, skippedCount, isDone }),
  // The runs tell.
  event: notTold,
});

/** Paused, resumed, cancelled, given up, or at its end. */
const backfillSet = defineChange('BackfillSet', {
  no: 47,
  since: 5,
  fields: {
    shard: f.uint<ShardNo>(),
    uid: f.uuid<BackfillUid>(),
    dagId: f.uint<DagId>(),
    state: f.word(WORDS.backfillStates),
    /** Why the server gave it up. */
    reason: f.nullable(f.text()),
    actor: f.text<Actor>(),
    at: f.instant,
  },
  tables: ({ shard, uid, state, reason, actor, at }, tables) =>
    tables.patch(backfills, { shard, uid }, { state, reason, stateActor: actor, stateAt: at }),
  event: ({ uid: backfill, state, reason, actor }) => ({
    kind: 'backfill.set',
    details: { backfill, state, reason, actor },
  }),
});

export type StoredBackfill = RowOf<typeof backfills>;

export interface BackfillStarted extends ChangeOf<typeof backfillStarted> {}
export interface BackfillMoved extends ChangeOf<typeof backfillMoved> {}
export interface BackfillSet extends ChangeOf<typeof backfillSet> {}
export type BackfillChange = BackfillStarted | BackfillMoved | BackfillSet;

export const backfillChanges = [backfillStarted, backfillMoved, backfillSet] as const;
export const backfillTables = { backfills } as const;
