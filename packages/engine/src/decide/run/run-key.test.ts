import { describe, expect, test } from 'vitest';
import type { DagSpec, OnFull } from '../../model/dag/spec.ts';
import type { RunId } from '../../model/ids.ts';
import { runKeyOf } from '../../model/run/run-key.ts';
import { type Scenario, scenario } from '../../testing/scenario.ts';
import { dag, task } from '../../testing/specs.ts';
import { takeOver } from '../../testing/take-over.ts';

function keyed(onFull: OnFull = 'queue', limit = 1, more: Partial<DagSpec> = {}): DagSpec {
  const concurrency = { text: '${{ params.of }}', key: [['of']], limit, onFull };
  return dag([task('job')], { ...more, concurrency });
}

const withKey = (of: string) => ({ params: JSON.stringify({ of }), priority: null });

function submit(box: Scenario, ...keys: readonly string[]) {
  return box.feed(box.submission({ items: keys.map(withKey) }));
}

const states = (box: Scenario) =>
  box.runIds.map((runId) => {
    const { phase, outcome, admitted } = box.run(runId);
    return phase === 'open' ? (admitted ? 'active' : 'waiting') : (outcome ?? phase);
  });

/** The holder of a free slot takes the oldest task that is ready, and ends it. */
const work = (box: Scenario) => void box.report(box.claim('job'), 'succeeded');

describe('queue', () => {
  test('a run waits for its key, and holds back no run of another key (I7, I47)', () => {
    const box = scenario({ dag: keyed(), runs: 0 });
    submit(box, 'a', 'a', 'a', 'b');
    expect(states(box)).toEqual(['active', 'waiting', 'waiting', 'active']);
    work(box);
    expect(states(box)).toEqual(['succeeded', 'active', 'waiting', 'active']);
    box.cancel(box.runIds[1]);
    expect(states(box)).toEqual(['succeeded', 'cancelled', 'active', 'active']);
  });

  test('a run that was let go and then cancelled lets the next one go', () => {
    const box = scenario({ dag: keyed('queue', 1, { maxActiveRuns: 1 }), runs: 0 });
    submit(box, 'a', 'a', 'a', 'b');
    work(box);
    expect(states(box)).toEqual(['succeeded', 'active', 'waiting', 'waiting']);
    box.cancel(box.runIds[1]);
    work(box);
    expect(states(box)).toEqual(['succeeded', 'cancelled', 'succeeded', 'active']);
  });

  test('the next owner knows who has the key (I45)', () => {
    const box = scenario({ dag: keyed(), runs: 0 });
    submit(box, 'a', 'a');
    box.killOwner();
    submit(box, 'a', 'b');
    expect(states(box)).toEqual(['active', 'waiting', 'waiting', 'active']);
    work(box);
    expect(states(box)).toEqual(['succeeded', 'active', 'waiting', 'active']);
  });

  test('the limit is that of the newest version, and none without one (I46)', () => {
    const box = scenario({ dag: keyed(), runs: 0 });
    submit(box, 'a', 'a', 'a', 'a');
    box.deploy(keyed('queue', 2));
    expect(states(box)).toEqual(['active', 'active', 'waiting', 'waiting']);
    box.deploy(dag([task('job')]));
    expect(states(box)).toEqual(['active', 'active', 'active', 'active']);
  });

  test('a run that is opened again waits for its key, and a window beside it is not held back', () => {
    const box = scenario({ dag: keyed('cancel_new'), runs: 0 });
    submit(box, 'a');
    work(box);
    submit(box, 'a');
    box.clear(['job'], { runId: box.runIds[0] as RunId });
    expect(states(box)).toEqual(['waiting', 'active']);
    work(box);
    expect(states(box)).toEqual(['active', 'succeeded']);
  });

  test('a run that is set aside gives its key away', () => {
    const box = scenario({ dag: keyed(), runs: 0 });
    submit(box, 'a', 'a');
    box.strike(box.runIds[0], true);
    expect(states(box)[1]).toBe('active');
  });
});

describe('cancel_running', () => {
  test('the newest run goes, and the others with its key are cancelled', () => {
    const box = scenario({ dag: keyed('cancel_running', 2), runs: 0 });
    submit(box, 'a', 'a', 'b');
    submit(box, 'a');
    expect(states(box)).toEqual(['cancelled', 'active', 'active', 'active']);
    submit(box, 'a', 'a');
    expect(states(box)).toEqual(['cancelled', 'cancelled', 'active', 'cancelled', 'active', 'active']);
  });

  test('the new one begins once the attempt of the old one has ended', () => {
    const box = scenario({ dag: keyed('cancel_running'), runs: 0 });
    submit(box, 'a');
    const attempt = box.claim('job');
    submit(box, 'a');
    expect(box.run(box.runIds[0]).phase).toBe('closing');
    expect(states(box)[1]).toBe('waiting');
    box.report(attempt, 'cancelled');
    expect(states(box)).toEqual(['cancelled', 'active']);
  });

  test('also where the dag has no room for another run', () => {
    const box = scenario({ dag: keyed('cancel_running', 1, { maxActiveRuns: 1 }), runs: 0 });
    submit(box, 'a');
    submit(box, 'a');
    expect(states(box)).toEqual(['cancelled', 'active']);
  });
});

describe('cancel_new', () => {
  test('a run too many is created and cancelled in one commit', () => {
    const box = scenario({ dag: keyed('cancel_new'), runs: 0 });
    expect(submit(box, 'a', 'a', 'b')).toMatchObject({ ok: true, count: 3 });
    expect(states(box)).toEqual(['active', 'cancelled', 'active']);
    expect(box.changes('RunClosing')).toMatchObject([{ actor: 'concurrency', outcome: 'cancelled' }]);
    work(box);
    submit(box, 'a');
    expect(states(box).at(-1)).toBe('active');
  });
});

describe('skip', () => {
  test('a submission is refused as a whole, and names who has the key (I13)', () => {
    const box = scenario({ dag: keyed('skip'), runs: 0 });
    submit(box, 'a');
    expect(submit(box, 'b', 'a')).toMatchObject({ ok: false, code: 'RUN_KEY_TAKEN' });
    expect(submit(box, 'b', 'b')).toMatchObject({ ok: false, code: 'RUN_KEY_TAKEN' });
    expect(submit(box, 'b', 'c')).toMatchObject({ ok: true });
    expect(states(box)).toEqual(['active', 'active', 'active']);
  });

  test('a window is skipped, and a delayed run', () => {
    const every = {
      cron: '* * * * *',
      zone: 'UTC',
      gap: 'fire_after',
      missed: 'all',
      missedLimit: 10,
      jitterMs: 0,
    } as const;
    const box = scenario({
      dag: keyed('skip', 1, { schedule: { ...every, params: JSON.stringify({ of: 'a' }) } }),
      runs: 0,
    });
    box.advance('61s');
    expect(states(box)).toEqual(['active']);
    const at = (box.node.state.now + 5_000) as never;
    box.feed(box.submission({ items: [{ ...withKey('a'), at }], key: { key: 'k', bodyHash: '' } }));
    box.advance('61s');
    expect(states(box)).toEqual(['active']);
    const skipped = box.changes('WindowDecided').filter((one) => one.skipped !== null);
    expect(skipped).toMatchObject([{ skipped: 'overlap' }, { skipped: 'overlap' }]);
  });
});

test('a run that was given its key is not cancelled for one that is not loaded yet (I7)', () => {
  const box = scenario({ dag: keyed(), runs: 0, audit: false });
  submit(box, 'a', 'a');
  const job = box.claim('job');
  box.deploy(keyed('cancel_new'));
  takeOver(box, ({ admitted }) => admitted);
  box.report(job, 'succeeded');
  submit(box, 'a');
  expect(states(box)).toEqual(['succeeded', 'waiting', 'active']);
  box.killOwner();
  work(box);
  expect(states(box)).toEqual(['succeeded', 'active', 'succeeded']);
});

test('one that was cancelled while it waited, and closes, leaves its key, also for an owner that has not loaded it (I7)', () => {
  const closing = task('run:after', [], { hook: { of: null, on: 'after' } });
  const spec = (onFull: OnFull, limit: number) => ({
    ...keyed(onFull, limit, { maxActiveRuns: 1 }),
    tasks: [task('job'), closing],
  });
  const box = scenario({ dag: spec('queue', 1), runs: 0, audit: false });
  submit(box, 'a', 'a');
  box.cancel(box.runIds[1]);
  expect(box.run(box.runIds[1]).phase).toBe('closing');
  box.deploy(spec('cancel_new', 2));
  takeOver(box, ({ admitted }) => admitted);
  submit(box, 'a');
  expect(states(box)[2]).toBe('waiting');
});

test.each([
  [{ of: 'a' }, 'x-a'],
  [{ of: 7 }, 'x-7'],
  [{ of: null }, 'x-'],
  [{}, 'x-'],
  [{ of: { deep: [1] } }, 'x-{"deep":[1]}'],
])('the key of %j is %s', (params, expected) => {
  const spec = { text: '', key: ['x-', ['of']], limit: 1, onFull: 'queue' } as const;
  expect(runKeyOf(spec, JSON.stringify(params))).toBe(expected);
});

test('a long key is cut, and differs from another long one', () => {
  const spec = { text: '', key: [['of']], limit: 1, onFull: 'queue' } as const;
  const [a, b] = ['a', 'b'].map((end) => runKeyOf(spec, JSON.stringify({ of: 'x'.repeat(500) + end })));
  expect(a).toHaveLength(197);
  expect(a).not.toBe(b);
});
