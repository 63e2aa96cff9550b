import { createClient } from '@signalbox/sdk';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Rig, startRig } from '../testing/rig.ts';

let rig: Rig;
const broken = new Set<string>();
const counts = new Map<string, number>();
beforeAll(async () => {
  rig = await startRig();
  await rig.addWorker({
    work: ({ task, run }: { task: string; run: string }) => {
      const key = `${run}/${task}`;
      counts.set(key, (counts.get(key) ?? 0) + 1);
      if (broken.has(task)) throw new Error('on purpose');
      return { of: task, no: counts.get(key) };
    },
  });
});
afterAll(() => rig.stop());

const client = () => createClient({ url: rig.servers[0]?.url ?? '', token: rig.token });
const chain = (name: string, ...tasks: string[]) => ({
  name,
  tasks: tasks.map((task, i) => ({ name: task, handler: 'work', ...(i > 0 && { needs: [tasks[i - 1]!] }) })),
});
const states = async (run: string) =>
  Object.fromEntries((await client().getRun(run)).tasks.map(({ name, state }) => [name, state]));

async function ended(dag: ReturnType<typeof chain>): Promise<string> {
  await client().deployDag(dag);
  const { id } = await client().submit(dag.name, { params: { n: 1 } });
  await client().waitForRun(id);
  return id;
}

test('what failed is cleared after a look; the run goes on, and tells who did it (I32, I37)', async () => {
  broken.add('b');
  const id = await ended(chain('clear', 'a', 'b', 'c'));
  expect(await states(id)).toEqual({ a: 'succeeded', b: 'failed', c: 'upstream_failed' });
  const reasons = (await client().getRun(id)).tasks.map(({ reason }) => reason);
  expect(reasons[2]).toContain('these tasks did not succeed: b');
  broken.delete('b');
  const dry = await client().clearTasks(id, { states: ['failed'], dryRun: true });
  expect(dry).toMatchObject({ run: id, dryRun: true, reopened: true, count: 2 });
  expect((await client().getRun(id)).state).toBe('ended');
  const done = await client().clearTasks(id, { states: ['failed'] });
  expect(done.tasks).toMatchObject([
    { task: 'b', before: 'failed', after: 'ready', how: 'cleared', stopped: null },
    { task: 'c', before: 'upstream_failed', after: 'blocked', how: 'decided' },
  ]);
  const run = await client().waitForRun(id);
  expect(run).toMatchObject({ outcome: 'succeeded', reopenedBy: 'token:admin' });
  expect(run.tasks[1]).toMatchObject({ attempt: 2, cleared: { by: 'token:admin' }, marked: null });
  expect(run.tasks[1]?.attempts.map(({ outcome }) => outcome)).toEqual(['transient', 'succeeded']);
});

test('a task that succeeded runs again, and its output is replaced (I36)', async () => {
  const id = await ended(chain('again', 'a', 'b'));
  expect((await client().getRun(id)).tasks[0]?.output).toEqual({ of: 'a', no: 1 });
  await client().clearTasks(id, { tasks: ['a'] });
  const run = await client().waitForRun(id);
  expect(run.tasks.map(({ output }) => output)).toEqual([
    { of: 'a', no: 2 },
    { of: 'b', no: 2 },
  ]);
  expect(run.tasks[0]?.attempts).toHaveLength(2);
});

test('a failed task is marked with an output, a reason and who said so; an unknown one is refused', async () => {
  broken.add('m');
  const id = await ended(chain('mark', 'm', 'n'));
  await expect(client().markTasks(id, { tasks: ['zz'], as: 'failed' })).rejects.toMatchObject({
    code: 'TASK_NOT_FOUND',
  });
  const bad = client().markTasks(id, { tasks: ['m'], as: 'skipped', output: 1 });
  await expect(bad).rejects.toMatchObject({ code: 'BAD_REQUEST' });
  await client().markTasks(id, { tasks: ['m'], as: 'succeeded', output: { rows: 3 }, reason: 'by hand' });
  const run = await client().waitForRun(id);
  expect(run.outcome).toBe('succeeded');
  expect(run.tasks[0]).toMatchObject({
    state: 'succeeded',
    output: { rows: 3 },
    reason: 'by hand',
    marked: { by: 'token:admin' },
  });
  expect(run.tasks[0]?.attempts).toMatchObject([{ attempt: 1, outcome: 'transient' }]);
});

test('nothing of a paused run starts, and of a paused task; both show who and since when', async () => {
  const [a, b] = chain('held', 'a', 'b').tasks;
  await client().deployDag({ name: 'held', tasks: [{ ...a!, queue: 'nobody' }, b!] });
  const { id } = await client().submit('held');
  await client().pauseTask(id, 'b');
  await client().pauseRun(id);
  const run = await client().getRun(id);
  expect(run.paused).toMatchObject({ by: 'token:admin', until: null });
  expect(run.tasks[1]?.paused).toMatchObject({ by: 'token:admin' });
  await client().markTasks(id, { tasks: ['a'], as: 'succeeded' });
  expect(await states(id)).toEqual({ a: 'succeeded', b: 'ready' });
  await client().resumeRun(id);
  expect(await client().getTask(id, 'b')).toMatchObject({ state: 'ready', attempt: 0 });
  await client().resumeTask(id, 'b');
  expect(await client().waitForRun(id)).toMatchObject({ outcome: 'succeeded', paused: null });
  await expect(client().pauseRun(id)).rejects.toMatchObject({ code: 'RUN_ENDED' });
});

test('a run is made again, in its own version or the newest; the same key makes one (I11, I35)', async () => {
  const id = await ended(chain('rerun', 'a'));
  await client().deployDag(chain('rerun', 'x', 'y'));
  const same = await client().rerun(id, {}, { idempotencyKey: 'once' });
  expect(same).toMatchObject({ rerunOf: id, version: 1 });
  expect(await client().rerun(id, {}, { idempotencyKey: 'once' })).toEqual(same);
  expect(await client().waitForRun(same.id)).toMatchObject({ version: 1, params: { n: 1 }, outcome: 'succeeded' });
  const latest = await client().rerun(id, { version: 'latest', params: { n: 2 } });
  expect(await client().waitForRun(latest.id)).toMatchObject({ version: 2, params: { n: 2 }, outcome: 'succeeded' });
});

test('failed tasks of many runs are cleared in pages', async () => {
  broken.add('p');
  await client().deployDag(chain('pages', 'p'));
  const { ids } = await client().submitMany('pages', [{}, {}, {}]);
  for (const id of ids) await client().waitForRun(id);
  broken.delete('p');
  const seen: string[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page = await client().clearRuns('pages', { states: ['failed'], limit: 2, ...(cursor !== '' && { cursor }) });
    expect(page.items.every(({ count, reopened, refused }) => count === 1 && reopened && refused === null)).toBe(true);
    seen.push(...page.items.map(({ run }) => run));
    cursor = page.cursor;
  }
  expect(seen.sort()).toEqual([...ids].sort());
  for (const id of ids) expect((await client().waitForRun(id)).outcome).toBe('succeeded');
});

test('one task is cancelled; the run counts it as failed', async () => {
  await client().deployDag({ name: 'stop', tasks: [{ name: 'a', handler: 'work', queue: 'nobody' }] });
  const { id } = await client().submit('stop');
  expect(await client().cancelTask(id, 'a', { reason: 'no use' })).toMatchObject({ tasks: [{ how: 'cancelled' }] });
  const run = await client().waitForRun(id);
  expect(run).toMatchObject({ outcome: 'failed', tasks: [{ state: 'cancelled', reason: 'no use', attempts: [] }] });
  await expect(client().clearTasks(id, {})).rejects.toMatchObject({ code: 'BAD_REQUEST' });
});

test('a dry run of a cancel, and of a new run as this one was, tells and changes nothing', async () => {
  const spec = chain('look', 'a', 'b');
  await client().deployDag({
    ...spec,
    tasks: spec.tasks.map((task, i) => (i === 0 ? { ...task, queue: 'nobody' } : task)),
    hooks: { after: { handler: 'work' } },
  });
  const { id } = await client().submit('look', { params: { n: 1 } });
  expect(await client().previewCancel(id)).toMatchObject({
    run: id,
    dryRun: true,
    tasks: [
      { task: 'a', after: 'cancelled', how: 'cancelled' },
      { task: 'b', after: 'cancelled', how: 'cancelled' },
      { task: 'run:after', before: 'blocked', after: 'ready', how: 'closes' },
    ],
  });
  expect((await client().getRun(id)).state).toBe('open');
  const preview = await client().previewRerun(id, { params: { n: 2 } });
  expect(preview).toEqual({ dryRun: true, rerunOf: id, dag: 'look', version: 1, priority: 'normal', params: { n: 2 } });
  expect((await client().listRuns({ dag: 'look' })).items).toHaveLength(1);
  await client().cancelRun(id);
  expect((await client().waitForRun(id)).outcome).toBe('cancelled');
});

test('the runs that a run has made are listed by their parent, page by page, and nobody else finds them there', async () => {
  await client().deployDag(chain('called', 'a'));
  await client().deployDag({
    name: 'calls',
    tasks: [
      { name: 'each', dag: 'called', map: [1, 2, 3], inputs: { n: '${{ item }}' } },
      { name: 'one', dag: 'called' },
    ],
  });
  const { id } = await client().submit('calls');
  await client().waitForRun(id);
  await client().submit('called');
  const first = await client().listRuns({ parent: id, limit: 3 });
  const second = await client().listRuns({ parent: id, limit: 3, cursor: first.cursor! });
  const all = [...first.items, ...second.items];
  expect(second.cursor).toBe(null);
  expect(all.map(({ parent }) => parent?.run)).toEqual([id, id, id, id]);
  expect(all.filter(({ parent }) => parent?.task === 'each')).toHaveLength(3);
  expect((await client().listRuns({ parent: id, outcome: 'failed' })).items).toEqual([]);
  expect((await client().listRuns({ parent: all[0]!.id })).items).toEqual([]);
  await expect(client().listRuns({ parent: '0198c0de-0000-7000-8000-000000000007' })).rejects.toMatchObject({
    code: 'RUN_NOT_FOUND',
  });
});
