import { createClient } from '@signalbox/sdk';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually, type Rig, startRig } from '../testing/rig.ts';

let rig: Rig;
/** What the tasks lean on. */
let isBroken = true;
let calls = 0;
beforeAll(async () => {
  rig = await startRig();
  await rig.addWorker({
    lean: ({ params }) => {
      const { row } = params as { row: number };
      calls += 1;
      if (isBroken) throw new Error(`row ${row}: connect ECONNREFUSED 10.0.0.1:5432`);
      return row;
    },
    fail: () => {
      throw new Error('unknown column');
    },
  });
});
afterAll(() => rig.stop());

const client = () => createClient({ url: rig.servers[0]?.url ?? '', token: rig.token });
const dagOf = (name: string, handler: string, more: object = {}) => ({
  name,
  tasks: [{ name: 'a', handler }],
  ...more,
});

async function fails(
  dag: string,
  count: number,
  params: (i: number) => unknown = (row) => ({ row }),
): Promise<string[]> {
  const { ids } = await client().submitMany(
    dag,
    Array.from({ length: count }, (_, i) => ({ params: params(i) })),
  );
  for (const id of ids) expect((await client().waitForRun(id)).outcome).toBe('failed');
  return [...ids];
}

test('what fails for good is listed, grouped, shown, and replayed once (I43)', async () => {
  isBroken = true;
  await client().deployDag(dagOf('letters', 'lean'));
  const runs = await fails('letters', 3);
  const { items } = await client().listDeadLetters({ dag: 'letters' });
  expect(items).toHaveLength(3);
  const [newest] = items;
  expect(newest).toMatchObject({
    dag: 'letters',
    version: 1,
    task: 'a',
    attempt: 1,
    reason: 'retries',
    outcome: 'transient',
  });
  expect(newest?.error).toMatch(/row \d: connect ECONNREFUSED/);
  const pages = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page = await client().listDeadLetters({ dag: 'letters', limit: 1, ...(cursor === '' ? {} : { cursor }) });
    pages.push(...page.items.map(({ id }) => id));
    ({ cursor } = page);
  }
  expect(pages).toEqual(items.map(({ id }) => id));
  const groups = await client().listDeadLetterGroups({ dag: 'letters' });
  expect(groups.items).toMatchObject([{ count: 3, dags: [{ dag: 'letters', versions: [1], count: 3 }] }]);
  const id = newest?.id ?? '';
  const shown = await client().getDeadLetter(id);
  expect(shown).toMatchObject({
    params: { row: expect.any(Number) },
    inputs: [],
    attempts: [{ outcome: 'transient' }],
  });
  expect(await client().getTask(newest?.run ?? '', 'a')).toMatchObject({
    deadLetter: 'retries',
    fingerprint: newest?.fingerprint,
  });

  expect(await client().replayDeadLetter(id, { dryRun: true })).toMatchObject({ dryRun: true, count: 1 });
  isBroken = false;
  const key = { idempotencyKey: 'replay-1' };
  const done = await client().replayDeadLetter(id, key);
  expect(done).toMatchObject({ dryRun: false, count: 1, dags: [{ dag: 'letters', letters: 1, runs: 1, newRuns: 0 }] });
  expect(await client().replayDeadLetter(id, key)).toEqual(done);
  await expect(client().replayDeadLetter(id)).rejects.toMatchObject({ code: 'DEAD_LETTER_CLOSED' });
  expect((await client().waitForRun(newest?.run ?? '')).outcome).toBe('succeeded');
  expect((await client().listDeadLetters({ dag: 'letters', state: 'replayed' })).items).toMatchObject([
    { id, closedBy: 'token:admin' },
  ]);
  expect(runs).toContain(newest?.run);
});

test('a group is replayed as new runs of the version that has the fix, request by request, and nothing twice', async () => {
  isBroken = true;
  await client().deployDag(dagOf('fixed', 'lean'));
  await fails('fixed', 5);
  await client().deployDag(dagOf('fixed', 'lean', { description: 'with the fix' }));
  const [group] = (await client().listDeadLetterGroups({ dag: 'fixed' })).items;
  const filter = { dag: 'fixed', fingerprint: group?.fingerprint ?? '', latest: true };
  expect(await client().replayDeadLetters({ ...filter, dryRun: true })).toMatchObject({
    count: 5,
    dags: [{ dag: 'fixed', letters: 5, runs: 0, newRuns: 5 }],
  });
  expect((await client().listDeadLetters({ dag: 'fixed' })).items).toHaveLength(5);
  isBroken = false;
  calls = 0;
  const first = await client().replayDeadLetters({ ...filter, limit: 3 });
  expect(first).toMatchObject({ count: 3, remaining: 2, refused: [], cursor: expect.any(String) });
  const rest = await client().replayDeadLetters({ ...filter, cursor: first.cursor ?? '' });
  expect(rest).toMatchObject({ count: 2, remaining: 0, cursor: null });
  expect(await client().replayDeadLetters(filter)).toMatchObject({ count: 0, remaining: 0 });
  const closed = (await client().listDeadLetters({ dag: 'fixed', state: 'replayed' })).items;
  const made = await Promise.all(closed.map(({ newRun }) => client().waitForRun(newRun ?? '')));
  expect(made.map(({ outcome, version }) => [outcome, version])).toEqual(
    Array.from({ length: 5 }, () => ['succeeded', 2]),
  );
  expect(new Set(made.map(({ params }) => (params as { row: number }).row)).size).toBe(5);
  expect(calls).toBe(5);
});

test('letters are discarded; a task that is retried by hand closes its own', async () => {
  await client().deployDag(dagOf('tossed', 'fail'));
  const [one = '', , three = ''] = await fails('tossed', 3);
  await client().retryTask(one, 'a');
  const letters = async () => (await client().listDeadLetters({ dag: 'tossed' })).items;
  await eventually(async () => (await letters()).some(({ run, attempt }) => run === one && attempt === 2));
  expect((await letters()).filter(({ run }) => run === one)).toHaveLength(1);
  const id = (await letters()).find(({ run }) => run === three)?.id ?? '';
  expect(await client().discardDeadLetter(id)).toMatchObject({ id, state: 'discarded', closedBy: 'token:admin' });
  await expect(client().discardDeadLetter(id)).rejects.toMatchObject({ code: 'DEAD_LETTER_CLOSED' });
  await expect(client().replayDeadLetter(id)).rejects.toMatchObject({ code: 'DEAD_LETTER_CLOSED' });
  expect(await client().discardDeadLetters({ dag: 'tossed', dryRun: true })).toMatchObject({ count: 2 });
  expect(await client().discardDeadLetters({ dag: 'tossed' })).toMatchObject({ count: 2, remaining: 0 });
  expect(await letters()).toEqual([]);
});

test('of a run that was cancelled since, a letter is refused and stays', async () => {
  await client().deployDag({
    name: 'half',
    tasks: [
      { name: 'a', handler: 'fail' },
      { name: 'b', handler: 'fail', queue: 'nobody' },
    ],
  });
  const { id } = await client().submit('half');
  await eventually(async () => (await client().listDeadLetters({ dag: 'half' })).items.length === 1);
  await client().cancelRun(id);
  const used = await client().replayDeadLetters({ dag: 'half' });
  expect(used).toMatchObject({ count: 0, refused: [{ code: 'RUN_ENDED' }], remaining: 1, cursor: null });
});

test('a dag whose tasks keep failing is held by its breaker, which shows, and is reset (I47)', async () => {
  isBroken = true;
  const breaker = { share: 0.5, minimum: 5, pause: '1h', maxPause: '1h' };
  await client().deployDag(dagOf('held', 'lean', { breaker }));
  await fails('held', 5);
  const { id } = await client().submit('held', { params: { row: 9 } });
  await eventually(async () => (await client().getTask(id, 'a')).heldBy !== null);
  expect(await client().getTask(id, 'a')).toMatchObject({ state: 'ready', heldBy: 'breaker of the dag', attempt: 0 });
  expect((await client().listBreakers({ dag: 'held' })).items).toMatchObject([
    {
      dag: 'held',
      fingerprint: null,
      state: 'open',
      pauseMs: 3_600_000,
      error: expect.stringContaining('ECONNREFUSED'),
    },
  ]);
  isBroken = false;
  await client().resetBreaker({ dag: 'held' });
  expect((await client().waitForRun(id)).outcome).toBe('succeeded');
  await expect(client().resetBreaker({ dag: 'held', fingerprint: '0123456789ab' })).rejects.toMatchObject({
    code: 'BREAKER_NOT_FOUND',
  });
});

test.each([
  ['/v1/dead-letters/nonsense', 400],
  ['/v1/dead-letters/0198c0de-0000-7000-8000-000000000007.0.3', 404],
  ['/v1/dead-letters/0198c0de-0000-7000-8000-0000000000ff.0.3', 404],
  ['/v1/dead-letters/0198c0de-0000-7000-8000-000000000007.9999999999.3', 404],
  ['/v1/dead-letters?cursor=1', 400],
  ['/v1/dead-letters?fingerprint=xyz', 400],
])('%s is answered %i', async (path, status) => {
  expect((await rig.ask('GET', path)).status).toBe(status);
});

test('nobody replays everything by leaving out a filter', async () => {
  expect((await rig.ask('POST', '/v1/dead-letters/replay', {})).status).toBe(400);
  expect((await rig.ask('POST', '/v1/dead-letters/discard', { task: 'a' })).status).toBe(400);
});
