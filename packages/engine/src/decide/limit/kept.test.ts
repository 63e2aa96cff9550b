import { describe, expect, test } from 'vitest';
import type { Priority } from '../../model/dag/spec.ts';
import type { DagId, QueueName, ShardNo, TenantId } from '../../model/ids.ts';
import { homeOf, isAmongOthers, keepOf, keptLimit, type LimitName } from '../../model/limit.ts';
import { blockersOf } from '../../tables/queue/blockers.ts';
import { queueLoads } from '../../tables/queue/queue-loads.ts';
import { type Attempt, reportOf, type Scenario, scenario, TENANT } from '../../testing/scenario.ts';
import { SlotLines } from '../../testing/slot-lines.ts';
import { dag, task } from '../../testing/specs.ts';

const SHARDS = [3, 4] as ShardNo[];
/** Its number says its shard. */
const FIRST_DAG = 67 as DagId;
const queues = ['default'] as QueueName[];

/** Two dags on two shards, a worker with four slots, and the home of what is left when some are kept for the first dag. */
function setUp() {
  const limit = keptLimit({ tenantId: TENANT, dagId: FIRST_DAG, queues });
  const box = scenario({ shards: [...new Set([...SHARDS, homeOf(limit)])], workers: { w1: ['default'] } });
  const lines = new SlotLines(box);
  const dags = SHARDS.map((shard) => deploy(box, shard));
  expect(dags[0]).toBe(FIRST_DAG);
  box.lend(box.worker(), 4, true);
  let no = 0;
  /** What the host does: so many are left to the others; null: nothing is kept any more. */
  const leave = (slots: number | null) => {
    const isNew = (box.state.limits.homes.get(limit)?.slots ?? null) === null;
    box.feed({ kind: 'SetLimit', shard: homeOf(limit), tenantId: TENANT, limit, slots, actor: box.actor });
    if (isNew || slots === null) no = box.state.limits.homes.get(limit)!.no;
    box.feed({ kind: 'SetLimits', limits: [{ limit, no, isLimited: slots !== null }] });
    lines.deliver();
  };
  const submit = (at: number, priority: Priority | null = null) => {
    box.feed(box.submission({ shard: SHARDS[at]!, dagId: dags[at]!, items: [{ params: null, priority }] }));
    lines.deliver();
  };
  const end = (attempt: Attempt) => {
    box.feed(reportOf(attempt, 'succeeded'));
    box.lend(attempt.worker, 1, true);
    lines.deliver();
  };
  const running = (at: number) => open(box).filter(({ claim }) => shardOf(claim) === SHARDS[at]!);
  return { box, dags, limit, leave, submit, end, running };
}

const shardOf = ({ runId }: Attempt['claim']) => Math.floor(runId / 2 ** 16) & 63;

function deploy(box: Scenario, shard: ShardNo): DagId {
  const name = `dag-${shard}`;
  const what = { shard, tenantId: TENANT, tenant: 'acme', name, spec: dag([task('work')]), hash: name };
  const answer = box.feed({ kind: 'DeployDag', ...what, actor: box.actor });
  if (!answer.ok || answer.kind !== 'deployed') throw new Error('The dag was refused.');
  return answer.dagId;
}

function open(box: Scenario): Attempt[] {
  const ended = new Set(box.changes('AttemptEnded').map(({ runId, fence }) => `${runId}/${fence}`));
  return box.effects.flatMap((effect) =>
    effect.kind === 'SendAssignment' && !ended.has(`${effect.claim.runId}/${effect.claim.fence}`)
      ? [box.attemptOf(effect)]
      : [],
  );
}

describe('slots that are kept for a dag', () => {
  test('stay free while others wait, and the dag has them at once (I44)', () => {
    const { leave, submit, running } = setUp();
    leave(1);
    for (let i = 0; i < 4; i++) submit(1);
    expect(running(1)).toHaveLength(1);
    for (let i = 0; i < 3; i++) submit(0);
    expect(running(0)).toHaveLength(3);
  });

  test('stop nothing that runs: they are kept as it ends', () => {
    const { leave, submit, running, end } = setUp();
    for (let i = 0; i < 6; i++) submit(1);
    expect(running(1)).toHaveLength(4);
    leave(1);
    expect(running(1)).toHaveLength(4);
    for (let i = 0; i < 3; i++) end(running(1)[0]!);
    expect(running(1)).toHaveLength(1);
    submit(0);
    expect(running(0)).toHaveLength(1);
  });

  test('are free for all when it is over, and kept again from then on', () => {
    const { leave, submit, running, end } = setUp();
    leave(1);
    for (let i = 0; i < 8; i++) submit(1);
    leave(null);
    expect(running(1)).toHaveLength(4);
    leave(2);
    end(running(1)[0]!);
    end(running(1)[0]!);
    expect(running(1)).toHaveLength(2);
    end(running(1)[0]!);
    expect(running(1)).toHaveLength(2);
  });

  test('are taken by critical tasks, which count among the others', () => {
    const { leave, submit, running, end } = setUp();
    leave(1);
    submit(1, 'critical');
    submit(1, 'critical');
    submit(1, 'high');
    expect(running(1)).toHaveLength(2);
    end(running(1)[0]!);
    expect(running(1)).toHaveLength(1);
    end(running(1)[0]!);
    expect(running(1)).toHaveLength(1);
  });

  test('are why a task waits, and another worker would start it', () => {
    const { box, leave, submit, limit } = setUp();
    leave(0);
    submit(1);
    expect(blockersOf(box.state, TENANT)).toMatchObject([{ code: 'reserved', subject: 'queue:default', limit }]);
    expect(queueLoads(box.state)).toMatchObject([{ waiting: 1, held: 0 }]);
  });

  test('are not counted before they are kept', () => {
    const { box, limit, leave } = setUp();
    expect(SHARDS.map((shard) => box.state.limits.find(shard, limit))).toEqual([undefined, undefined]);
    leave(2);
    leave(null);
    const lanes = [...box.state.dags.byId.values()].flatMap((one) => [...one.lanes.values()].flat());
    expect(lanes.every((lane) => lane?.holds.length === 0)).toBe(true);
  });
});

test.each([
  ['another dag of the tenant', 1, 7, 8, 1, 'default', true],
  ['the dag itself', 1, 7, 7, 1, 'default', false],
  ['a dag of another tenant', 1, 7, 8, 2, 'default', false],
  ['another queue', 1, 7, 8, 1, 'gpu', false],
  ['another tenant', 1, null, 8, 2, 'batch', true],
  ['the tenant itself', 1, null, 8, 1, 'batch', false],
] as const)('%s: whether slots are kept from it', (_, tenantId, dagId, otherDag, otherTenant, queue, expected) => {
  const keep = {
    tenantId: tenantId as TenantId,
    dagId: dagId as DagId | null,
    queues: ['default', 'batch'] as QueueName[],
  };
  const name: LimitName = keptLimit(keep);
  const other = { tenantId: otherTenant as TenantId, dagId: otherDag as DagId, queue: queue as QueueName };
  expect(isAmongOthers(name, other)).toBe(expected);
  expect(keepOf(name)).toEqual({ ...keep, queues: ['batch', 'default'] });
});
