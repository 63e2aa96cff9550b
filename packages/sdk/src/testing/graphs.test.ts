import { expect, test } from 'vitest';
import { dag } from '../dag/dag.ts';
import type { DagOptions } from '../dag/task-options.ts';
import { testRun } from './index.ts';

const statesOf = (run: { readonly tasks: readonly { readonly name: string; readonly state: string }[] }) =>
  Object.fromEntries(run.tasks.map(({ name, state }) => [name, state]));

const orders = dag<{ amount: number; kind?: string }>('orders', ({ task }) => {
  const check = task('check', ({ params }) => ({ amount: params.amount, tags: ['a', 'b'] }));
  const route = task('route', { branch: true, needs: [check] }, ({ params }) =>
    params.amount > 100 ? 'review' : ['ship'],
  );
  const review = task('review', { needs: [route] }, () => 'fine');
  const ship = task('ship', { needs: [route] }, () => 'on its way');
  task('thank', { when: "tasks.check.output.amount >= 10 && contains(tasks.check.output.tags, 'b')" }, () => 1);
  task('tell', { needs: [review, ship], rule: 'none_failed_min_one_success' }, ({ upstream }) => Object.keys(upstream));
  task('gift', { when: "${{ defined(params.kind) && params.kind in ['vip', 'new'] }}" }, () => 1);
});

test.each([
  [{ amount: 500 }, { review: 'succeeded', ship: 'skipped', thank: 'succeeded', gift: 'skipped' }, ['review']],
  [{ amount: 5, kind: 'vip' }, { review: 'skipped', ship: 'succeeded', thank: 'skipped', gift: 'succeeded' }, ['ship']],
])('with %j branches and conditions lead to %j', async (params, states, told) => {
  const run = await testRun(orders, { params });
  expect(run.outcome).toBe('succeeded');
  expect(statesOf(run)).toMatchObject(states);
  expect(run.task('tell').output).toEqual(told);
});

test('a branch that chooses what is not there fails, and says so', async () => {
  const run = await testRun(orders, { params: { amount: 1 }, stubs: { route: () => 'nowhere' } });
  expect(run.outcome).toBe('failed');
  expect(run.task('route')).toMatchObject({ state: 'failed', output: null });
  expect(String(run.task('route').error)).toMatch(/chose "nowhere".*review, ship/);
});

const fanOf = (onFailure: NonNullable<DagOptions['onFailure']>) =>
  dag('fan', { onFailure }, ({ task }) => {
    const [good, bad] = [
      task('good', () => 1),
      task('bad', (): number => {
        throw new Error('no');
      }),
    ];
    const slow = task('slow', { needs: [good] }, () => 2);
    task('join', { needs: [slow], inputs: { good: good.output, bad: bad.output } }, ({ inputs, failedUpstream }) => [
      inputs,
      failedUpstream,
    ]);
  });

test.each([
  ['continue', { slow: 'succeeded', join: 'upstream_failed' }],
  ['fail_fast', { slow: 'cancelled', join: 'upstream_failed' }],
  ['skip_failed', { slow: 'succeeded', join: 'succeeded' }],
] as const)('with one failure %s leads to %j', async (policy, states) => {
  const run = await testRun(fanOf(policy));
  expect(run.outcome).toBe('failed');
  expect(statesOf(run)).toMatchObject({ bad: 'failed', ...states });
  if (policy === 'skip_failed') expect(run.task('join').output).toEqual([{ good: 1, bad: null }, ['bad']]);
});

test('a short circuit stops what is behind it; a mender runs after a failure', async () => {
  const nightly = dag<{ go: boolean }>('nightly', ({ task }) => {
    const gate = task('gate', { shortCircuit: 'all' }, ({ params }) => params.go);
    const load = task('load', { needs: [gate] }, (): number => {
      throw new Error('no');
    });
    task('mend', { needs: [load], rule: 'one_failed' }, () => 1);
    task('sweep', { needs: [load], rule: 'all_done' }, () => 1);
  });
  expect(statesOf(await testRun(nightly, { params: { go: false } }))).toEqual({
    gate: 'succeeded',
    load: 'skipped',
    mend: 'skipped',
    sweep: 'skipped',
  });
  const run = await testRun(nightly, { params: { go: true } });
  expect([run.outcome, statesOf(run)]).toEqual([
    'succeeded',
    { gate: 'succeeded', load: 'failed', mend: 'succeeded', sweep: 'succeeded' },
  ]);
});
