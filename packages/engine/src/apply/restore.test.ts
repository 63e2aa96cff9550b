import { describe, expect, test } from 'vitest';
import type { DagSpec } from '../model/dag/spec.ts';
import type { DagId, RunId, ShardNo } from '../model/ids.ts';
import { shardOfRun } from '../model/ids.ts';
import { describeShard } from '../tables/describe.ts';
import { type Scenario, scenario, TENANT } from '../testing/scenario.ts';
import { every, job } from '../testing/specs.ts';
import { adoptShards, dropShards } from './restore.ts';

const [KEPT, LEAVING] = [7 as ShardNo, 8 as ShardNo];

/** A node with two shards, and a dag in each. */
function twoShards(spec: DagSpec): Scenario & { readonly other: DagId } {
  const box = scenario({ dag: spec, shards: [KEPT, LEAVING], runs: 0, audit: false });
  const { actor } = box;
  const named = { tenantId: TENANT, tenant: 'acme', name: 'other', hash: 'x' };
  const answer = box.feed({ kind: 'DeployDag', shard: LEAVING, spec, actor, ...named });
  if (!answer.ok || answer.kind !== 'deployed') throw new Error('refused');
  return Object.assign(box, { other: answer.dagId });
}

function submitTo(box: ReturnType<typeof twoShards>, shard: ShardNo): RunId {
  box.submit({ shard, dagId: shard === KEPT ? box.dagId : box.other });
  return box.lastRun();
}

function takeBack(box: Scenario): void {
  const heads = box.node.store.take([LEAVING], box.node.passedMs);
  adoptShards(box.state, heads, { wall: box.node.wall, mono: box.node.mono });
  box.node.work();
}

describe('a shard that leaves takes everything of its own along, and nothing else', () => {
  test('its runs, dags and schedules are gone; the others go on', () => {
    const box = twoShards(job({ schedule: every('0 0 * * *') }));
    const [kept, left] = [submitTo(box, KEPT), submitTo(box, LEAVING)];
    expect([shardOfRun(kept), shardOfRun(left)]).toEqual([KEPT, LEAVING]);
    const before = describeShard(box.state, KEPT);
    dropShards(box.state, [LEAVING]);
    expect(describeShard(box.state, KEPT)).toEqual(before);
    const nothing = {
      breakers: [],
      backfills: [],
      held: [],
      rows: {},
      counts: [],
      runKeys: [],
      schedules: [],
      runs: [],
    };
    expect(describeShard(box.state, LEAVING)).toEqual({ ...nothing, lastRunId: undefined });
    expect(box.cancel(left)).toMatchObject({ ok: false, code: 'NOT_OWNER' });
    expect(box.claim('job').claim.runId).toBe(kept);
    expect(box.tryClaim()).toBeNull();
  });

  test('attempts that run in both: only those that left are let go, without being ended', () => {
    const box = twoShards(job());
    const [kept, left] = [submitTo(box, KEPT), submitTo(box, LEAVING)];
    const attempts = [box.claim('job'), box.claim('job')];
    dropShards(box.state, [LEAVING]);
    box.heartbeat();
    expect(box.task('job', kept).state).toBe('running');
    expect(attempts[0]!.worker.killed).toEqual([]);
    takeBack(box);
    expect(box.task('job', left).state).toBe('running');
    box.heartbeat();
    expect(box.report(attempts[1]!, 'succeeded')).toMatchObject({ ok: true });
    expect(box.run(left)).toMatchObject({ phase: 'ended' });
  });

  test('what a kept shard had still to do is done: adopted, and before its first step another leaves', () => {
    const box = twoShards(job({ maxActiveRuns: 1 }));
    const ids = [submitTo(box, KEPT), submitTo(box, KEPT), submitTo(box, LEAVING)];
    box.hold().cancel(ids[0]);
    // Only the cancel is in the database, not the end that followed in the same step.
    box.node.store.commit(
      [{ kind: 'RunClosing', runId: ids[0]!, outcome: 'cancelled', actor: box.actor, at: box.node.wall }],
      0,
    );
    box.node.kill();
    const state = box.node.restored();
    dropShards(state, [LEAVING]);
    box.node.state = state;
    box.node.work();
    expect(box.run(ids[0])).toMatchObject({ phase: 'ended', outcome: 'cancelled' });
    expect(box.run(ids[1]).admitted).toBe(true);
  });

  test('limits are counted anew when it comes back (I7, I44)', () => {
    const box = twoShards(job({ maxActiveRuns: 1, maxActiveTasks: 1 }));
    submitTo(box, LEAVING);
    const attempt = box.claim('job');
    for (let i = 0; i < 3; i++) {
      dropShards(box.state, [LEAVING]);
      takeBack(box);
    }
    const waiting = submitTo(box, LEAVING);
    expect(box.run(waiting).admitted).toBe(false);
    expect(box.heartbeat().tryClaim()).toBeNull();
    box.report(attempt, 'succeeded');
    expect(box.claim('job').claim.runId).toBe(waiting);
    expect(box.state.dags.get(box.other)).toMatchObject({ activeRuns: 1, runningTasks: 1, liveRuns: 1 });
  });

  test('a worker that was silent for longer in the shard that comes is given up by that, in both (I25)', () => {
    const box = twoShards(job());
    submitTo(box, KEPT);
    submitTo(box, LEAVING);
    for (const job of ['job', 'job']) box.claim(job);
    box.killOwner();
    dropShards(box.state, [LEAVING]);
    box.advance('1s');
    const heads = box.node.store.take([LEAVING], box.node.passedMs);
    const silentSince = (silentMs: number) =>
      heads.shards.map((shard) => ({
        ...shard,
        silentWorkers: shard.silentWorkers.map((silent) => ({ ...silent, silentMs })),
      }));
    adoptShards(box.state, { ...heads, shards: silentSince(14_000) }, { wall: box.node.wall, mono: box.node.mono });
    box.node.work();
    box.advance('3s');
    expect(box.changes('AttemptEnded')).toMatchObject([{ outcome: 'lost' }, { outcome: 'lost' }]);
  });

  test('a count of admitted runs that nobody asked for does not outlive its shard (I7)', () => {
    const box = twoShards(job({ maxActiveRuns: 1 }));
    const run = submitTo(box, LEAVING);
    const counts = { ...box.node.store.heads([LEAVING], 0), runs: [], dags: [], versions: [] };
    dropShards(box.state, [LEAVING]);
    adoptShards(box.state, counts, { wall: box.node.wall, mono: box.node.mono });
    expect(box.state.admittedOf.size).toBe(1);
    dropShards(box.state, [LEAVING]);
    expect(box.state.admittedOf.size).toBe(0);
    takeBack(box);
    expect(box.run(run).admitted).toBe(true);
  });
});

test('a run that a command needs is there before the rest is loaded, with its dag and the count of active runs (I7)', () => {
  const box = scenario({ dag: job(), runs: 2, audit: false });
  const [first, second] = box.runIds;
  const heads = box.node.store.heads([box.shard], 0);
  box.node.state = box.node.restored();
  dropShards(box.state, [box.shard]);
  adoptShards(box.state, { ...heads, runs: [], dags: [], versions: [] }, { wall: box.node.wall, mono: box.node.mono });
  expect(box.cancel(first)).toMatchObject({ ok: true, kind: 'cancelled' });
  expect(box.state.runs.find(second!)).toBe(-1);
  expect(box.state.dags.get(box.dagId)).toMatchObject({ activeRuns: 1, liveRuns: 0 });
});
