/** Tasks that add tasks to their run, over real sockets and a real database. */
import type { HandlerContext } from '@signalbox/sdk';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually, type Rig, startRig } from './testing/rig.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await startRig({ SIGNALBOX_HEARTBEAT_MS: '150', SIGNALBOX_LEASE_MS: '1500' });
});
afterAll(() => rig.stop());

type Handler = (context: HandlerContext) => unknown;

/** `plan` may add tasks of `load` and `shell`; `sum` needs it. */
async function begin(name: string, plan: Handler, more: object = {}): Promise<string> {
  const load: Handler = ({ inputs }) => ({ rows: String(inputs.file).length });
  const sum: Handler = ({ upstream }) => upstream;
  await rig.addWorker({ plan, load, sum }, { queues: [name] });
  const deployed = await rig.ask('PUT', `/v1/dags/${name}`, {
    name,
    templates: [
      { name: 'load', handler: 'load', queue: name, inputs: { file: 'none' } },
      { name: 'shell', run: 'printf \'"%s"\' "$INPUT_word" > "$SIGNALBOX_OUTPUT"', queue: name },
    ],
    tasks: [
      { name: 'plan', handler: 'plan', queue: name, adds: true, ...more },
      { name: 'sum', handler: 'sum', queue: name, needs: ['plan'] },
    ],
  });
  expect([deployed.status, deployed.body.code]).toEqual([200, undefined]);
  return (await rig.ask('POST', `/v1/dags/${name}/runs`, {})).body.id;
}

const get = async (path: string) =>
  (await rig.ask('GET', path, undefined, { headers: { accept: 'application/json' } })).body as unknown as Record<
    string,
    unknown
  >;
const ended = (id: string) => eventually(async () => (await get(`/v1/runs/${id}`)).state === 'ended');

test('what a task adds runs behind it, is seen in the run by name, and what waits for it gets its output', async () => {
  const id = await begin(
    'grow',
    async ({ addTasks, attempt }) => {
      await addTasks([
        { name: 'a', template: 'load', inputs: { file: 'a.csv' }, before: ['sum'] },
        { name: `only-${attempt}`, template: 'load' },
        { name: 'b', template: { name: 'shell' }, inputs: { word: "it's" }, needs: ['a'], before: ['sum'] },
      ]);
      if (attempt === 1) throw new Error('not yet');
      return 'planned';
    },
    { retries: { maxAttempts: 2, baseMs: 1, maxMs: 10 } },
  );
  await ended(id);
  expect(await get(`/v1/runs/${id}`)).toMatchObject({ outcome: 'succeeded' });
  const { items } = (await get(`/v1/runs/${id}/tasks`)) as { items: readonly Record<string, unknown>[] };
  expect(items.map(({ name, state, addedBy }) => [name, state, addedBy])).toEqual([
    ['plan', 'succeeded', null],
    ['sum', 'succeeded', null],
    ['a', 'succeeded', 'plan'],
    ['only-1', 'skipped', 'plan'],
    ['b', 'succeeded', 'plan'],
    ['only-2', 'succeeded', 'plan'],
  ]);
  const task = await get(`/v1/runs/${id}/tasks/sum`);
  expect(task.output).toEqual({ plan: 'planned', a: { rows: 5 }, b: "it's" });
  expect(await get(`/v1/runs/${id}/tasks/only-2`)).toMatchObject({ output: { rows: 4 }, attempt: 1 });
  const { items: events } = (await get(`/v1/events?run=${id}&from=start&kind=tasks.added,tasks.dropped`)) as {
    items: readonly { kind: string; task: string; details: unknown }[];
  };
  expect(events.map(({ kind, task: by, details }) => [kind, by, details])).toEqual([
    ['tasks.added', 'plan', { tasks: ['a', 'only-1', 'b'] }],
    ['tasks.added', 'plan', { tasks: ['a', 'b', 'only-2'] }],
    ['tasks.dropped', 'plan', { tasks: ['only-1'] }],
  ]);
});

test('an added task that fails has a letter, a log and events under its name, and is retried by hand', async () => {
  let isBroken = true;
  const name = 'letters';
  const load: Handler = ({ log }) => {
    log.info('a line of it');
    if (isBroken)
      throw Object.assign(new Error('broken'), { [Symbol.for('signalbox.failure')]: { class: 'permanent' } });
    return 'mended';
  };
  const plan: Handler = ({ addTasks }) => addTasks([{ name: 'part', template: 'load', before: ['sum'] }]);
  await rig.addWorker({ plan, load, sum: () => null }, { queues: [name] });
  await rig.ask('PUT', `/v1/dags/${name}`, {
    name,
    templates: [{ name: 'load', handler: 'load', queue: name }],
    tasks: [
      { name: 'plan', handler: 'plan', queue: name, adds: true },
      { name: 'sum', handler: 'sum', queue: name, needs: ['plan'] },
    ],
  });
  const { id } = (await rig.ask('POST', `/v1/dags/${name}/runs`, {})).body;
  await ended(id);
  expect(await get(`/v1/runs/${id}`)).toMatchObject({ outcome: 'failed' });
  const { items: letters } = (await get(`/v1/dead-letters?dag=${name}`)) as { items: readonly { task: string }[] };
  expect(letters.map(({ task }) => task)).toEqual(['part']);
  await eventually(async () => JSON.stringify(await get(`/v1/runs/${id}/log`)).includes('a line of it'));
  expect(JSON.stringify(await get(`/v1/runs/${id}/tasks/part/attempts/1/log`))).toContain('a line of it');
  const { items: events } = (await get(`/v1/events?run=${id}&from=start&kind=attempt.claimed`)) as {
    items: readonly { task: string }[];
  };
  expect(events.map(({ task }) => task)).toEqual(['plan', 'part']);
  isBroken = false;
  expect((await rig.ask('POST', `/v1/runs/${id}/tasks/part/retry`)).status).toBe(200);
  await ended(id);
  expect(await get(`/v1/runs/${id}`)).toMatchObject({ outcome: 'succeeded' });
  expect(await get(`/v1/runs/${id}/tasks/part`)).toMatchObject({ output: 'mended', attempt: 2, addedBy: 'plan' });
});

test('what can not be added fails the task for good, with what to do, and adds nothing', async () => {
  const id = await begin(
    'refused',
    async ({ addTasks }) =>
      addTasks([
        { name: 'a', template: 'load' },
        { name: 'b', template: 'nope' },
      ]),
    { retries: { maxAttempts: 3, baseMs: 1, maxMs: 10 } },
  );
  await ended(id);
  const plan = await get(`/v1/runs/${id}/tasks/plan`);
  expect(plan).toMatchObject({ state: 'failed', attempt: 1 });
  expect(JSON.stringify(plan)).toContain(
    "The task b can't be added: the dag has no template nope; it has load, shell.",
  );
  const { items } = (await get(`/v1/runs/${id}/tasks`)) as { items: readonly unknown[] };
  expect(items).toHaveLength(2);
});

test('a run that has ended is opened again with what was added to it: cleared, it is added anew', async () => {
  let file = 'first.csv';
  const id = await begin('again', async ({ addTasks }) => {
    await addTasks([{ name: 'a', template: 'load', inputs: { file }, before: ['sum'] }]);
  });
  await ended(id);
  file = 'second-try.csv';
  const cleared = await rig.ask('POST', `/v1/runs/${id}/clear`, { tasks: ['plan'], downstream: true });
  expect(cleared.status).toBe(200);
  await ended(id);
  expect(await get(`/v1/runs/${id}/tasks/a`)).toMatchObject({ attempt: 2, output: { rows: file.length } });
  expect((await get(`/v1/runs/${id}/tasks/sum`)).output).toEqual({ a: { rows: file.length } });
});
