import type { DagSpec, RunId, SendAssignment, TaskNo, TaskOutputs } from '@signalbox/engine';
import { expect, test } from 'vitest';
import { type Inputs, itemKeys, largeItemKeys, mapPlaces } from './map-items.ts';
import { MapLists } from './map-lists.ts';
import { numberAt, numbersOf } from './output-numbers.ts';
import { packOutputs, unpackOutputs } from './output-seal.ts';
import { upstreamKeys, upstreamOf } from './upstream.ts';

const runId = 65_536 as RunId;
const task = { handler: 'h', queue: 'q', needs: [], retry: {}, timeoutMs: null };
const spec = {
  tasks: [
    { ...task, name: 'list', facts: [['files'], []] },
    { ...task, name: 'load', group: 0 },
    { ...task, name: 'sum', needs: [1] },
  ],
  groups: [
    { name: 'load', parent: null, map: { over: [{ from: 'task', task: 0, fact: 0 }], mode: 'product' } },
    {
      name: 'cross',
      parent: null,
      map: {
        over: [
          { name: 'file', from: 'task', task: 0, fact: 0 },
          { name: 'day', from: 'params', fact: 0 },
          { name: 'n', from: 'list', length: 2, items: ['a', 'b'] },
        ],
        mode: 'product',
      },
    },
    { name: 'again', parent: null, map: { over: [{ from: 'task', task: 1, fact: 1 }], mode: 'product' } },
  ],
  paramFacts: [['days']],
} as unknown as DagSpec;

function effectOf(map: SendAssignment['map'], succeededUpstream: readonly number[] = []): SendAssignment {
  const version = { spec, task: (no: TaskNo) => spec.tasks[no] };
  const claim = { runId, taskNo: 7, attemptNo: 1, fence: 3 };
  return { kind: 'SendAssignment', claim, shard: 0, version, map, succeededUpstream } as unknown as SendAssignment;
}

const nameOf = ({ taskNo, large }: Parameters<Inputs>[0]) => (large === undefined ? `${taskNo}` : `#${large}`);
const inputsOf =
  (texts: Readonly<Record<string, string>>): Inputs =>
  (key) =>
    texts[nameOf(key)] ?? null;
const place = (group: number, index: number, picks: number[], sources: (TaskOutputs | null)[]) => ({
  group,
  index,
  total: 9,
  picks,
  sources,
});
const list: TaskOutputs = { of: 'task', no: 0 };
const seal = (_shard: unknown, _claim: unknown, text: string) => text;

test('an instance gets its item of an output, of params and of a written list', () => {
  const effect = effectOf({
    places: [place(0, 1, [1], [list]), place(1, 3, [0, 1, 1], [list, null, null])],
    upstream: [],
  });
  expect(itemKeys(effect)).toEqual([
    { runId, taskNo: 0 },
    { runId, taskNo: 0 },
  ]);
  const inputs = inputsOf({ 0: '{"files":[{"p":1},{"p":2}]}', null: '{"days":["mon","tue"]}' });
  expect(mapPlaces(effect, inputs, new MapLists())).toEqual([
    { group: 'load', index: 1, item: '{"p":2}' },
    { group: 'cross', index: 3, item: '{"file":{"p":1},"day":"tue","n":"b"}' },
  ]);
});

test('a list of 100,000 is parsed once, and again when there is another one in its place (I36)', () => {
  const files = Array.from({ length: 100_000 }, (_, no) => no);
  const lists = new MapLists();
  const item = (text: string, index: number) =>
    mapPlaces(effectOf({ places: [place(0, index, [index], [list])], upstream: [] }), inputsOf({ 0: text }), lists)[0]
      ?.item;
  const text = JSON.stringify({ files });
  const began = process.cpuUsage();
  for (let index = 0; index < 100_000; index++)
    if (item(text, index) !== String(index)) throw new Error('another item');
  const { user, system } = process.cpuUsage(began);
  expect(lists.parsedCount).toBe(1);
  expect((user + system) / 1_000).toBeLessThan(5_000);
  expect(item('{"files":["new"]}', 0)).toBe('"new"');
  expect(lists.parsedCount).toBe(2);
});

test('what is kept of lists has a limit, and the one used last stays', () => {
  const lists = new MapLists();
  const text = `["${'x'.repeat(9 * 1024 * 1024)}"]`;
  for (let no = 0; no < 5; no++) lists.get(runId, no, text, () => text);
  expect([0, 1, 2, 3, 4].map((no) => lists.has(runId, no, text))).toEqual([false, false, true, true, true]);
});

test('a large list is asked for once it is known where it is, and not again while it is known', () => {
  const effect = effectOf({ places: [place(0, 1, [1], [list])], upstream: [] });
  const lists = new MapLists();
  const inputs = inputsOf({ 0: '@-1000000005:300000', '#-1000000005': '{"files":["a","b"]}' });
  expect(largeItemKeys(effect, inputs, lists)).toEqual([{ runId, taskNo: 0, large: -1_000_000_005 }]);
  expect(mapPlaces(effect, inputs, lists)[0]?.item).toBe('"b"');
  expect(largeItemKeys(effect, inputs, lists)).toEqual([]);
});

const instances: TaskOutputs = {
  of: 'instances',
  ranges: [
    { from: 10, step: 2, count: 3 },
    { from: 30, step: 1, count: 1 },
  ],
  except: [12],
};

test('a map over a mapped task has the output of one instance as its item', () => {
  expect([0, 1, 2, 3, 4].map((at) => numberAt(instances, at))).toEqual([10, null, 14, 30, null]);
  const item = (index: number) => {
    const effect = effectOf({ places: [place(2, index, [index], [instances])], upstream: [] });
    return mapPlaces(effect, inputsOf({ 10: '[1]', 30: '"x"' }), new MapLists())[0]?.item;
  };
  expect([item(0), item(1), item(3)]).toEqual(['[1]', 'null', '"x"']);
});

test('what instances have returned is one list, in order, with null for those that have nothing to see (I36)', () => {
  const effect = effectOf({ places: [], upstream: [instances] }, [1]);
  expect(upstreamKeys(effect).map(({ taskNo }) => taskNo)).toEqual([10, 14, 30]);
  const { upstream, references } = upstreamOf(effect, inputsOf({ 10: '1', 12: '"hidden"', 30: '{}' }), { seal });
  expect(upstream).toEqual([{ taskName: 'load', output: '[1,null,null,{}]' }]);
  expect(references).toEqual([]);
  const empty = effectOf({ places: [], upstream: [{ of: 'instances', ranges: [], except: [] }] }, [1]);
  expect(upstreamOf(empty, inputsOf({}), { seal }).upstream).toEqual([{ taskName: 'load', output: '[]' }]);
});

test('what many instances have returned, or large things, goes by reference to just those', () => {
  const many: TaskOutputs = { of: 'instances', ranges: [{ from: 10, step: 2, count: 100_000 }], except: [12, 500] };
  const effect = effectOf({ places: [], upstream: [many] }, [1]);
  expect(upstreamKeys(effect)).toEqual([]);
  const { upstream, references } = upstreamOf(effect, inputsOf({}), { seal });
  expect(upstream).toEqual([]);
  expect(references[0]?.id.length).toBeLessThan(100);
  expect(unpackOutputs(references[0]?.id ?? '')).toEqual(many);
  const few = effectOf({ places: [], upstream: [instances] }, [1]);
  const large = upstreamOf(few, inputsOf({ 14: '@-1000000009:5000000' }), { seal });
  expect(large.references).toMatchObject([{ taskName: 'load' }]);
  expect([...numbersOf(instances)]).toEqual([10, null, 14, 30]);
  expect(unpackOutputs(packOutputs({ of: 'task', no: 3 }))).toEqual({ of: 'task', no: 3 });
});
