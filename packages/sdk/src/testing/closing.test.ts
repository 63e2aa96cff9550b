import { describe, expect, test } from 'vitest';
import { dag } from '../dag/index.ts';
import { PermanentError } from '../handler.ts';
import { testRun } from './test-run.ts';

describe('a dag with a setup and a teardown', () => {
  const cluster = dag<{ fails: boolean }>('cluster', ({ task }) => {
    const make = task('make', () => ({ id: 'c-1' }));
    task('work', { needs: [make] }, ({ params }) => {
      if (params.fails) throw new PermanentError('no disk');
    });
    task('drop', { teardown: make }, ({ upstream }) => `dropped ${(upstream as { make: { id: string } }).make.id}`);
  });

  test.each([
    [false, 'succeeded'],
    [true, 'failed'],
  ] as const)('takes down what it made, also after a failure: %s', async (fails, outcome) => {
    const run = await testRun(cluster, { params: { fails } });
    expect(run.outcome).toBe(outcome);
    expect(run.task('drop')).toMatchObject({ state: 'succeeded', output: 'dropped c-1' });
  });
});

describe('a saga', () => {
  const done: string[] = [];
  const order = dag<{ item: string }>('order', { compensate: true }, ({ task, undo, params }) => {
    const reserve = task('reserve', { inputs: { item: params.item } }, ({ inputs }) => ({
      slip: `slip ${inputs.item}`,
    }));
    const charge = task('charge', { needs: [reserve] }, () => ({ payment: 7 }));
    task('ship', { needs: [charge] }, () => {
      throw new PermanentError('no truck');
    });
    undo(reserve, ({ inputs }) => done.push(`${inputs.output.slip} back, of ${String(inputs.item)}`));
    undo(charge, {
      function: ({ inputs }) => done.push(`refund ${inputs.output.payment}`),
      retries: { maxAttempts: 2 },
    });
  });

  test('undoes what was done, in reverse order, with what it had returned', async () => {
    const run = await testRun(order, { params: { item: 'chair' } });
    expect(run.outcome).toBe('failed');
    expect(done).toEqual(['refund 7', 'slip chair back, of chair']);
    expect(run.task('charge:undo').state).toBe('succeeded');
  });
});

test('hooks are told what happened', async () => {
  const told: unknown[] = [];
  const loud = dag(
    'loud',
    { hooks: { after: ({ inputs }) => void told.push([inputs.event, inputs.outcome, inputs.failed]) } },
    ({ task }) => {
      const hooks = {
        before: ({ inputs }: { readonly inputs: { readonly event: string } }) => void told.push(inputs.event),
        onFailure: ({ inputs }: { readonly inputs: object }) => void told.push(inputs),
      };
      task('load', { hooks }, () => {
        throw new PermanentError('no table');
      });
    },
  );
  const run = await testRun(loud);
  expect(run.outcome).toBe('failed');
  expect(told).toEqual([
    'before',
    { event: 'on_failure', task: 'load', outcome: 'failed', attempt: 1, error: 'no table', failed: [] },
    ['after', 'failed', ['load']],
  ]);
});

test('a hook of the run is told each time that its own policy opens it again', async () => {
  const told: unknown[] = [];
  const stubborn = dag(
    'stubborn',
    {
      retryRun: { maxTimes: 2 },
      hooks: { onRetry: ({ inputs }) => void told.push([inputs.event, inputs.task, inputs.attempt]) },
    },
    ({ task }) => {
      task('load', () => {
        throw new PermanentError('no table');
      });
    },
  );
  expect((await testRun(stubborn)).outcome).toBe('failed');
  expect(told).toEqual([
    ['on_retry', null, 1],
    ['on_retry', null, 2],
  ]);
});

test('in a map each item is closed by itself: taken down, undone, and told of', async () => {
  const said: string[] = [];
  const shops = dag<{ shops: string[] }>('shops', { compensate: true }, ({ map, undo, params }) => {
    map('shop', params.shops, ({ item, task }) => {
      const open = task('open', { inputs: { name: item } }, ({ inputs }) => ({ book: `book of ${inputs.name}` }));
      task(
        'count',
        {
          needs: [open],
          hooks: { onFailure: ({ inputs, item: shop }) => void said.push(`${inputs.task} ${String(shop)}`) },
        },
        ({ item: shop }) => {
          if (shop === 'b') throw new PermanentError('rain');
        },
      );
      undo(open, ({ inputs, item: shop }) => void said.push(`undo ${String(shop)}: ${inputs.output.book}`));
      task('close', { teardown: open }, ({ item: shop }) => void said.push(`close ${String(shop)}`));
    });
  });
  const run = await testRun(shops, { params: { shops: ['a', 'b'] } });
  expect(run.outcome).toBe('failed');
  expect(said).toContain('count[1] b');
  expect(said.toSorted()).toEqual(['close a', 'close b', 'count[1] b', 'undo a: book of a', 'undo b: book of b']);
  // What was made is there until what was done with it is undone, or need not be.
  expect(said.indexOf('undo a: book of a')).toBeLessThan(said.indexOf('close a'));
  expect(run.task('count:on_failure[0]').state).toBe('skipped');
});
