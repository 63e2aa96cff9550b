/** What user code asks for, over real sockets and a real database. */
import type { HandlerContext } from '@signalbox/sdk';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { RunningServer } from './start.ts';
import { eventually, type Rig, startRig } from './testing/rig.ts';

let rig: Rig;
let second: RunningServer;
beforeAll(async () => {
  rig = await startRig({ SIGNALBOX_HEARTBEAT_MS: '150', SIGNALBOX_LEASE_MS: '1500' });
  second = await rig.addServer({ SIGNALBOX_HEARTBEAT_MS: '150', SIGNALBOX_LEASE_MS: '1500' });
});
afterAll(() => rig.stop());

async function begin(name: string, task: object): Promise<string> {
  const tasks = [{ name: 'a', handler: name, queue: name, ...task }];
  const deployed = await rig.ask('PUT', `/v1/dags/${name}`, { name, tasks });
  expect([deployed.status, deployed.body.code]).toEqual([200, undefined]);
  return (await rig.ask('POST', `/v1/dags/${name}/runs`, {})).body.id;
}

const taskOf = async (id: string, server?: RunningServer) =>
  (await rig.ask('GET', `/v1/runs/${id}/tasks/a`, undefined, server === undefined ? {} : { server })).body;
const ended = (id: string) => eventually(async () => (await rig.ask('GET', `/v1/runs/${id}`)).body.state === 'ended');

test('a checkpoint is there for the next attempt, on another worker, once it was said to be saved', async () => {
  const parts = async ({ checkpoint, attempt, assertOwned }: HandlerContext) => {
    const done = checkpoint.get<number[]>() ?? [];
    await assertOwned();
    await checkpoint.set([...done, attempt]);
    if (attempt < 3) throw new Error('not yet');
    return checkpoint.get();
  };
  await rig.addWorker({ parts }, { queues: ['parts'], slots: 1 });
  await rig.addWorker({ parts }, { queues: ['parts'], slots: 1 });
  const id = await begin('parts', { retries: { maxAttempts: 3, baseMs: 1, maxMs: 10 } });
  await ended(id);
  expect(await taskOf(id)).toMatchObject({ state: 'succeeded', output: [1, 2, 3], attempt: 3 });
  // It is no output of the run, and no param.
  const rows = await rig.sql(
    `select p.task_no, p.body from payload p join run r using (shard, run_id) where r.uid = '${id}'`,
  );
  expect(new Set(rows.map(({ task_no: no }) => no))).toEqual(new Set([-2, 0]));
});

test('an attempt that the server has given up saves nothing, and is told that the task is not its own (I21)', async () => {
  const refused: unknown[] = [];
  let letGo: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const late = async ({ checkpoint, attempt, assertOwned }: HandlerContext) => {
    if (attempt > 1) return checkpoint.get();
    await checkpoint.set('of the first');
    await held;
    for (const ask of [checkpoint.set('too late'), assertOwned()]) {
      refused.push(
        await ask.then(
          () => 'done',
          (error: { reason: string }) => error.reason,
        ),
      );
    }
  };
  // Its own watch would stop it just as soon: the server's word is what is tried here.
  await rig.addWorker({ late }, { queues: ['late'], timing: { timeoutGraceMs: 60_000 } });
  const id = await begin('late', { timeout: '300ms', retries: { maxAttempts: 2, baseMs: 1, maxMs: 10 } });
  await ended(id);
  expect(await taskOf(id)).toMatchObject({ state: 'succeeded', output: 'of the first', attempt: 2 });
  letGo();
  await eventually(() => refused.length === 2);
  expect(refused).toEqual(['stale', expect.stringMatching(/^(stale|timeout)$/)]);
});

test('how far a running task is shows at every server, and not when it has ended', async () => {
  let finish: () => void = () => undefined;
  const slow = ({ progress }: HandlerContext) => {
    progress(0.25, 'a quarter of the files');
    return new Promise<void>((resolve) => {
      finish = resolve;
    });
  };
  await rig.addWorker({ slow }, { queues: ['slow'] });
  const id = await begin('slow', {});
  for (const server of [rig.servers[0] as RunningServer, second]) {
    await eventually(async () => 'progress' in (await taskOf(id, server)));
    const task = (await taskOf(id, server)) as unknown as { readonly progress: { readonly at: string } };
    expect(task).toMatchObject({ state: 'running', progress: { fraction: 0.25, note: 'a quarter of the files' } });
    expect(Math.abs(Date.now() - Date.parse(task.progress.at))).toBeLessThan(60_000);
  }
  finish();
  await ended(id);
  expect(await taskOf(id)).not.toHaveProperty('progress');
});

test('a class comes with its code, and a server that asks for time gets it', async () => {
  const busy = ({ attempt }: HandlerContext) => {
    if (attempt > 1) return attempt;
    throw Object.assign(new Error('busy'), {
      [Symbol.for('signalbox.failure')]: { class: 'transient', retryAfterMs: 1_500 },
    });
  };
  await rig.addWorker({ busy }, { queues: ['busy'] });
  const id = await begin('busy', { retries: { maxAttempts: 2, baseMs: 1, maxMs: 10 } });
  await ended(id);
  const { attempts } = (await taskOf(id)) as unknown as {
    readonly attempts: readonly { readonly code: string; readonly endedAt: string; readonly claimedAt: string }[];
  };
  expect(attempts.map(({ code }) => code)).toEqual(['error:Error', null]);
  const waited = Date.parse(attempts[1]?.claimedAt ?? '') - Date.parse(attempts[0]?.endedAt ?? '');
  expect(waited).toBeGreaterThanOrEqual(1_500);
});

test('an attempt that asks gets more time than its timeout, of the server and of its worker', async () => {
  const longer = async ({ extend, progress }: HandlerContext) => {
    progress(0.1);
    const leftMs = await extend(30_000);
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    return leftMs;
  };
  await rig.addWorker({ longer }, { queues: ['longer'] });
  const id = await begin('longer', { timeout: '1s' });
  await ended(id);
  const { state, output } = await taskOf(id);
  expect([state, Number(output) > 20_000 && Number(output) <= 30_000]).toEqual(['succeeded', true]);
});

test('what an attempt used is told with it: processor time and memory of a process, nothing of a handler', async () => {
  await rig.addWorker({ quick: () => 1 }, { queues: ['busy-process', 'quick'] });
  // Long enough for a look at its memory.
  const run = `node -e "const held = Buffer.alloc(80_000_000, 1); for (const end = Date.now() + 1_500; Date.now() < end; ); held.at(0)"`;
  const id = await begin('busy-process', { run, handler: undefined });
  await ended(id);
  const { attempts } = (await taskOf(id)) as unknown as { readonly attempts: readonly Measured[] };
  expect(attempts).toHaveLength(1);
  expect(attempts[0]?.cpuMs).toBeGreaterThan(300);
  expect(attempts[0]?.cpuMs).toBeLessThan(20_000);
  expect(attempts[0]?.peakMemoryBytes).toBeGreaterThan(80_000_000);
  expect(attempts[0]?.peakMemoryBytes).toBeLessThan(400_000_000);
  const quick = await begin('quick', {});
  await ended(quick);
  expect(await taskOf(quick)).toMatchObject({ attempts: [{ cpuMs: null, peakMemoryBytes: null }] });
});

interface Measured {
  readonly cpuMs: number | null;
  readonly peakMemoryBytes: number | null;
}
