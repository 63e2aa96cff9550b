/** A scripted case for each reason why a task does not run, through the real server and workers. */
import type { TaskWhy, WhyCode } from '@signalbox/protocol';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually, type Rig, startRig } from '../testing/rig.ts';

let rig: Rig;
const held: (() => void)[] = [];
beforeAll(async () => {
  rig = await startRig();
  const hold = () => new Promise<void>((resolve) => held.push(resolve));
  const fail = () => {
    throw new Error('on purpose');
  };
  await rig.addWorker({ hold, fail }, { slots: 20, queues: ['default'] });
  await rig.addWorker({ hold }, { slots: 1, queues: ['small'] });
});
afterAll(async () => {
  await rig.stop();
});

const work = (more: object = {}) => ({ name: 'work', handler: 'hold', ...more });

async function deploy(name: string, tasks: readonly object[], more: object = {}): Promise<void> {
  const deployed = await rig.ask('PUT', `/v1/dags/${name}`, { name, tasks, ...more });
  expect([deployed.status, deployed.body.code]).toEqual([200, undefined]);
}

async function submit(name: string, body: object = {}): Promise<string> {
  const { status, body: answer } = await rig.ask('POST', `/v1/dags/${name}/runs`, body);
  expect([status, answer.code]).toEqual([201, undefined]);
  return answer.id;
}

/** Deploys a dag of one task, and submits so many runs of it. */
async function runs(name: string, task: object, count = 1, more: object = {}): Promise<string[]> {
  await deploy(name, [work(task)], more);
  const ids: string[] = [];
  for (let i = 0; i < count; i++) ids.push(await submit(name));
  return ids;
}

const whyOf = (run: string, task = 'work') => rig.read<TaskWhy>(`/v1/runs/${run}/tasks/${task}/why`);
const codesOf = ({ chain }: TaskWhy) => chain.map(({ code }) => code);

/** Waits until the chain is as expected. */
async function expectChain(run: string, codes: readonly WhyCode[], task = 'work'): Promise<TaskWhy> {
  let seen: TaskWhy | undefined;
  await eventually(async () => {
    seen = await whyOf(run, task);
    return JSON.stringify(codesOf(seen)) === JSON.stringify(codes);
  }).catch(() => expect(seen === undefined ? [] : codesOf(seen)).toEqual(codes));
  return seen!;
}

const isRunning = (run: string) => eventually(async () => (await whyOf(run)).state === 'running');

test('a task that runs, or has ended, waits for nothing', async () => {
  const [id] = await runs('running', {});
  await isRunning(id!);
  expect(await whyOf(id!)).toMatchObject({ code: null, chain: [], message: 'The task is running.', suggestion: null });
  expect((await rig.ask('GET', `/v1/runs/${id}/tasks/other/why`)).body.code).toBe('TASK_NOT_FOUND');
});

test('run_queued', async () => {
  const [first, second] = await runs('one-run', {}, 2, { maxActiveRuns: 1 });
  await isRunning(first!);
  const why = await expectChain(second!, ['run_queued']);
  expect(why.suggestion).toContain('Raise maxActiveRuns of dag one-run');
});

test('run_key', async () => {
  await deploy('keyed', [work()], { concurrency: { key: '${{ params.of }}', limit: 1 } });
  const first = await submit('keyed', { params: { of: 'a' } });
  const second = await submit('keyed', { params: { of: 'a' } });
  expect((await expectChain(second, ['run_key'])).message).toContain(first);
});

/** Runs of its windows, the oldest first, once there are so many. */
async function windowRuns(dag: string, count: number): Promise<string[]> {
  let ids: string[] = [];
  await eventually(async () => {
    const { items } = await rig.read<{ items: { id: string }[] }>(`/v1/runs?dag=${dag}&limit=100`);
    ids = items.map(({ id }) => id).reverse();
    return ids.length >= count;
  });
  // No more of them: the tests beside this one need the slots.
  await rig.ask('POST', `/v1/dags/${dag}/pause`, {});
  return ids;
}

test('requires', async () => {
  await deploy('up', [work()]);
  const schedule = { every: '1s', requires: [{ dag: 'up', within: '1h' }], wait: '1h' };
  await deploy('needy', [work()], { schedule });
  const [id] = await windowRuns('needy', 1);
  const why = await expectChain(id!, ['requires']);
  expect(why.message).toContain('up');
  expect(why.suggestion).toContain('signalbox dags show needy');
});

test('past', async () => {
  await deploy('ledger', [work({ dependsOnPast: true })], { schedule: { every: '1s' } });
  const [first, second] = await windowRuns('ledger', 2);
  await isRunning(first!);
  const why = await expectChain(second!, ['past']);
  expect(why.suggestion).toContain(`signalbox runs show ${first}`);
});

test('run_paused and task_paused', async () => {
  await deploy('paused', [work({ queue: 'nobody' })]);
  const id = await submit('paused');
  await rig.ask('POST', `/v1/runs/${id}/tasks/work/pause`, {});
  expect((await expectChain(id, ['task_paused', 'no_worker'])).until).toBeNull();
  await rig.ask('POST', `/v1/runs/${id}/pause`, {});
  expect((await expectChain(id, ['run_paused', 'task_paused', 'no_worker'])).message).toContain('The run is paused');
});

test('frozen', async () => {
  await deploy('icy', [work({ queue: 'nobody' })]);
  await rig.ask('PUT', '/v1/freezes/dag:icy', { reason: 'an incident' });
  const id = await submit('icy');
  const why = await expectChain(id, ['frozen', 'no_worker']);
  expect(why.predictedStart).toBeNull();
  expect(why.message).toContain('an incident');
});

test('suspended', async () => {
  await rig.ask('POST', '/v1/tenants', { name: 'asleep' });
  const made = await rig.ask('POST', '/v1/tokens', { name: 'op', role: 'operator', tenant: 'asleep' });
  const headers = { authorization: `Bearer ${(made.body as unknown as { token: string }).token}` };
  const ask = (method: string, path: string, body?: unknown) => rig.ask(method, path, body, { headers });
  await ask('PUT', '/v1/dags/d', { name: 'd', tasks: [work()] });
  const { id } = (await ask('POST', '/v1/dags/d/runs', {})).body;
  await rig.ask('POST', '/v1/tenants/asleep/suspend', { reason: 'unpaid' });
  await eventually(async () => {
    const { chain } = (await ask('GET', `/v1/runs/${id}/tasks/work/why`)).body as unknown as TaskWhy;
    return chain.some(({ code }) => code === 'suspended');
  });
});

test('upstream: the chain goes on with what holds the task that it waits for', async () => {
  await deploy('chained', [
    work({ name: 'a', queue: 'nobody' }),
    work({ name: 'b', needs: ['a'] }),
    work({ name: 'c', needs: ['b'] }),
  ]);
  const id = await submit('chained');
  const why = await expectChain(id, ['upstream', 'upstream', 'no_worker'], 'c');
  expect(why.chain.map(({ task }) => task)).toEqual(['c', 'b', 'a']);
  expect(why).toMatchObject({ task: 'c', state: 'blocked', ahead: null, predictedStart: null });
  expect(why.suggestion).toBe('Start a worker for the queue: signalbox worker --queues nobody');
});

test('closing', async () => {
  await deploy('closes', [work(), work({ name: 'clean', teardown: ['work'] })]);
  await expectChain(await submit('closes'), ['upstream'], 'clean');
});

test('retry: with the time of the next attempt as the predicted start', async () => {
  const [id] = await runs('retries', {
    handler: 'fail',
    retries: { maxAttempts: 3, baseMs: 3_600_000, maxMs: 3_600_000 },
  });
  const why = await expectChain(id!, ['retry']);
  expect(why.predictedStart).toEqual({ at: why.until, basis: 'What holds it ends by itself then.' });
  expect(why.suggestion).toContain(`signalbox runs retry ${id} work`);
});

test('given_up and upstream_failed', async () => {
  await deploy('broken', [work({ handler: 'fail' }), work({ name: 'after', needs: ['work'] })]);
  const id = await submit('broken');
  await expectChain(id, ['given_up']);
  expect((await expectChain(id, ['upstream_failed'], 'after')).suggestion).toContain(`signalbox runs retry ${id}`);
});

test('skipped', async () => {
  await deploy('skips', [work({ when: 'params.go == true' })]);
  await expectChain(await submit('skips', { params: { go: false } }), ['skipped']);
});

test('breaker', async () => {
  const [id] = await runs('fuse', { handler: 'fail', retries: { maxAttempts: 9, baseMs: 1, maxMs: 1 } }, 1, {
    breaker: { minimum: 1, pause: '1h', maxPause: '1h' },
  });
  expect((await expectChain(id!, ['breaker'])).suggestion).toContain('signalbox breakers reset fuse');
});

test('pool_missing, pool_too_small and pool_full', async () => {
  const [missing] = await runs('no-pool', { pool: { name: 'lake' } });
  expect((await expectChain(missing!, ['pool_missing'])).suggestion).toBe(
    'Set the pool: signalbox limits set pool:lake <slots>',
  );
  await rig.ask('PUT', '/v1/limits/pool:lake', { slots: 1 });
  await isRunning(missing!);
  const [large] = await runs('large', { pool: { name: 'lake', slots: 2 } });
  await expectChain(large!, ['pool_too_small']);
  const [next] = await runs('next', { pool: { name: 'lake' } });
  expect((await expectChain(next!, ['pool_full'])).message).toContain(`one by work of run ${missing} (dag no-pool)`);
});

test('cap_full', async () => {
  await rig.ask('PUT', '/v1/limits/queue:capped', { slots: 0 });
  const [id] = await runs('capped', { queue: 'capped' });
  await expectChain(id!, ['cap_full', 'no_worker']);
});

test('task_limit, run_limit and limit', async () => {
  const [first, second] = await runs('one-task', { maxActive: 1 }, 2);
  await isRunning(first!);
  await expectChain(second!, ['task_limit']);
  await deploy('of-run', [work(), work({ name: 'other' })], { maxActiveTasksPerRun: 1 });
  const id = await submit('of-run');
  await isRunning(id);
  await expectChain(id, ['run_limit'], 'other');
  const [one, two] = await runs('of-dag', {}, 2, { maxActiveTasks: 1 });
  await isRunning(one!);
  expect((await expectChain(two!, ['limit'])).suggestion).toBe('Raise maxActiveTasks of dag of-dag.');
});

test('rate: with the time at which the next attempt may start', async () => {
  const [first, second] = await runs('rated', { rate: { limit: 1, per: '1h' } }, 2);
  await isRunning(first!);
  const why = await expectChain(second!, ['rate']);
  expect(why.message).toBe('Task work has started as many attempts as its rate allows: at most 1 per 1h.');
  expect(why.predictedStart?.at).toBe(why.until);
  const seen = await rig.read<{ why: { code: string } }>(`/v1/runs/${second}`);
  expect(seen.why.code).toBe('rate');
  const { items } = await rig.read<{ items: unknown[] }>('/v1/blockers');
  expect(items).toContainEqual(expect.objectContaining({ code: 'rate', subject: 'dag:rated task:work', count: 1 }));
});

test('no_worker, workers_busy and position; set-priority moves the task to the front', async () => {
  const [lonely] = await runs('lonely', { queue: 'nobody-else' });
  await expectChain(lonely!, ['no_worker']);
  const [first, second, third] = await runs('busy', { queue: 'small' }, 3);
  await isRunning(first!);
  expect(await expectChain(second!, ['workers_busy'])).toMatchObject({ ahead: 0 });
  const why = await expectChain(third!, ['position', 'workers_busy']);
  expect(why).toMatchObject({ ahead: 1, message: 'Position 2: 1 task of queue "small" goes first.' });
  expect(why.predictedStart?.basis).toMatch(/^1 task goes first, and queue "small" starts \S+ tasks a minute\.$/);
  await rig.client().setPriority(third!, 'high');
  await expectChain(third!, ['workers_busy']);
  await expectChain(second!, ['position', 'workers_busy']);
});

test('child', async () => {
  await deploy('called', [work({ queue: 'nobody' })]);
  await deploy('caller', [{ name: 'work', dag: 'called' }]);
  expect((await expectChain(await submit('caller'), ['child'])).suggestion).toContain('signalbox why ');
});
