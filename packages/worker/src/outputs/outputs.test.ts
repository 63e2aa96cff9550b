import { status } from '@grpc/grpc-js';
import { afterEach, expect, test } from 'vitest';
import { assignmentOf } from '../scripted-gateway.ts';
import { startBody, workOf } from '../test-rig.ts';

type Rig = Awaited<ReturnType<typeof startBody>>;
let rig: Rig | null = null;
afterEach(() => {
  rig = null;
});

const references = [
  { taskName: 'big', id: 'id-big', bytes: 300_000 },
  { taskName: 'other', id: 'id-other', bytes: 300_000 },
];
const big = JSON.stringify({ rows: Array.from({ length: 60_000 }, (_, no) => no) });
const inputs = { rows: { from: 'task', task: 'big', path: ['rows', 7] } };
const work = (shape: object) => JSON.stringify({ kind: 'handler', ...shape });

const handlers = {
  seen: ({ inputs: given, upstream }: { inputs: object; upstream: Record<string, unknown> }) => [
    given,
    Object.keys(upstream).sort(),
  ],
  looks: ({ upstream }: { upstream: Record<string, unknown> }) => upstream.other,
  large: () => 'x'.repeat(1_000_000),
};

async function start(): Promise<Rig> {
  rig = await startBody({ handlers });
  rig.data.outputs.set('id-big', big);
  rig.data.outputs.set('id-other', '"other"');
  return rig;
}

test('what inputs name is fetched before the handler is called, and nothing else', async () => {
  const { data, run } = await start();
  const report = await run(assignmentOf(1, { handler: 'seen', work: work({ inputs }), references }));
  expect(report).toMatchObject({ outcome: 'succeeded', output: '[{"rows":7},["big"]]' });
  expect(data.outputFetches).toEqual(['id-big']);
});

test('a handler without inputs gets all of them', async () => {
  const { data, run } = await start();
  const report = await run(assignmentOf(1, { handler: 'seen', references }));
  expect(report).toMatchObject({ outcome: 'succeeded', output: '[{},["big","other"]]' });
  expect(data.outputFetches).toEqual(['id-big', 'id-other']);
});

test('looking at a large output that was not fetched says what to do', async () => {
  const { run } = await start();
  const report = await run(assignmentOf(1, { handler: 'looks', work: work({ inputs }), references }));
  expect(report).toMatchObject({ outcome: 'permanent', error: expect.stringContaining('name it under inputs') });
});

test('a data service that is away is asked again; one that refuses is not', async () => {
  const { data, run } = await start();
  data.outputFaults.push(status.UNAVAILABLE);
  const order = (id: number) => assignmentOf(id, { handler: 'seen', work: work({ inputs }), references });
  expect(await run(order(1))).toMatchObject({ outcome: 'succeeded' });
  data.outputFaults.push(status.FAILED_PRECONDITION);
  expect(await run(order(2))).toMatchObject({ outcome: 'permanent', error: expect.stringContaining('no such output') });
  expect(data.outputFetches).toHaveLength(3);
});

test('more than an attempt may be given fails it, and says so (I56)', async () => {
  const { data, run } = await start();
  const much = [{ taskName: 'big', id: 'id-big', bytes: 100 * 1024 * 1024 }];
  const report = await run(assignmentOf(1, { handler: 'seen', references: much }));
  expect(report).toMatchObject({ outcome: 'permanent', error: expect.stringContaining('more than 67108864 bytes') });
  expect(data.outputFetches).toEqual([]);
});

test('a large output is stored whole before its report, which says where', async () => {
  const { data, run } = await start();
  data.outputFaults.push(status.UNAVAILABLE);
  const report = await run(assignmentOf(1, { handler: 'large', taskName: 'maker' }));
  expect(report).toMatchObject({ outcome: 'succeeded', output: '@maker-0' });
  expect(data.stored[0]?.json).toBe(JSON.stringify('x'.repeat(1_000_000)));
});

test('a large output that can not be stored fails the attempt', async () => {
  const { data, run } = await start();
  data.outputFaults.push(status.INVALID_ARGUMENT);
  const report = await run(assignmentOf(1, { handler: 'large' }));
  expect(report).toMatchObject({
    outcome: 'permanent',
    output: '',
    error: expect.stringContaining('can not be stored'),
  });
});

test('references in texts, and within inputs, are fetched as well; a process gets no others', async () => {
  const { data, run } = await start();
  const source = { from: 'task', task: 'big', path: ['rows', 3] } as const;
  const env = { fill: { 'env.ROW': { text: ['row ', source] } }, env: { ROW: '' } };
  const shell = { kind: 'process' as const, run: 'echo "\\"$ROW\\"" > "$SIGNALBOX_OUTPUT"', ...env };
  expect(await run(workOf(shell, { references }))).toMatchObject({ outcome: 'succeeded', output: '"row 3"' });
  const within = { from: 'template', template: { list: [{ source }] } } as const;
  const nested = work({ inputs: { all: within } });
  const report = await run(assignmentOf(9_001, { handler: 'seen', work: nested, references }));
  expect(report).toMatchObject({ outcome: 'succeeded', output: '[{"all":[3]},["big"]]' });
  expect(await run(workOf({ kind: 'process', run: 'true' }, { references }))).toMatchObject({ outcome: 'succeeded' });
  expect(data.outputFetches).toEqual(['id-big', 'id-big']);
});

test('processes and functions in children may return as much', async () => {
  const { data, run } = await start();
  const text = 'y'.repeat(400_000);
  const print = `node -e "require('fs').writeFileSync(process.env.SIGNALBOX_OUTPUT, JSON.stringify('y'.repeat(400000)))"`;
  expect(await run(workOf({ kind: 'process', run: print }))).toMatchObject({ output: '@t-0' });
  const bundle = data.add(
    `export const functions = { big: () => 'y'.repeat(400000), sees: ({ upstream }) => upstream.big.rows.length };`,
  );
  expect(await run(workOf({ kind: 'function' }, { handler: 'big', bundle }))).toMatchObject({ output: '@t-1' });
  expect(data.stored.map(({ json }) => json === JSON.stringify(text))).toEqual([true, true]);
  const sees = workOf({ kind: 'function' }, { handler: 'sees', bundle, references });
  expect(await run(sees)).toMatchObject({ outcome: 'succeeded', output: '60000' });
});
