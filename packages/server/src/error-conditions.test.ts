/** Conditions on why a task failed, over real sockets and a real database. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually, type Rig, startRig } from './testing/rig.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await startRig({ SIGNALBOX_HEARTBEAT_MS: '150', SIGNALBOX_LEASE_MS: '1500' });
});
afterAll(() => rig.stop());

const get = async (path: string) =>
  (await rig.ask('GET', path, undefined, { headers: { accept: 'application/json' } })).body as unknown as {
    state: string;
    tasks: readonly { name: string; state: string; reason: string | null }[];
  };

test('the class and the code of a failure choose what runs after it, and readers see the same', async () => {
  await rig.addWorker({ work: () => 1 }, { queues: ['why'] });
  const after = (name: string, when: string) => ({ name, handler: 'work', queue: 'why', rule: 'one_failed', when });
  const deployed = await rig.ask('PUT', '/v1/dags/why', {
    name: 'why',
    tasks: [
      { name: 'load', run: 'exit 3', queue: 'why', exitCodes: { 3: 'permanent' } },
      { name: 'waits', handler: 'work', queue: 'nobody', queueTimeout: '1s' },
      after('by-code', "tasks.load.error.code == 'exit:3'"),
      after('by-class', "tasks.load.error.class in ['timeout', 'lost']"),
      after('by-queue', "tasks.waits.error.code == 'timeout:queue' && tasks.waits.error.class == 'timeout'"),
    ],
  });
  expect([deployed.status, deployed.body.code]).toEqual([200, undefined]);
  const { id } = (await rig.ask('POST', '/v1/dags/why/runs', {})).body;
  await eventually(async () => (await get(`/v1/runs/${id}`)).state === 'ended');
  const { tasks } = await get(`/v1/runs/${id}`);
  expect(tasks.map(({ name, state, reason }) => [name, state, reason])).toEqual([
    ['load', 'failed', null],
    ['waits', 'failed', null],
    ['by-code', 'succeeded', null],
    ['by-class', 'skipped', "Its condition is false: tasks.load.error.class in ['timeout', 'lost']"],
    ['by-queue', 'succeeded', null],
  ]);
});

test('a class that does not exist is refused with its place', async () => {
  const refused = await rig.ask('PUT', '/v1/dags/why-not', {
    name: 'why-not',
    tasks: [
      { name: 'load', handler: 'work' },
      { name: 'next', handler: 'work', rule: 'one_failed', when: "tasks.load.error.class == 'timeot'" },
    ],
  });
  expect(refused.status).toBe(422);
  expect(JSON.stringify(refused.body)).toMatch(/tasks\[1\]\.when.*timeot.*is no class of an error/);
});
