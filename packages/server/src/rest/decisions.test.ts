/** Why tasks went to their workers: told by the engine, stored beside the commits, and read by people. */
import type { DecisionPage } from '@signalbox/protocol';
import { openPostgresStore } from '@signalbox/store';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually, PLAIN_HANDLERS, type Rig, startRig } from '../testing/rig.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
  const tasks = [
    { name: 'first', handler: 'echo', queue: 'placed' },
    { name: 'big', handler: 'echo', queue: 'placed', needs: ['first'], resources: { cpu: 2 } },
  ];
  await rig.ask('PUT', '/v1/dags/placed', { name: 'placed', tasks });
});
afterAll(async () => {
  await rig.stop();
});

const decisionsOf = (run: string, task: string) => rig.read<DecisionPage>(`/v1/runs/${run}/tasks/${task}/decisions`);
const isKept = (run: string, task: string) =>
  eventually(async () => (await decisionsOf(run, task)).items.some(({ known }) => known !== null));
const start = async (dag: string) => (await rig.ask('POST', `/v1/dags/${dag}/runs`, {})).body.id;

test('the workers with room, their scores, and how long it waited; SDK and REST say the same', async () => {
  const unclaimed = await start('placed');
  expect((await decisionsOf(unclaimed, 'big')).items).toEqual([]);
  await rig.ask('POST', `/v1/runs/${unclaimed}/cancel`, {});
  const options = { queues: ['placed'], slots: 4 };
  await rig.addWorker(PLAIN_HANDLERS, { ...options, name: 'small', resources: { cpu: 4 } });
  await rig.addWorker(PLAIN_HANDLERS, { ...options, name: 'large', resources: { cpu: 16 } });
  const run = await start('placed');
  await isKept(run, 'big');
  const page = await decisionsOf(run, 'big');
  const [decision] = page.items;
  expect(decision).toMatchObject({
    attempt: 1,
    workerName: 'small',
    known: {
      kind: 'placed',
      queue: 'placed',
      fitting: 2,
      candidates: [
        { name: 'small', slots: expect.any(Number), room: { cpu: 4_000 } },
        { name: 'large', room: { cpu: 16_000 } },
      ],
    },
  });
  expect(decision?.message).toMatch(
    /^Of 2 workers with room for 2 cpu, Worker small had the best score with 0\.75, and the next one has 0\.938; /,
  );
  expect(decision?.waitedMs).toBe(Date.parse(decision?.claimedAt ?? '') - Date.parse(decision?.readyAt ?? ''));
  expect(decision?.waitedMs).toBeGreaterThanOrEqual(0);
  expect(await rig.client().listDecisions(run, 'big')).toEqual(page);
});

test('what was looked at is removed after a day, and what the run tells stays', async () => {
  const run = await start('placed');
  await isKept(run, 'big');
  const store = await openPostgresStore({ url: rig.databaseUrl });
  await rig.sql(`update claim_decision set decided_at = decided_at - interval '23 hours'`);
  expect(await store.dropOldDecisions()).toBe(false);
  expect((await decisionsOf(run, 'big')).items[0]?.known).not.toBeNull();
  await rig.sql(`update claim_decision set decided_at = decided_at - interval '2 hours'`);
  await store.dropOldDecisions();
  await store.close();
  const [decision] = (await decisionsOf(run, 'big')).items;
  expect(decision).toMatchObject({ attempt: 1, workerName: 'small', known: null, claimedAt: expect.any(String) });
  expect(decision?.message).toMatch(/^Worker small got it\. What else was looked at is not known/);
});

test('what holds a task is told as of its claim: the slot that it waited for, and the limits that had room (I65)', async () => {
  await rig.ask('PUT', '/v1/limits/pool:db', { slots: 3 });
  const tasks = [{ name: 'one', handler: 'echo', queue: 'later', pool: { name: 'db', slots: 2 } }];
  await rig.ask('PUT', '/v1/dags/later', { name: 'later', tasks });
  const run = await start('later');
  await eventually(
    async () => (await rig.read<{ code: string }>(`/v1/runs/${run}/tasks/one/why`)).code === 'no_worker',
  );
  await rig.sql('select pg_sleep(1.1)');
  await rig.addWorker(PLAIN_HANDLERS, { queues: ['later'], slots: 1, name: 'late' });
  await isKept(run, 'one');
  const [decision] = (await decisionsOf(run, 'one')).items;
  expect(decision?.known).toMatchObject({
    kind: 'turn',
    tenants: 1,
    limits: [{ limit: 'pool:db', takes: 2, free: expect.any(Number) }],
    slotCameFree: true,
  });
  expect(decision?.message).toMatch(
    /^Worker late was the only one with a free slot\. It was claimed .* after it was ready, when a slot of the worker came free\. These limits had room: pool:db \(2 of [23] free\)\.$/,
  );
  // Another tenant finds nothing of it, not even that it is there.
  await rig.ask('POST', '/v1/tenants', { name: 'other' });
  const { body } = await rig.ask('POST', '/v1/tokens', { name: 'spy', role: 'admin', tenant: 'other' });
  const headers = { authorization: `Bearer ${(body as unknown as { token: string }).token}` };
  expect((await rig.ask('GET', `/v1/runs/${run}/tasks/one/decisions`, undefined, { headers })).status).toBe(404);
});
