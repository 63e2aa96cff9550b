import { describe, expect, test } from 'vitest';
import type { StepResult } from '../../engine.ts';
import type { Command } from '../../model/command.ts';
import { START } from '../../testing/node.ts';
import { type Scenario, scenario } from '../../testing/scenario.ts';
import { every, fan, job } from '../../testing/specs.ts';

/** No step makes many more changes than its settings say (I68); "not many more": what one command brings. */
const BOUND = 2_000 + 3;

/** Decides, and ticks on, until nothing is left; the size of each step. */
function sizes(box: Scenario, command: Command): number[] {
  const found: number[] = [];
  let result: StepResult = box.node.decide([command]);
  for (found.push(result.changes.length); result.more; found.push(result.changes.length)) {
    result = box.node.decide([{ kind: 'Tick' }]);
  }
  return found;
}

function crowd(count: number): Scenario {
  const box = scenario({ dag: job(), runs: 0, audit: false });
  box.lend(box.worker(), count, true);
  for (let left = count; left > 0; left -= 1_000) box.submit({ count: Math.min(1_000, left) });
  expect(box.worker().holds).toHaveLength(count);
  return box;
}

function pass(box: Scenario, ms: number): void {
  box.node.mono += ms;
  box.node.wall = (box.node.wall + ms) as typeof box.node.wall;
}

describe('much at once is done over several steps (I68)', () => {
  test('a worker lost with 5,000 attempts', () => {
    const box = crowd(5_000);
    pass(box, 16_000);
    const found = sizes(box, { kind: 'Tick' });
    expect(Math.max(...found)).toBeLessThanOrEqual(BOUND);
    expect(box.changes('AttemptEnded')).toHaveLength(5_000);
  });

  test('a worker that leaves 5,000 claims behind', () => {
    const box = crowd(5_000);
    const { gateway, id: workerId } = box.worker();
    const found = sizes(box, { kind: 'WorkerLeft', gateway, workerId });
    expect(Math.max(...found)).toBeLessThanOrEqual(BOUND);
    expect(box.changes('ClaimReturned')).toHaveLength(5_000);
    expect([...box.state.workers.all()]).toEqual([]);
  });

  test('5,000 claims that never arrived', () => {
    const box = crowd(5_000);
    box.worker().holds = [];
    box.heartbeat().advance('2s');
    for (let i = 0; i < 5; i++) {
      const before = box.node.journal.length;
      box.heartbeat();
      expect(box.node.journal.length - before).toBeLessThanOrEqual(BOUND);
      box.advance('3s');
    }
    expect(box.changes('ClaimReturned')).toHaveLength(5_000);
  });

  test('5,000 silent workers at a takeover', () => {
    const names = Array.from({ length: 5_000 }, (_, i) => `w${i}`);
    const box = scenario({ dag: job(), workers: names, runs: 0, audit: false });
    for (let i = 0; i < 5; i++) box.submit({ count: 1_000 });
    for (const worker of box.workers.values()) box.lend(worker, 1);
    box.node.state = box.node.restored();
    const found = sizes(box, { kind: 'Tick' });
    expect(Math.max(...found)).toBeLessThanOrEqual(BOUND);
    expect(box.changes('WorkerSilenced')).toHaveLength(5_000);
  });

  test('5,000 waiting runs that a raised limit admits', () => {
    const box = scenario({ dag: job({ maxActiveRuns: 1 }), runs: 0, audit: false });
    for (let i = 0; i < 5; i++) box.submit({ count: 1_000 });
    const { shard, actor } = box;
    const deploy = {
      kind: 'DeployDag',
      shard,
      tenantId: 1,
      tenant: 'acme',
      name: 'etl',
      spec: job(),
      hash: 'x',
      actor,
    };
    const found = sizes(box, deploy as Command);
    expect(Math.max(...found)).toBeLessThanOrEqual(BOUND);
    expect(box.changes('RunAdmitted')).toHaveLength(4_999);
  });

  test('a cancelled run of 5,000 attempts whose worker never answers', () => {
    const box = scenario({ dag: fan(5_000), audit: false });
    box.report(box.claim('first'), 'succeeded');
    box.lend(box.worker(), 5_000, true);
    expect(sizes(box, { kind: 'CancelRun', tenantId: 1, runId: box.lastRun(), actor: box.actor } as Command)).toEqual([
      1,
    ]);
    for (let i = 0; i < 9; i++) {
      pass(box, 3_000);
      box.node.decide([heartbeat(box)]);
      expect(Math.max(...sizes(box, { kind: 'Tick' }))).toBeLessThanOrEqual(BOUND);
    }
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'cancelled' });
  });
});

function heartbeat(box: Scenario): Command {
  const { gateway, id: workerId, holds } = box.worker();
  return { kind: 'WorkerHeard', gateway, workerId, agoMs: 0, holds, knows: [] };
}

describe('5,000 schedules due at once', () => {
  function scheduled(count: number, cron = '0 * * * *'): Scenario {
    const box = scenario({ audit: false });
    for (let i = 0; i < count; i++) box.deploy(job({ schedule: every(cron) }), `dag-${i}`);
    return box;
  }

  test('go on in later steps, oldest dag first, each once (I1, I68)', () => {
    const box = scheduled(5_000);
    pass(box, 3_600_000);
    const found = sizes(box, { kind: 'Tick' });
    expect(Math.max(...found)).toBeLessThanOrEqual(BOUND);
    expect(found.length).toBeLessThanOrEqual(36);
    expect(box.node.store.windows).toHaveLength(5_000);
    const order = box.node.store.windows.map(({ dagId }) => dagId);
    expect(order).toEqual(order.toSorted((a, b) => a - b));
  });

  test('are decided first; when each is due again is stored afterwards', () => {
    const box = scheduled(5_000, `0 ${new Date(START + 3_600_000).getUTCHours()} * * *`);
    pass(box, 3_600_000);
    const kinds: string[] = [];
    let result = box.node.decide([{ kind: 'Tick' }]);
    for (; result.more; result = box.node.decide([{ kind: 'Tick' }])) {
      kinds.push(...new Set(result.changes.map(({ kind }) => kind)));
    }
    expect(kinds.lastIndexOf('WindowDecided')).toBeLessThanOrEqual(kinds.indexOf('ScheduleParked'));
    expect(box.changes('ScheduleParked')).toHaveLength(5_000);
  });

  test('also when none of their dags is in memory: each tick asks for those that come next', () => {
    const box = scheduled(5_000);
    pass(box, 3_600_000);
    box.killOwner();
    expect(box.node.store.windows).toHaveLength(5_000);
    let ticks = 0;
    const decided = box.node.onDecided;
    box.node.onDecided = (result) => {
      ticks += 1;
      decided(result);
    };
    pass(box, 3_600_000);
    box.killOwner();
    expect(box.node.store.windows).toHaveLength(10_000);
    expect(ticks).toBeLessThanOrEqual(36);
  });

  test('leave most of each step to others: tasks start while windows are still due', () => {
    const box = scheduled(5_000);
    box.lend(box.worker(), 100, true);
    pass(box, 3_600_000);
    const { changes, more } = box.node.decide([{ kind: 'Tick' }]);
    expect(more).toBe(true);
    const count = (kind: string) => changes.filter((change) => change.kind === kind).length;
    expect(count('WindowDecided')).toBe(32);
    // All that the first windows have made.
    expect(count('AttemptClaimed')).toBe(32);
  });

  test('begin with few in a step, up to a quarter of it, and begin so again after a pause', () => {
    const box = scheduled(2_000);
    const windowsOfSteps = () => {
      pass(box, 3_600_000);
      const found: number[] = [];
      for (let isMore = true; isMore; ) {
        const { changes, more } = box.node.decide([{ kind: 'Tick' }]);
        found.push(changes.filter(({ kind }) => kind === 'WindowDecided').length);
        isMore = more;
      }
      return found.filter((count) => count > 0);
    };
    const first = windowsOfSteps();
    expect(first.slice(0, 7)).toEqual([32, 48, 72, 108, 162, 243, 250]);
    expect(windowsOfSteps()).toEqual(first);
  });
});
