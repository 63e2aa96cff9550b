import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AnyBody, eventually, type Rig, startRig } from '../testing/rig.ts';

let rig: Rig;
const broken = new Set<string>();
const seen: { task: string; item: unknown; index: number; inputs: unknown; effectKey: string; map: unknown }[] = [];

beforeAll(async () => {
  rig = await startRig();
  await rig.addWorker({
    list: () => ({ files: ['a', 'b', 'c'] }),
    note: ({ task, item, index, inputs, effectKey, map, log }) => {
      seen.push({ task, item, index, inputs, effectKey, map });
      log.info(`for ${JSON.stringify(item)}`);
      if (broken.has(String(item))) throw new Error(`${String(item)} is broken`);
      return { name: `${String(item)}!`, parts: [1, 2] };
    },
    many: () => Array.from({ length: 1_200 }, (_, no) => no),
    quick: ({ index }) => index,
    sum: ({ inputs }) => inputs,
  });
});
afterAll(() => rig.stop());

type MappedBody = AnyBody & {
  readonly name: string;
  readonly map: unknown;
  readonly group: string | null;
  readonly instances: { total: number; states: Record<string, number> } | null;
  readonly error: string | null;
};

async function start(definition: {
  name: string;
  tasks: object[];
  groups?: object[];
  maxMapSize?: number;
}): Promise<string> {
  const deployed = await rig.ask('PUT', `/v1/dags/${definition.name}`, definition);
  expect(deployed.status, JSON.stringify(deployed.body)).toBeLessThan(300);
  return (await rig.ask('POST', `/v1/dags/${definition.name}/runs`, {})).body.id;
}

async function ended(id: string): Promise<string | null> {
  await eventually(async () => (await rig.ask('GET', `/v1/runs/${id}`)).body.outcome !== null);
  return (await rig.ask('GET', `/v1/runs/${id}`)).body.outcome;
}

const tasksOf = async (id: string, query = '') =>
  (await rig.ask('GET', `/v1/runs/${id}/tasks${query}`)).body as unknown as {
    items: MappedBody[];
    cursor: string | null;
  };

const nested = {
  name: 'nested',
  groups: [{ name: 'each', map: '${{ tasks.list.output.files }}' }],
  tasks: [
    { name: 'list', handler: 'list' },
    { name: 'fetch', handler: 'note', group: 'each', inputs: { file: '${{ item }}', no: '${{ index }}' } },
    {
      name: 'part',
      handler: 'note',
      group: 'each',
      map: '${{ tasks.fetch.output.parts }}',
      inputs: { of: '${{ tasks.fetch.output.name }}', file: '${{ groups.each.item }}' },
    },
    {
      name: 'sum',
      handler: 'sum',
      inputs: { files: '${{ tasks.fetch.output.name }}', parts: '${{ tasks.part.output.name }}' },
    },
  ],
};

test('a map in a map runs for each item, and what comes behind it gets one list in order (I34, I36)', async () => {
  seen.length = 0;
  const id = await start(nested);
  expect(await ended(id)).toBe('succeeded');
  const { body: sum } = await rig.ask('GET', `/v1/runs/${id}/tasks/sum`);
  expect(sum.output).toEqual({ files: ['a!', 'b!', 'c!'], parts: ['1!', '2!', '1!', '2!', '1!', '2!'] });
  const part = seen.find(({ task, map }) => task === 'part' && JSON.stringify(map).includes('"item":"b"'));
  expect(part).toMatchObject({ inputs: { of: 'b!', file: 'b' } });
  expect(new Set(seen.map(({ effectKey }) => effectKey)).size).toBe(9);

  const { body: run } = await rig.ask('GET', `/v1/runs/${id}`);
  const tasks = run.tasks as unknown as MappedBody[];
  expect(tasks.map(({ name, state, instances }) => [name, state, instances])).toEqual([
    ['list', 'succeeded', null],
    ['fetch', expect.any(String), { total: 3, states: { succeeded: 3 } }],
    ['part', expect.any(String), { total: 6, states: { succeeded: 6 } }],
    ['sum', 'succeeded', null],
  ]);
});

test('instances have names that can be asked for, and are listed by state and group in pages', async () => {
  const id = await start(nested);
  await ended(id);
  const { body: one } = await rig.ask('GET', `/v1/runs/${id}/tasks/${encodeURIComponent('part[1][0]')}`);
  expect(one).toMatchObject({
    name: 'part[1][0]',
    group: 'part',
    map: [
      { group: 'each', index: 1 },
      { group: 'part', index: 0 },
    ],
    instances: null,
    state: 'succeeded',
    output: { name: '1!' },
  });
  for (const none of ['part[1][2]', 'part[3]', 'list[0]', 'part[0][0][0]', 'nothing[1]', 'part[x]']) {
    expect((await rig.ask('GET', `/v1/runs/${id}/tasks/${encodeURIComponent(none)}`)).body.code).toBe('TASK_NOT_FOUND');
  }
  const names: string[] = [];
  for (let cursor: string | null = '0'; cursor !== null; ) {
    const page = await tasksOf(id, `?limit=4&cursor=${cursor}`);
    expect(page.items.length).toBeLessThanOrEqual(4);
    names.push(...page.items.map(({ name }) => name));
    cursor = page.cursor;
  }
  expect(names.slice(0, 4)).toEqual(['list', 'fetch', 'part', 'sum']);
  expect(names).toContain('fetch[2]');
  expect(names).toContain('part[2][1]');
  expect(new Set(names).size).toBe(names.length);
  const parts = await tasksOf(id, '?group=part&state=succeeded&limit=100');
  expect(parts.items.filter(({ name }) => name.startsWith('part[') && name.split('[').length === 3)).toHaveLength(6);
  expect((await tasksOf(id, '?group=elsewhere')).items).toEqual([]);
  const log = await rig.ask('GET', `/v1/runs/${id}/tasks/${encodeURIComponent('fetch[2]')}/attempts/1/log`);
  expect(JSON.stringify(log.body)).toContain('for \\\\\\"c\\\\\\"');
  const all = await rig.ask('GET', `/v1/runs/${id}/log`);
  expect(JSON.stringify(all.body)).toContain('"task":"part[0][1]"');
});

test('one failed instance fails what needs all of them, is found by its state, and can be retried by its name', async () => {
  broken.add('b');
  const id = await start({
    name: 'partly',
    tasks: [
      { name: 'list', handler: 'list' },
      { name: 'load', handler: 'note', map: '${{ tasks.list.output.files }}' },
      { name: 'sum', handler: 'sum', inputs: { names: '${{ tasks.load.output.name }}' } },
      { name: 'some', handler: 'sum', rule: 'all_done', inputs: { names: '${{ tasks.load.output.name }}' } },
    ],
  });
  expect(await ended(id)).toBe('failed');
  const failed = await tasksOf(id, '?state=failed');
  expect(failed.items.find(({ name }) => name === 'load[1]')?.error).toContain('b is broken');
  const { body: some } = await rig.ask('GET', `/v1/runs/${id}/tasks/some`);
  expect(some.output).toEqual({ names: ['a!', null, 'c!'] });
  broken.clear();
  const retried = await rig.ask('POST', `/v1/runs/${id}/tasks/${encodeURIComponent('load[1]')}/retry`);
  expect(retried.body).toMatchObject({ task: 'load[1]' });
  await eventually(async () => (await rig.ask('GET', `/v1/runs/${id}`)).body.outcome === 'succeeded');
  const { body: sum } = await rig.ask('GET', `/v1/runs/${id}/tasks/sum`);
  expect(sum.output).toEqual({ names: ['a!', 'b!', 'c!'] });
});

test('a map of 1,200 hands its outputs on by reference, and too many items fail it with what to do (I34)', async () => {
  const tasks = [
    { name: 'many', handler: 'many' },
    { name: 'quick', handler: 'quick', map: '${{ tasks.many.output }}' },
    { name: 'sum', handler: 'sum', inputs: { all: '${{ tasks.quick.output }}' } },
  ];
  const id = await start({ name: 'many', tasks });
  expect(await ended(id)).toBe('succeeded');
  const { body: sum } = await rig.ask('GET', `/v1/runs/${id}/tasks/sum`);
  expect(sum.output).toEqual({ all: Array.from({ length: 1_200 }, (_, no) => no) });
  const small = await start({ name: 'too-many', tasks, maxMapSize: 1_000 });
  expect(await ended(small)).toBe('failed');
  const { body: quick } = await rig.ask('GET', `/v1/runs/${small}/tasks/quick`);
  expect((quick as MappedBody).error).toMatch(/1,200 items; the limit is 1,000/);
});
