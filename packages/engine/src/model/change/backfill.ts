/** The life of a backfill. Its runs are created by `RunCreated`, in the same commit as the move of its cursor. */
import type { BackfillSpec } from '../backfill.ts';
import type { Actor, BackfillUid, DagId, ShardNo, TenantId } from '../ids.ts';
import { type ChangeOf, defineChange, notTold } from './define.ts';
import { f } from './fields.ts';
import { WORDS } from './words.ts';

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
  rows(change, rows: BackfillRows) {
    backfillOf(rows, change).started = change;
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
  rows(change, rows: BackfillRows) {
    backfillOf(rows, change).moved = change;
  },
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
  rows(change, rows: BackfillRows) {
    backfillOf(rows, change).set = change;
  },
  event: ({ uid: backfill, state, reason, actor }) => ({
    kind: 'backfill.set',
    details: { backfill, state, reason, actor },
  }),
});

/** The changes of one backfill in a batch, folded. */
export interface BackfillFold {
  readonly shard: ShardNo;
  readonly uid: BackfillUid;
  started: BackfillStarted | null;
  moved: BackfillMoved | null;
  set: BackfillSet | null;
}

export interface BackfillRows {
  readonly backfills: Map<BackfillUid, BackfillFold>;
}

function backfillOf({ backfills }: BackfillRows, { shard, uid }: Pick<BackfillFold, 'shard' | 'uid'>): BackfillFold {
  let backfill = backfills.get(uid);
  if (backfill === undefined) {
    backfill = { shard, uid, started: null, moved: null, set: null };
    backfills.set(uid, backfill);
  }
  return backfill;
}

export interface BackfillStarted extends ChangeOf<typeof backfillStarted> {}
export interface BackfillMoved extends ChangeOf<typeof backfillMoved> {}
export interface BackfillSet extends ChangeOf<typeof backfillSet> {}
export type BackfillChange = BackfillStarted | BackfillMoved | BackfillSet;

export const backfillChanges = [backfillStarted, backfillMoved, backfillSet] as const;
