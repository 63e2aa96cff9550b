import { describe, expect, test } from 'vitest';
import type { Command } from './model/command.ts';
import type { QueueName, WorkerId } from './model/ids.ts';
import { reportOf, type Scenario, scenario, TENANT } from './testing/scenario.ts';
import { every, job } from './testing/specs.ts';

/** Memory is bounded by live work, not by what has finished (I73). */
function drain(box: Scenario): void {
  const { worker } = { worker: box.worker() };
  const reports: Command[] = worker.holds.map((claim) => reportOf({ claim, worker, task: 'job' }, 'succeeded'));
  worker.holds = [];
  worker.assigned.length = 0;
  box.effects.length = 0;
  box.node.decide(reports);
}

describe('after many runs (I73)', () => {
  test('slots are used again, and neither timers nor lanes pile up', () => {
    const box = scenario({ dag: job({ timeoutMs: 86_400_000 }), runs: 0, audit: false });
    const { state } = box;
    for (let round = 0; round < 300; round++) {
      box.lend(box.worker(), 100);
      box.submit({ count: 100 });
      box.lend(box.worker(), 100);
      drain(box);
      box.node.store.journal.length = 0;
    }
    box.node.decide([]);
    expect(state.runs.count).toBe(0);
    expect(state.runs.id.length).toBeLessThanOrEqual(512);
    expect(state.tasks.state.length).toBeLessThanOrEqual(512);
    expect(state.timers.size).toBeLessThanOrEqual(5_000);
    expect(state.lingering).toEqual([]);
    expect([...state.workers.all()]).toEqual([]);
    box.advance('2d');
    expect(state.timers.size).toBe(0);
  });

  test('runs cancelled while they wait leave nothing behind, in lanes or among the waiting', () => {
    const box = scenario({ dag: job({ maxActiveRuns: 1 }), runs: 1, audit: false });
    const other = box.deploy(job(), 'other');
    for (let i = 0; i < 1_000; i++) {
      for (const dagId of [box.dagId, other]) {
        box.submit({ dagId });
        box.cancel();
      }
    }
    expect(box.state.dags.get(box.dagId)!.waitingRuns.size).toBeLessThanOrEqual(70);
    const lanes = [...box.state.queues.values()].flatMap((queue) => queue.activeLanes(2));
    expect(lanes.reduce((sum, lane) => sum + lane.size, 0)).toBeLessThanOrEqual(140);
  });

  test('edits of a schedule leave no windows behind', () => {
    const box = scenario({ dag: job({ schedule: every('@yearly') }), audit: false });
    for (let i = 0; i < 5_000; i++) box.pause(i % 2 === 0);
    expect(box.state.windows.size).toBeLessThanOrEqual(4_100);
  });

  test('dags of several sizes use the same blocks of tasks', () => {
    const box = scenario({ runs: 0, audit: false });
    for (let size = 1; size <= 300; size++) {
      const tasks = Array.from({ length: size }, (_, i) => ({ ...job().tasks[0]!, name: `t${i}` }));
      box.submit({ dagId: box.deploy({ ...job(), tasks }, `dag-${size}`) });
      box.cancel();
      box.node.decide([]);
    }
    expect(box.state.tasks.state.length).toBeLessThanOrEqual(8_192);
  });
});

describe('workers and queues that come and go (I73)', () => {
  const lend = (workerId: string, queue: string, standing = true): Command => ({
    kind: 'LendSlots',
    gateway: 'g' as never,
    workerId: workerId as WorkerId,
    tenants: [TENANT],
    queues: [queue as QueueName],
    count: 1,
    standing,
    agoMs: 0,
  });

  test('leave nothing behind, though nobody asks for their queue', () => {
    const box = scenario({ audit: false });
    for (let i = 0; i < 1_000; i++) {
      box.feed(lend(`w${i}`, `queue-${i}`));
      box.feed(lend(`once-${i}`, 'idle', false));
      box.feed({ kind: 'RecallSlots', gateway: 'g' as never, workerId: `w${i}` as WorkerId, count: 1 });
    }
    expect([...box.state.workers.all()]).toEqual([]);
    expect(box.state.queues.size).toBe(0);
    expect(box.state.queues.groupCount).toBeLessThanOrEqual(101);
    box.advance('11s').submit();
    expect(box.state.queues.groupCount).toBe(0);
  });

  test('a group whose other workers left serves the one that had no free slot for a while', () => {
    const box = scenario({ dag: job(), audit: false });
    box.feed(lend('stays', 'default'));
    box.feed(lend('leaves', 'default', false));
    box.advance('11s').submit();
    box.feed(lend('stays', 'default'));
    expect(box.task('job').state).toBe('running');
  });

  test('a lost gateway takes all its workers along', () => {
    const box = scenario({ audit: false });
    for (let i = 0; i < 100; i++) box.feed(lend(`w${i}`, 'idle'));
    box.feed({ kind: 'GatewayLost', gateway: 'g' as never });
    expect([...box.state.workers.all()]).toEqual([]);
    expect(box.state.queues.size).toBe(0);
  });
});

test('keys and uids are kept in memory only while their batch is in flight (I73)', () => {
  const box = scenario({ dag: job(), runs: 0, audit: false });
  for (let i = 0; i < 100; i++) box.submit({ key: { key: `k${i}`, bodyHash: 'b' } });
  box.node.decide([]);
  expect([box.state.recentKeys.size, box.state.recentUids.size]).toEqual([0, 0]);
});

test('old versions are forgotten with their last run, also those that only history needed', () => {
  const box = scenario({ dag: job(), audit: false });
  const attempt = box.claim('job');
  for (let i = 0; i < 20; i++) box.deploy(job({ timeoutMs: i + 1 }));
  const { versions } = box.state.dags.get(box.dagId)!;
  expect(versions.size).toBe(2);
  box.report(attempt, 'succeeded');
  box.node.decide([]);
  expect(versions.size).toBe(1);
  box.cancel(box.runIds[0]);
  expect(versions.size).toBe(1);
});
