import { expect, test } from 'vitest';
import { dag } from '../dag/dag.ts';
import { PermanentError, RetryAfter } from '../handler.ts';
import { nextWindows, runTask, scheduleFault, takes, testRun } from './index.ts';

const coffee = dag<{ cups: number }>(
  'coffee',
  { schedule: { cron: '0 7 * * *', zone: 'Europe/Berlin' } },
  ({ task, params }) => {
    const grind = task('grind', ({ params, log }) => {
      log.info('grinding', { cups: params.cups });
      return { grams: 16 * params.cups, at: new Date(0) };
    });
    const brew = task(
      'brew',
      { inputs: { grams: grind.output.grams, cups: params.cups }, timeout: '30s', retries: { maxAttempts: 3 } },
      async ({ inputs }) => `${inputs.cups} cups of ${inputs.grams} g`,
    );
    task(
      'serve',
      { inputs: { what: brew.output } },
      ({ inputs, upstream }) => `${inputs.what}, ${String(upstream.brew)}`,
    );
  },
);

test('a run goes through the dag, and hands on what JSON leaves of outputs', async () => {
  const run = await testRun(coffee, { params: { cups: 2 } });
  expect(run.outcome).toBe('succeeded');
  expect(run.task('grind').output).toEqual({ grams: 32, at: '1970-01-01T00:00:00.000Z' });
  expect(run.task('serve').output).toBe('2 cups of 32 g, 2 cups of 32 g');
  expect(run.task('grind').log).toEqual([{ level: 'info', message: 'grinding', fields: { cups: 2 } }]);
  expect(run.attempts.map(({ task }) => task)).toEqual(['grind', 'brew', 'serve']);
  expect(run.elapsedMs).toBe(0);
  expect(() => run.task('brwe')).toThrow('the tasks are grind, brew, serve');
});

test('a stub stands in for a task, and gets what the task would', async () => {
  const run = await testRun(coffee, {
    params: { cups: 2 },
    stubs: { brew: ({ inputs, attempt }) => [inputs, attempt] },
  });
  expect(run.task('brew').output).toEqual([{ grams: 32, cups: 2 }, 1]);
});

test('a failure is tried again after its backoff, by a clock that jumps', async () => {
  const run = await testRun(coffee, {
    params: { cups: 1 },
    now: '2026-05-01T00:00:00Z',
    stubs: {
      brew: ({ attempt }) => {
        if (attempt < 3) throw new Error(`no water ${attempt}`);
        return 'coffee';
      },
    },
  });
  expect(run.outcome).toBe('succeeded');
  expect(run.startedAt).toEqual(new Date('2026-05-01T00:00:00Z'));
  expect(run.task('brew').attempts.map(({ outcome }) => outcome)).toEqual(['transient', 'transient', 'succeeded']);
  const [first, second, third] = run.task('brew').attempts;
  const waits = [second, third].map((attempt, i) => Number(attempt?.startedAt) - Number([first, second][i]?.endedAt));
  expect(waits[0]).toBeLessThanOrEqual(1_000);
  expect(waits[1]).toBeLessThanOrEqual(2_000);
  expect(run.elapsedMs).toBe(waits.reduce((sum, ms) => sum + ms, 0));
  expect(run.elapsedMs).toBeGreaterThan(0);
});

test('hours of backoff take no time', async () => {
  const retries = { maxAttempts: 5, minMs: 3_600_000, baseMs: 3_600_000, maxMs: 7_200_000 };
  const patient = dag('patient', ({ task }) => {
    task('wait', { retries }, ({ attempt }) => {
      if (attempt < 5) throw new Error('not yet');
      return 'now';
    });
  });
  const began = performance.now();
  const run = await testRun(patient);
  expect(run.task('wait').output).toBe('now');
  expect(run.elapsedMs).toBeGreaterThanOrEqual(4 * 3_600_000);
  expect(performance.now() - began).toBeLessThan(60_000);
});

test('chance is drawn from the seed', async () => {
  const fail = {
    brew: () => {
      throw new Error('no');
    },
  };
  const spans = await Promise.all(
    [1, 1, 2].map(async (seed) => (await testRun(coffee, { params: { cups: 1 }, seed, stubs: fail })).elapsedMs),
  );
  expect(spans[0]).toBe(spans[1]);
  expect(spans[0]).not.toBe(spans[2]);
});

test('failures look as in production', async () => {
  const run = await testRun(coffee, {
    params: { cups: 1 },
    stubs: {
      brew: () => {
        throw new PermanentError('no beans');
      },
    },
  });
  expect(run.outcome).toBe('failed');
  expect(run.tasks.map(({ name, state }) => [name, state])).toEqual([
    ['grind', 'succeeded'],
    ['brew', 'failed'],
    ['serve', 'upstream_failed'],
  ]);
  expect(run.task('brew').attempts.map(({ outcome }) => outcome)).toEqual(['permanent']);
  expect(run.task('brew').error).toMatchObject({ message: 'no beans' });
  expect(run.task('serve').attempts).toEqual([]);
});

test('a timeout ends an attempt that takes longer, and fires its signal', async () => {
  const slow = await testRun(coffee, { params: { cups: 1 }, stubs: { brew: takes('29s', 'done') } });
  expect(slow.outcome).toBe('succeeded');
  expect(slow.elapsedMs).toBe(29_000);
  const late = await testRun(coffee, { params: { cups: 1 }, stubs: { brew: takes('31s', 'done') } });
  expect(late.task('brew').attempts.map(({ outcome }) => outcome)).toEqual(['timeout', 'timeout', 'timeout']);
  expect(late.task('brew').state).toBe('failed');

  const signals: AbortSignal[] = [];
  const hanging = await testRun(coffee, {
    params: { cups: 1 },
    patienceMs: 20,
    stubs: {
      brew: ({ signal }) => {
        signals.push(signal);
        return new Promise(() => {});
      },
    },
  });
  expect(hanging.task('brew').state).toBe('failed');
  expect(hanging.elapsedMs).toBeGreaterThanOrEqual(90_000);
  expect(signals.map(({ aborted, reason }) => [aborted, reason?.reason])).toEqual(Array(3).fill([true, 'timeout']));
});

test('a function that hangs and has no timeout is named', async () => {
  const stuck = testRun(coffee, { params: { cups: 1 }, patienceMs: 20, stubs: { grind: () => new Promise(() => {}) } });
  await expect(stuck).rejects.toThrow('Task grind has not settled, and has no timeout');
});

test('tasks side by side end in their own time, and limits hold', async () => {
  const wide = dag('wide', { maxActiveTasks: 2 }, ({ task }) => {
    const all = [3, 1, 2].map((s) => task(`t${s}`, () => s));
    task('end', { needs: all, queue: 'other' }, () => 'end');
  });
  const stubs = { t1: takes('1s', 1), t2: takes('2s', 2), t3: takes('3s', 3) };
  const run = await testRun(wide, { stubs });
  expect(run.attempts.map(({ task }) => task)).toEqual(['t1', 't3', 't2', 'end']);
  expect(run.elapsedMs).toBe(3_000); // t2 waits for the place of t1
});

test('a schedule makes no runs of its own beside the one that is tried', async () => {
  let starts = 0;
  const often = dag('often', { schedule: { cron: '* * * * *' }, maxActiveRuns: 5 }, ({ task }) => {
    const first = task('first', () => 1);
    task('second', { needs: [first] }, () => ++starts);
  });
  const run = await testRun(often, { stubs: { first: takes('10m', 1) } });
  expect([run.outcome, run.attempts.length, starts]).toEqual(['succeeded', 2, 1]);
});

test('what is outside needs a stub, and a stub needs a task', async () => {
  const etl = dag('etl', ({ process, http }) => {
    const extract = process('extract', { run: 'psql' });
    http('tell', { url: 'https://example.com', needs: [extract] });
  });
  await expect(testRun(etl)).rejects.toThrow('Task extract is a process, which a test does not run');
  await expect(testRun(etl, { stubs: { extract: () => 1 } })).rejects.toThrow('Task tell is an HTTP call');
  await expect(testRun(etl, { stubs: { load: () => 1 } })).rejects.toThrow('There is no task load to stub');
  const run = await testRun(etl, { stubs: { extract: () => 1, tell: () => ({ status: 200 }) } });
  expect(run.outcome).toBe('succeeded');
});

test('inputs that lead to nothing, outputs that are no JSON, and secrets that nobody gave fail the task', async () => {
  const bad = dag<{ day?: string }>('bad', ({ task, params }) => {
    task('input', { inputs: { day: params.day } }, () => 1);
    task('output', () => 10n as unknown as number);
    task('unnamed', (context) => context.secret('KEY'));
    task('absent', { secrets: ['KEY'], retries: { maxAttempts: 5 } }, (context) => context.secret('KEY'));
    task('present', { secrets: ['OTHER'] }, (context) => context.secret('OTHER').length);
  });
  const run = await testRun(bad, { params: {}, secrets: { OTHER: 'abc' } });
  expect(
    run.tasks.map(({ name, attempts, error }) => [name, attempts.length, (error as Error | null)?.message]),
  ).toEqual([
    ['input', 1, expect.stringContaining('submitted without it')],
    ['output', 1, expect.stringContaining('not JSON')],
    ['unnamed', 1, expect.stringContaining('does not list the secret')],
    ['absent', 1, expect.stringContaining('no secret KEY')],
    ['present', 1, undefined],
  ]);
});

test('one function can be called by itself', async () => {
  expect(await runTask(coffee, 'brew', { inputs: { grams: 3, cups: 1 } })).toBe('1 cups of 3 g');
  expect(await runTask(coffee, 'brew', { params: { cups: 2 }, upstream: { grind: { grams: 5 } } })).toBe(
    '2 cups of 5 g',
  );
  await expect(runTask(coffee, 'brew', { params: { cups: 2 } })).rejects.toThrow('Input grams leads to nothing');
  await expect(runTask(coffee, 'nothing')).rejects.toThrow('There is no task nothing');
});

test('a definition from YAML is tried with stubs for what it calls', async () => {
  const run = await testRun(
    {
      name: 'y',
      tasks: [
        { name: 'a', function: 'y/a' },
        { name: 'b', handler: 'b', inputs: { x: '${{ tasks.a.output }}' } },
      ],
    },
    { stubs: { a: () => 7, b: ({ inputs }) => inputs.x + 1 } },
  );
  expect(run.task('b').output).toBe(8);
});

test('the windows of a schedule go by its zone, also through a clock change', () => {
  expect(nextWindows(coffee, '2026-03-28T00:00:00Z', 3).map((at) => at.toISOString())).toEqual([
    '2026-03-28T06:00:00.000Z',
    '2026-03-29T05:00:00.000Z',
    '2026-03-30T05:00:00.000Z',
  ]);
  expect(scheduleFault({ cron: '61 * * * *' })).toMatchObject({
    field: 'cron',
    message: expect.stringContaining('61'),
  });
  expect(scheduleFault({ cron: '* * * * *', zone: 'Mars/Base' })).toMatchObject({ field: 'zone' });
  expect(scheduleFault({ cron: '0 0 30 2 *' })).toMatchObject({
    field: 'cron',
    message: expect.stringContaining('never fires'),
  });
  expect(scheduleFault({ cron: '0 0 * * *' })).toBeNull();
  const none = dag('none', ({ task }) => void task('a', () => 1));
  expect(() => nextWindows(none, new Date(), 1)).toThrow('has no schedule');
});

test('what one attempt saves the next one finds; a retry waits as long as its error asks for', async () => {
  const resumed = dag('resumed', ({ task }) => {
    task(
      'work',
      { retries: { maxAttempts: 3, baseMs: 1, maxMs: 1 } },
      async ({ checkpoint, attempt, progress, assertOwned }) => {
        const before = checkpoint.get<number[]>() ?? [];
        progress(attempt / 3, `attempt ${attempt}`);
        await assertOwned();
        await checkpoint.set([...before, attempt]);
        if (attempt < 3) throw new RetryAfter(60_000, 'later');
        return checkpoint.get();
      },
    );
  });
  const run = await testRun(resumed);
  expect(run.task('work').output).toEqual([1, 2, 3]);
  expect(run.elapsedMs).toBeGreaterThanOrEqual(120_000);
  expect(run.task('work').attempts[1]?.progress).toEqual([{ fraction: 2 / 3, note: 'attempt 2' }]);
});

test('an attempt that was given up saves nothing any more', async () => {
  let late: Promise<void> | null = null;
  const slow = dag('slow', ({ task }) => {
    task('work', { timeout: '1s' }, ({ checkpoint, signal }) => {
      signal.addEventListener('abort', () => {
        late = checkpoint.set('late');
      });
      return new Promise(() => undefined);
    });
  });
  const run = await testRun(slow, { patienceMs: 10 });
  expect(run.outcome).toBe('failed');
  await expect(late).rejects.toMatchObject({ reason: 'stale' });
});

test('one task by itself begins with a checkpoint, and tells what it saves', async () => {
  const counts = dag('counts', ({ task }) => {
    task('count', async ({ checkpoint }) => {
      await checkpoint.set((checkpoint.get<number>() ?? 0) + 1);
    });
  });
  const saved: unknown[] = [];
  await runTask(counts, 'count', { checkpoint: 41, onCheckpoint: (value) => saved.push(value) });
  expect(saved).toEqual([42]);
});

test('an attempt gets more time than its timeout gives, when it asks for it', async () => {
  const long = dag('long', ({ task }) => {
    task('work', { timeout: '10s' }, (): unknown => null);
  });
  const work: Parameters<typeof testRun>[1] = {
    stubs: { work: async (context) => takes('30s', await context.extend(60_000))(context) },
  };
  const run = await testRun(long, work);
  expect(run.outcome).toBe('succeeded');
  expect(run.task('work').output).toBe(60_000);
  expect(run.elapsedMs).toBe(30_000);
});

test('the time of a whole task counts over its attempts', async () => {
  const slow = dag('slow', ({ task }) => {
    task('work', { totalTimeout: '50s', retries: { maxAttempts: 9, baseMs: 0 } }, () => 'done');
  });
  const again = () => {
    throw new Error('again');
  };
  const run = await testRun(slow, { stubs: { work: takes('30s', again) } });
  expect(run.task('work').state).toBe('failed');
  expect(run.elapsedMs).toBe(50_000);
});
