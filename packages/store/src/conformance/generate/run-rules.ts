/** Runs as a whole: made, admitted, closed, ended. */
import {
  type AttemptNo,
  type DagDeployed,
  type Fence,
  type Instant,
  makeRunUid,
  type ParentRef,
  type RunId,
  type ShardNo,
  shardOfRun,
  type TaskNo,
} from '@signalbox/engine';
import { keyOf, newUid } from '../changes.ts';
import { endAttempt } from './attempt-rules.ts';
import type { ChangeNamed, Given } from './draw-change.ts';
import type { Rules } from './rule.ts';
import type { World } from './world.ts';

export const runRules = {
  RunCreated: {
    weight: 20,
    given(world) {
      const { chance } = world;
      const dag = world.dag();
      const given = runOf(world, dag, { firesAt: null });
      if (chance.is(0.2)) return { ...given, cause: 'parent', parent: parentOf(world, given.runId) };
      return { ...given, cause: chance.one(['api', 'event'] as const) };
    },
    then(world, run) {
      if (world.chance.is(0.6)) return;
      const { kind: _kind, ...key } = keyOf(run, shardOfRun(run.runId), `key ${run.runId}`);
      world.emit('KeyStored', key);
    },
  },
  KeyStored: { weight: 0, given: () => null },
  RunAdmitted: {
    weight: 2,
    given(world) {
      const run = world.run(({ phase, admitted }) => phase !== 'ended' && !admitted);
      return run === null ? null : { runId: run.runId };
    },
  },
  RunYielded: {
    given(world) {
      const run = world.run(({ phase, admitted }) => phase === 'open' && admitted);
      return run === null ? null : { runId: run.runId };
    },
  },
  RunStruck: {
    given(world) {
      const run = world.run(({ phase, admitted, strikes }) => phase !== 'ended' && admitted && strikes < 2);
      return run === null ? null : { runId: run.runId, strikes: run.strikes + 1, setAside: run.strikes === 1 };
    },
  },
  RunClosing: {
    weight: 3,
    given(world) {
      const run = world.openRun();
      return run === null ? null : { runId: run.runId };
    },
  },
  RunForced: {
    given(world) {
      const run = world.run(({ phase, isForced }) => phase === 'closing' && !isForced);
      return run === null ? null : { runId: run.runId };
    },
  },
  RunEnded: {
    weight: 3,
    given(world) {
      const run = world.run(({ phase }) => phase === 'closing');
      if (run === null) return null;
      for (const task of run.tasks) if (task.state === 'running') endAttempt(world, run, task, 'cancelled');
      return run.outcome === null ? null : { runId: run.runId, outcome: run.outcome };
    },
    then(world, { runId, outcome, at }) {
      if (world.chance.is(0.7)) return;
      const { uid, tenantId, dagId } = world.model.run(runId);
      world.emit('CallbackDue', { runId, uid, tenantId, dagId, outcome, at });
    },
  },
  CallbackDue: { weight: 0, given: () => null },
} satisfies Rules;

type Window = Pick<Given<'RunCreated'>, 'firesAt' | 'cause' | 'backfill' | 'scheduleNo'>;

/** A run that a window or a caller makes. */
export function emitRun(world: World, dag: DagDeployed, given: Window): ChangeNamed<'RunCreated'> {
  return world.emit('RunCreated', runOf(world, dag, given));
}

function runOf(world: World, { shard, tenantId, dagId, versionNo }: DagDeployed, given: Window) {
  const runId = world.newRunId(shard);
  const { firesAt = null } = given;
  const windowStart = firesAt === null ? undefined : ((firesAt - 1_000) as Instant);
  const absent = { parent: undefined, backfill: undefined };
  return { runId, uid: newUid(shard), tenantId, dagId, versionNo, ...absent, windowStart, ...given };
}

/** A call of a task of some run, which need not be of these shards. */
function parentOf({ chance }: World, of: RunId): ParentRef {
  const no = chance.below(1_000);
  const claim = { runId: (of - no) as RunId, taskNo: no as TaskNo, attemptNo: 1 as AttemptNo, fence: 2 as Fence };
  const uid = makeRunUid(5 as ShardNo, chance.tick(), no, no);
  return { ...claim, uid, task: `"${no}"`, depth: 1 + (no % 16), waits: no % 2 === 0 };
}
