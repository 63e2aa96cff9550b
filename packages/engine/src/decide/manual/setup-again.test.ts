import { describe, expect, test } from 'vitest';
import { type Scenario, scenario, TENANT } from '../../testing/scenario.ts';
import { dag, task } from '../../testing/specs.ts';

const states = (box: Scenario, ...names: string[]) => names.map((name) => box.task(name).state);

/** Claims the task that is next, and ends its only attempt. */
function end(box: Scenario, name: string, outcome: 'succeeded' | 'permanent' = 'succeeded', output: unknown = null) {
  box.report(box.claim(name), outcome, { output: JSON.stringify(output) });
}

/** Claims and ends all that is left, and the run ends well. */
function finish(box: Scenario, ...names: string[]): void {
  for (const name of names) end(box, name);
  expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'succeeded' });
}

/** The setup, what works with it, and the teardown, which waits for all of them. `keep` keeps the run open. */
const TASKS = [
  task('make', [], { setup: true }),
  task('train', [0]),
  task('evaluate', [1]),
  task('drop', [0, 1, 2], { teardown: [0] }),
];
const spec = dag(TASKS);

/** A map over two items, of which the second fails to evaluate; all else succeeds. */
function oneItemFails(tasks: Parameters<typeof dag>[0]): Scenario {
  const map = { over: [{ from: 'list', length: 2 }], mode: 'product' } as const;
  const box = scenario({ dag: dag(tasks, { groups: [{ name: 'each', parent: null, map }] }) });
  for (let attempt = box.tryClaim(); attempt !== null; attempt = box.tryClaim()) {
    box.report(attempt, attempt.task === 'evaluate[1]' ? 'permanent' : 'succeeded');
  }
  return box;
}

const loaded = (how: string, box: Scenario) => {
  if (how === 'loaded') box.killOwner();
};

describe.each(['live', 'loaded'])('a task that runs again needs its setup only indirectly (%s)', (how) => {
  const failed = () => {
    const box = scenario({ dag: spec });
    for (const name of ['make', 'train']) end(box, name);
    end(box, 'evaluate', 'permanent');
    end(box, 'drop');
    return box;
  };

  test.each([
    ['retry', (box: Scenario) => box.retry('evaluate')],
    ['clear', (box: Scenario) => box.clear(['evaluate'])],
  ])('it waits for the setup, by a %s', (_, open) => {
    const box = failed();
    expect(open(box)).toMatchObject({ ok: true });
    expect(states(box, 'make', 'train', 'evaluate', 'drop')).toEqual(['ready', 'succeeded', 'blocked', 'blocked']);
    loaded(how, box);
    const make = box.claim('make');
    expect(box.tryClaim()).toBe(null);
    box.report(make, 'succeeded');
    loaded(how, box);
    finish(box, 'evaluate', 'drop');
  });

  test('a setup that fails this time keeps it from running', () => {
    const box = failed();
    box.retry('evaluate');
    end(box, 'make', 'permanent');
    expect(box.tryClaim()).toBe(null);
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'failed' });
    expect(box.retry('make')).toMatchObject({ ok: true });
    loaded(how, box);
    finish(box, 'make', 'evaluate', 'drop');
  });

  test('a setup that is marked as skipped skips it', () => {
    const box = failed();
    box.retry('evaluate');
    box.mark('make', 'skipped');
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'succeeded' });
    expect(box.tryClaim()).toBe(null);
  });

  test('of two setups, one made with the other, both come first, one after the other', () => {
    const box = scenario({
      dag: dag([
        task('net', [], { setup: true }),
        task('make', [0], { setup: true }),
        task('train', [1]),
        task('evaluate', [2]),
        task('drop', [1, 2, 3], { teardown: [1] }),
        task('drop-net', [0, 1, 2, 3, 4], { teardown: [0] }),
      ]),
    });
    for (const name of ['net', 'make', 'train']) end(box, name);
    end(box, 'evaluate', 'permanent');
    for (const name of ['drop', 'drop-net']) end(box, name);
    box.retry('evaluate');
    loaded(how, box);
    expect(states(box, 'net', 'make', 'evaluate')).toEqual(['ready', 'blocked', 'blocked']);
    finish(box, 'net', 'make', 'evaluate', 'drop', 'drop-net');
  });

  test('in a mapped group it waits for the setup of its own item', () => {
    const box = oneItemFails(TASKS.map((one) => ({ ...one, group: 0 })));
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'failed' });
    box.clear(['evaluate'], { states: ['failed'] });
    loaded(how, box);
    expect(states(box, 'make[0]', 'evaluate[0]', 'make[1]', 'evaluate[1]', 'drop[1]')).toEqual([
      ...['succeeded', 'succeeded'],
      ...['ready', 'blocked', 'blocked'],
    ]);
    for (const name of ['make[1]', 'evaluate[1]', 'drop[1]']) end(box, name);
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'succeeded' });
  });

  test('a setup that is a map is made again as its instances', () => {
    const map = { over: [{ from: 'list', length: 2 }], mode: 'product' } as const;
    const tasks = [
      task('make', [], { setup: true, group: 0 }),
      task('load'),
      task('evaluate', [0, 1]),
      task('drop', [0, 2], { teardown: [0] }),
    ];
    const box = scenario({ dag: dag(tasks, { groups: [{ name: 'each', parent: null, map }] }) });
    end(box, 'load', 'permanent');
    for (const name of ['make[0]', 'make[1]', 'drop']) end(box, name);
    expect(box.retry('load')).toMatchObject({ ok: true });
    loaded(how, box);
    expect(states(box, 'make[0]', 'make[1]', 'evaluate')).toEqual(['ready', 'ready', 'blocked']);
    finish(box, 'load', 'make[0]', 'make[1]', 'evaluate', 'drop');
  });

  test('an instance of a map waits for a setup outside of it', () => {
    const inside = ['train', 'evaluate'];
    const box = oneItemFails(TASKS.map((one) => (inside.includes(one.name) ? { ...one, group: 0 } : one)));
    box.clear(['evaluate'], { states: ['failed'] });
    loaded(how, box);
    expect(states(box, 'make', 'evaluate[0]', 'evaluate[1]')).toEqual(['ready', 'succeeded', 'blocked']);
    for (const name of ['make', 'evaluate[1]', 'drop']) end(box, name);
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'succeeded' });
  });
});

test('the policy of the dag that retries its run, and the replay of a dead letter, wait for the setup too', () => {
  const box = scenario({ dag: dag(TASKS, { retryRun: { maxTimes: 1, delayMs: 0 } }) });
  for (const name of ['make', 'train']) end(box, name);
  end(box, 'evaluate', 'permanent');
  end(box, 'drop');
  // By the policy.
  expect(states(box, 'make', 'evaluate')).toEqual(['ready', 'blocked']);
  end(box, 'make');
  const attempt = box.claim('evaluate');
  box.report(attempt, 'permanent');
  end(box, 'drop');
  expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'failed' });
  const { runId, taskNo, attemptNo } = attempt.claim;
  const deadLetter = { runId, taskNo, attemptNo };
  expect(box.feed({ kind: 'ReplayDeadLetter', tenantId: TENANT, deadLetter, actor: box.actor })).toMatchObject({
    ok: true,
  });
  expect(states(box, 'make', 'evaluate')).toEqual(['ready', 'blocked']);
});

describe('what is taken down is made again for each task that is opened again', () => {
  test('also when that needs nothing but a task outside, which is retried', () => {
    const box = scenario({
      dag: dag([
        task('make', [], { setup: true }),
        task('fetch'),
        task('work', [0, 1]),
        task('drop', [0, 2], { teardown: [0] }),
      ]),
      workers: ['w1', 'w2'],
    });
    end(box, 'make');
    end(box, 'fetch', 'permanent');
    end(box, 'drop');
    expect(box.retry('fetch')).toMatchObject({ ok: true });
    expect(states(box, 'make', 'fetch', 'work', 'drop')).toEqual(['ready', 'ready', 'blocked', 'blocked']);
    box.killOwner();
    const [make, fetch] = [box.claim('make'), box.claim('fetch', box.worker('w2'))];
    box.report(fetch, 'succeeded');
    expect(box.task('work').state).toBe('blocked');
    box.report(make, 'succeeded');
    finish(box, 'work', 'drop');
  });

  test('but not when the task stays as it is', () => {
    const box = scenario({
      dag: dag([
        task('make', [], { setup: true }),
        task('fetch'),
        task('other'),
        task('work', [0, 1, 2]),
        task('drop', [0, 3], { teardown: [0] }),
      ]),
    });
    end(box, 'make');
    end(box, 'fetch', 'permanent');
    end(box, 'other', 'permanent');
    end(box, 'drop');
    box.retry('fetch');
    expect(states(box, 'make', 'fetch', 'work', 'drop')).toEqual([
      ...['succeeded', 'ready'],
      ...['upstream_failed', 'succeeded'],
    ]);
  });

  test('also when a mark opens it', () => {
    const box = scenario({ dag: spec });
    end(box, 'make');
    end(box, 'train', 'permanent');
    end(box, 'drop');
    expect(box.mark('train', 'succeeded')).toMatchObject({ ok: true });
    expect(states(box, 'make', 'train', 'evaluate', 'drop')).toEqual(['ready', 'succeeded', 'blocked', 'blocked']);
    box.killOwner();
    finish(box, 'make', 'evaluate', 'drop');
  });

  test('also when a failure that is retried had kept it from beginning (fail_fast)', () => {
    const box = scenario({
      dag: dag(
        [
          task('bad'),
          task('make', [], { setup: true }),
          task('slow', [], { queue: 'nobody' }),
          task('work', [1, 2]),
          task('drop', [1, 3], { teardown: [1] }),
        ],
        { onFailure: 'fail_fast' },
      ),
      workers: ['w1', 'w2'],
    });
    const [bad] = [box.claim('bad')];
    end(box, 'make');
    box.report(bad, 'permanent');
    end(box, 'drop');
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'failed' });
    expect(box.retry('bad')).toMatchObject({ ok: true });
    expect(states(box, 'bad', 'make', 'slow', 'work', 'drop')).toEqual([
      ...['ready', 'ready', 'ready'],
      ...['blocked', 'blocked'],
    ]);
  });

  test('also when the time of its run was over, and it is retried', () => {
    const box = scenario({ dag: dag(TASKS, { timeoutMs: 60_000 }), settings: { graceMs: 0 } });
    end(box, 'make');
    const train = box.claim('train');
    box.advance('61s');
    box.report(train, 'cancelled');
    end(box, 'drop');
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'failed' });
    expect(box.retry('train')).toMatchObject({ ok: true });
    expect(states(box, 'make', 'train', 'drop')).toEqual(['ready', 'blocked', 'blocked']);
  });

  test('and nothing is opened while the teardown runs', () => {
    const box = scenario({
      dag: dag([
        task('make', [], { setup: true }),
        task('fetch'),
        task('work', [0, 1]),
        task('drop', [0, 2], { teardown: [0] }),
        task('keep'),
      ]),
      workers: ['w1', 'w2'],
    });
    end(box, 'make');
    const [fetch] = [box.claim('fetch'), box.claim('keep', box.worker('w2'))];
    box.report(fetch, 'permanent');
    const drop = box.claim('drop');
    for (const answer of [box.retry('fetch'), box.mark('fetch', 'succeeded'), box.clear(['fetch'])]) {
      expect(answer).toMatchObject({ ok: false, code: 'TASK_BUSY', detail: expect.stringContaining('drop') });
    }
    box.report(drop, 'succeeded');
    expect(box.retry('fetch')).toMatchObject({ ok: true });
    expect(states(box, 'make', 'work', 'drop')).toEqual(['ready', 'blocked', 'blocked']);
  });
});

test('an item that runs keeps the setup that its map runs over from being made again, unless by force (I32, I37)', () => {
  const over = { over: [{ from: 'task', task: 0, fact: 0 } as const], mode: 'product' as const };
  const groups = [
    { name: 'uses', parent: null, map: over },
    { name: 'others', parent: null, map: over },
  ];
  const tasks = [
    task('make', [], { setup: true, facts: [[]] }),
    task('use', [], { group: 0 }),
    task('other', [], { group: 1 }),
    task('last', [0, 1]),
    task('drop', [0, 3], { teardown: [0] }),
  ];
  const box = scenario({ dag: dag(tasks, { groups }), workers: ['w1', 'w2'] });
  end(box, 'make', 'succeeded', ['only']);
  const [use, other] = [box.claim('use[0]'), box.claim('other[0]', box.worker('w2'))];
  box.report(use, 'permanent');
  end(box, 'drop');
  for (const answer of [box.retry('use[0]'), box.clear(['use[0]'])]) {
    expect(answer).toMatchObject({ ok: false, code: 'TASK_BUSY', detail: 'other[0] (running)' });
  }
  expect(box.clear(['use[0]'], { force: true })).toMatchObject({ ok: true });
  expect(other.worker.killed).toHaveLength(1);
  expect(box.report(other, 'succeeded')).toMatchObject({ ok: false, code: 'STALE_TOKEN' });
  expect(states(box, 'make', 'use', 'other', 'drop')).toEqual(['ready', 'blocked', 'blocked', 'blocked']);
});

test('nor does the retry of a hook stop such an item: the setup that it stands before would be made again with others (I32)', () => {
  const map = { over: [{ from: 'task', task: 0, fact: 0 } as const], mode: 'product' as const };
  const tasks = [
    task('make', [], { setup: true, facts: [[]] }),
    task('each', [], { group: 0 }),
    task('other', [0]),
    task('drop', [0, 2], { teardown: [0, 2] }),
    task('other:before', [], { hook: { of: 2, on: 'before' } }),
  ];
  const box = scenario({
    dag: dag(tasks, { groups: [{ name: 'items', parent: null, map }] }),
    workers: ['w1', 'w2'],
  });
  end(box, 'make', 'succeeded', ['only']);
  end(box, 'other:before', 'permanent');
  end(box, 'drop');
  const each = box.claim('each[0]');
  expect(box.retry('other:before')).toMatchObject({ ok: false, code: 'TASK_BUSY', detail: 'each[0] (running)' });
  box.report(each, 'succeeded');
  expect(box.retry('other:before')).toMatchObject({ ok: true });
  expect(states(box, 'make', 'drop', 'other:before')).toEqual(['ready', 'blocked', 'blocked']);
});

test('an eager rule does not start a task before its setup has ended, `always` does', () => {
  const box = scenario({
    dag: dag([
      task('make', [], { setup: true }),
      task('side'),
      task('eager', [0, 1], { rule: 'one_success' }),
      task('always', [0], { rule: 'always' }),
      task('drop', [0, 2, 3], { teardown: [0] }),
    ]),
  });
  box.mark('side', 'succeeded');
  expect(states(box, 'make', 'eager', 'always')).toEqual(['ready', 'blocked', 'ready']);
  end(box, 'make');
  expect(states(box, 'eager')).toEqual(['ready']);
});
