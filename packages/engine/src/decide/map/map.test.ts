import { describe, expect, test } from 'vitest';
import type { GroupSpec, MapSource, MapSpec } from '../../model/dag/spec.ts';
import { accepted, type Scenario, scenario } from '../../testing/scenario.ts';
import { dag, task } from '../../testing/specs.ts';

const overTask = (no: number, fact = 0): MapSource => ({ from: 'task', task: no, fact });
const overList = (length: number): MapSource => ({ from: 'list', length });
const mapOf = (...over: MapSource[]): MapSpec => ({ over, mode: 'product' });
const group = (name: string, map?: MapSpec, parent: number | null = null): GroupSpec => ({
  name,
  parent,
  ...(map === undefined ? {} : { map }),
});
const LIST = { facts: [[]] } as const;

/** list → work (for each item) → sum */
const fanned = (more: Parameters<typeof dag>[1] = {}) =>
  dag([task('list', [], LIST), task('work', [], { group: 0 }), task('sum', [1])], {
    groups: [group('work', mapOf(overTask(0)))],
    ...more,
  });

const give = (box: Scenario, name: string, output: unknown) =>
  box.report(box.claim(name), 'succeeded', { output: JSON.stringify(output) });

describe('a mapped task', () => {
  test('is one task for each item of a list, and what needs it waits for all of them (I34)', () => {
    const box = scenario({ dag: fanned() });
    expect(box.task('work').state).toBe('blocked');
    give(box, 'list', ['a', 'b', 'c']);
    expect(box.task('work').state).toBe('expanded');
    const attempts = [box.claim('work[0]'), box.claim('work[1]'), box.claim('work[2]')];
    expect(box.tryClaim()).toBeNull();
    for (const attempt of attempts) {
      expect(box.task('sum').state).toBe('blocked');
      expect(box.report(attempt, 'succeeded')).toEqual(accepted);
    }
    expect(box.task('work').state).toBe('succeeded');
    give(box, 'sum', 3);
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'succeeded' });
    expect(box.changes('MapExpanded')).toMatchObject([{ group: 0, scope: null, firstNo: 3, total: 3 }]);
  });

  test('fails where an instance does, by the trigger rule of what needs it; other instances go on (I30)', () => {
    const box = scenario({ dag: fanned() });
    give(box, 'list', [1, 2]);
    box.report(box.claim('work[0]'), 'permanent');
    expect(box.task('sum').state).toBe('upstream_failed');
    expect(box.task('work').state).toBe('expanded');
    expect(box.report(box.claim('work[1]'), 'succeeded')).toEqual(accepted);
    expect(box.task('work').state).toBe('failed');
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'failed' });
  });

  test.each([
    ['none', [], 'succeeded', 'ready'],
    ['an object', {}, 'failed', 'upstream_failed'],
    ['nothing', null, 'failed', 'upstream_failed'],
    ['too many', [1, 2, 3, 4, 5], 'failed', 'upstream_failed'],
  ])('over %s is decided without an attempt (I34)', (_, items, work, sum) => {
    const box = scenario({ dag: fanned({ maxMapSize: 4 }) });
    give(box, 'list', items);
    expect(box.task('work').state).toBe(work);
    expect(box.task('sum').state).toBe(sum);
    expect(box.changes('MapExpanded')).toEqual([]);
  });

  test('never runs when what it runs over fails, or is skipped, whatever its rule', () => {
    const never = { op: 'eq', left: { op: 'value', value: 1 }, right: { op: 'value', value: 2 } } as const;
    const tasks = [task('list', [], LIST), task('work', [], { group: 0, rule: 'always' })];
    const groups = [group('work', mapOf(overTask(0)))];
    const failed = scenario({ dag: dag(tasks, { groups }) });
    failed.report(failed.claim('list'), 'permanent');
    expect(failed.run()).toMatchObject({ phase: 'ended', outcome: 'failed' });
    const skipping = [task('list', [], { ...LIST, when: { text: '1 == 2', expression: never } }), tasks[1]!];
    const skipped = scenario({ dag: dag(skipping, { groups }) });
    expect(skipped.run()).toMatchObject({ phase: 'ended', outcome: 'succeeded' });
  });

  test('is told its item, and what needs it where all outputs are', () => {
    const box = scenario({
      dag: dag([task('list', [], LIST), task('work', [0], { group: 0 }), task('sum', [1], { rule: 'all_done' })], {
        groups: [group('work', mapOf(overList(2), overTask(0)))],
      }),
    });
    give(box, 'list', ['a', 'b', 'c']);
    for (const no of [0, 1, 2, 3, 4]) box.report(box.claim(`work[${no}]`), 'succeeded');
    box.report(box.claim('work[5]'), 'permanent');
    box.claim('sum');
    const sent = box.effects.flatMap((effect) => (effect.kind === 'SendAssignment' ? [effect] : []));
    expect(sent[5]).toMatchObject({ specNo: 1, claim: { taskNo: 7 }, succeededUpstream: [0] });
    expect(sent[5]?.map).toEqual({
      places: [{ group: 0, index: 4, total: 6, picks: [1, 1], sources: [null, { of: 'task', no: 0 }] }],
      upstream: [{ of: 'task', no: 0 }],
    });
    expect(sent[7]).toMatchObject({ specNo: 2, succeededUpstream: [1], failedUpstream: [1], missingUpstream: [] });
    expect(sent[7]?.map).toEqual({
      places: [],
      upstream: [{ of: 'instances', ranges: [{ from: 3, step: 1, count: 6 }], except: [8] }],
    });
  });
});

describe('lists side by side', () => {
  const zipped = (...over: MapSource[]) =>
    dag([task('work', [], { group: 0 })], { groups: [{ name: 'work', parent: null, map: { over, mode: 'zip' } }] });

  test('give as many instances as each is long', () => {
    const box = scenario({ dag: zipped(overList(2), overList(2)) });
    box.claim('work[0]');
    box.claim('work[1]');
    expect(box.tryClaim()).toBeNull();
  });

  test('of different lengths fail the task', () => {
    const box = scenario({ dag: zipped(overList(2), overList(3)) });
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'failed' });
  });
});

describe('a mapped group', () => {
  const pipeline = dag(
    [task('list', [], LIST), task('get', [], { group: 0 }), task('put', [1], { group: 0 }), task('end', [2])],
    { groups: [group('each', mapOf(overTask(0)))] },
  );

  test('is walked by each item by itself', () => {
    const box = scenario({ dag: pipeline });
    give(box, 'list', [1, 2]);
    const [first, second] = [box.claim('get[0]'), box.claim('get[1]')];
    box.report(second, 'succeeded');
    const put = box.claim('put[1]');
    expect(box.task('put[0]').state).toBe('blocked');
    box.report(first, 'permanent');
    expect(box.task('put[0]').state).toBe('upstream_failed');
    box.report(put, 'succeeded');
    expect(box.task('put').state).toBe('upstream_failed');
    expect(box.task('end').state).toBe('upstream_failed');
  });

  test('with a map inside has instances of instances', () => {
    const box = scenario({
      dag: dag(
        [
          task('list', [], LIST),
          task('pages', [], { group: 0, ...LIST }),
          task('page', [], { group: 1 }),
          task('book', [2], { group: 0 }),
          task('shelf', [2, 3]),
        ],
        { groups: [group('books', mapOf(overTask(0))), group('pages', mapOf(overTask(1)), 0)] },
      ),
    });
    give(box, 'list', [1, 2]);
    const [first, second] = [box.claim('pages[0]'), box.claim('pages[1]')];
    box.report(first, 'succeeded', { output: '["x","y"]' });
    box.report(second, 'succeeded', { output: '[]' });
    // The second book has no pages, and goes on.
    expect(box.task('page[1]').state).toBe('succeeded');
    const book = box.claim('book[1]');
    const pages = [box.claim('page[0][0]'), box.claim('page[0][1]')];
    box.killOwner();
    for (const page of pages) expect(box.report(page, 'succeeded')).toEqual(accepted);
    expect(box.task('page').state).toBe('succeeded');
    box.report(box.claim('book[0]'), 'succeeded');
    expect(box.task('shelf').state).toBe('blocked');
    box.report(book, 'succeeded');
    box.claim('shelf');
  });
});

describe('a large map', () => {
  const small = { settings: { unfoldPerStep: 2 } };

  test('comes in parts, each a step of its own, and is claimed meanwhile', () => {
    const box = scenario({ dag: fanned(), ...small, workers: ['w1'] });
    give(box, 'list', [1, 2, 3, 4, 5]);
    expect(box.changes('MapUnfolded').map(({ until }) => until)).toEqual([2, 4, 5]);
  });

  test('goes on after a takeover in the middle of it, and not after a cancel', () => {
    for (const isCancelled of [false, true]) {
      const box = scenario({ dag: fanned(), ...small });
      const attempt = box.claim('list');
      const report = { claim: attempt.claim, workerId: attempt.worker.id, outcome: 'succeeded' } as const;
      box.node.decide([{ kind: 'ReportAttempt', ...report, output: '[1,2,3,4,5]', error: null, startedAt: null }]);
      expect(box.changes('MapUnfolded')).toHaveLength(1);
      if (isCancelled)
        box.node.decide([{ kind: 'CancelRun', tenantId: 1 as never, runId: box.lastRun(), actor: box.actor }]);
      box.killOwner();
      expect(box.changes('MapUnfolded')).toHaveLength(isCancelled ? 1 : 3);
      if (isCancelled) expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'cancelled' });
    }
  });

  test('of a run that waits to be admitted is not made before it is', () => {
    const box = scenario({
      dag: dag([task('work', [], { group: 0 })], { groups: [group('work', mapOf(overList(3)))], maxActiveRuns: 1 }),
      runs: 2,
    });
    expect(box.changes('MapExpanded')).toHaveLength(1);
    box.cancel(box.runIds[0]);
    expect(box.changes('MapExpanded')).toHaveLength(2);
    box.claim('work[0]');
  });
});

describe('an instance', () => {
  test('is tried again by hand, and what it held up goes on (I32)', () => {
    const box = scenario({ dag: fanned() });
    give(box, 'list', [1, 2]);
    const ends = [box.claim('work[0]'), box.claim('work[1]')] as const;
    box.report(ends[0], 'permanent');
    box.hold().report(ends[1], 'succeeded');
    expect(box.task('work').state).toBe('failed');
    expect(box.retry('work[0]')).toMatchObject({ ok: true });
    box.settle();
    expect(box.task('work').state).toBe('expanded');
    expect(box.task('sum').state).toBe('blocked');
    box.report(box.claim('work[0]'), 'succeeded');
    expect(box.task('work').state).toBe('succeeded');
    give(box, 'sum', 1);
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'succeeded' });
  });

  test('that fails under fail_fast stops the others; they go on when it is tried again', () => {
    const box = scenario({ dag: fanned({ onFailure: 'fail_fast' }), settings: { graceMs: 0, unfoldPerStep: 2 } });
    give(box, 'list', [1, 2, 3]);
    const other = box.claim('work[0]');
    box.report(box.claim('work[1]'), 'permanent');
    box.report(other, 'cancelled');
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'failed' });
    box.submit(); // Brings the run out of memory.
    box.killOwner();
    expect(box.retry(3 + 1, box.runIds[0])).toMatchObject({ ok: true });
    expect(box.task('work', box.runIds[0]).state).toBe('expanded');
    expect(['work[0]', 'work[1]', 'work[2]'].map((name) => box.task(name, box.runIds[0]).state)).toEqual([
      'ready',
      'ready',
      'ready',
    ]);
  });
});

describe('a map whose source comes anew', () => {
  test('is removed with all that was decided by it, and expands again under new numbers (I37)', () => {
    const box = scenario({ dag: fanned({ onFailure: 'skip_failed' }) });
    give(box, 'list', [1, 2, 3]);
    const [first, second] = [box.claim('work[0]'), box.claim('work[1]')];
    box.report(first, 'permanent');
    expect(box.clear(['list'], { downstream: true })).toMatchObject({ ok: false, code: 'TASK_BUSY' });
    expect(box.clear(['list'], { downstream: true, force: true })).toMatchObject({ ok: true });
    expect(box.worker().killed.map(({ claim }) => claim.taskNo)).toEqual([4]);
    expect(box.task('work').state).toBe('blocked');
    expect(box.task('sum').state).toBe('blocked');
    // A report of what was removed is late.
    expect(box.report(second, 'succeeded')).toMatchObject({ ok: false, code: 'STALE_TOKEN' });
    give(box, 'list', [1, 2, 3]);
    expect(box.changes('MapExpanded').map(({ firstNo }) => firstNo)).toEqual([3, 6]);
    box.killOwner();
    for (const no of [0, 1, 2]) expect(box.report(box.claim(`work[${no}]`), 'succeeded')).toEqual(accepted);
    expect(box.task('work').state).toBe('succeeded');
    give(box, 'sum', 1);
    // The failure of the instance that was removed is history.
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'succeeded' });
    expect(box.node.store.runsStored()[0]!.tasks.map(({ taskNo }) => taskNo)).toEqual([0, 2, 3, 4, 6, 7, 8]);
  });

  test('takes the maps in its instances along', () => {
    const box = scenario({
      dag: dag(
        [
          task('list', [], LIST),
          task('pages', [], { group: 0, ...LIST }),
          task('page', [], { group: 1 }),
          task('end', [2]),
        ],
        { groups: [group('books', mapOf(overTask(0))), group('pages', mapOf(overTask(1)), 0)] },
      ),
    });
    give(box, 'list', [1, 2]);
    const both = [box.claim('pages[0]'), box.claim('pages[1]')];
    for (const one of both) box.report(one, 'succeeded', { output: '[1,2]' });
    box.report(box.claim('page[0][0]'), 'succeeded');
    expect(box.clear(['list'], { downstream: true })).toMatchObject({ ok: true });
    give(box, 'list', [1, 2]);
    expect(box.task('page').state).toBe('expanded');
    const again = [box.claim('pages[0]'), box.claim('pages[1]')];
    for (const one of again) box.report(one, 'succeeded', { output: '[1]' });
    box.killOwner();
    for (const name of ['page[0][0]', 'page[1][0]']) box.report(box.claim(name), 'succeeded');
    box.claim('end');
  });
});

test.each([
  [[false, false], 'skipped'],
  [[false, true], 'ready'],
] as const)('mapped setups that answer %j leave what wants one of them %s (I31)', (outputs, state) => {
  const setup = { group: 0, setup: true, shortCircuit: 'next' } as const;
  const box = scenario({
    dag: dag([task('make', [], setup), task('use', [0], { rule: 'all_done_setup_success' }), task('more')], {
      groups: [group('make', mapOf(overList(2)))],
    }),
  });
  box.claim('more');
  outputs.forEach((output, i) => give(box, `make[${i}]`, output));
  expect(box.task('use').state).toBe(state);
  box.killOwner();
  expect(box.task('use').state).toBe(state);
});
