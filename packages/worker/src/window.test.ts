/** What a task is told about the window of its run: functions, handlers, processes, templates, Python. */
import type { HandlerContext } from '@signalbox/sdk';
import { expect, test } from 'vitest';
import { startBody, workOf } from './test-rig.ts';

const [AT, START] = ['2027-03-15T00:00:00.000Z', '2027-03-14T00:00:00.000Z'];
const runInfo = JSON.stringify({ createdAt: AT, priority: 'normal', window: AT, windowStart: START });

const shown =
  'printf \'"%s %s %s"\' "$SIGNALBOX_WINDOW_START" "$SIGNALBOX_WINDOW_END" "$SIGNALBOX_WINDOW_AT" > "$SIGNALBOX_OUTPUT"';

test.each([
  ['a run for a window', runInfo, `${START} ${AT} ${AT}`],
  ['a run on demand', '', '  '],
  ['a run for a window, told by a server that knows no start', JSON.stringify({ window: AT }), `${AT} ${AT} ${AT}`],
])('a process of %s has its window as variables', async (_, info, expected) => {
  const { run } = await startBody({ environment: { PATH: process.env.PATH } });
  const report = await run(workOf({ kind: 'process', run: shown }, { runInfo: info }));
  expect(report).toMatchObject({ outcome: 'succeeded', error: '', output: JSON.stringify(expected) });
});

test('references lead to the window, as inputs and within texts', async () => {
  const { run } = await startBody({ environment: { PATH: process.env.PATH } });
  const field = (name: 'window.at' | 'window.start' | 'window.end') => ({ from: 'run', field: name }) as const;
  const inputs = { at: field('window.at'), start: field('window.start'), end: field('window.end') };
  const work = workOf(
    { kind: 'process', run: 'printf %s "$SIGNALBOX_INPUTS" > "$SIGNALBOX_OUTPUT"', inputs },
    { runInfo },
  );
  expect(JSON.parse((await run(work)).output)).toEqual({ at: AT, start: START, end: AT });
});

const CODE = `(c) => c.window && [c.window.start, c.window.end, c.window.at].map((d) => d instanceof Date && d.toISOString())`;

test.each(['function', 'handler'] as const)(
  'a %s has its window as dates, and null for a run on demand',
  async (kind) => {
    const at = ({ window: w }: HandlerContext) =>
      w && [w.start, w.end, w.at].map((d) => d instanceof Date && d.toISOString());
    const rig = await startBody({ handlers: { at } });
    const bundle = kind === 'function' ? { bundle: rig.data.add(`export const functions = { at: ${CODE} };`) } : {};
    const outputOf = async (info: string) =>
      JSON.parse(
        (await rig.run(workOf({ kind }, { handler: 'at', runInfo: info, ...bundle }))).output || 'null',
      ) as unknown;
    expect(await outputOf(runInfo)).toEqual([START, AT, AT]);
    expect(await outputOf('')).toBeNull();
  },
);

test('a process in Python asks for its window', async () => {
  const { run } = await startBody({ environment: { PATH: process.env.PATH } });
  const code = [
    'import os, sys',
    'sys.path.insert(0, os.environ["SIGNALBOX_HELPERS"])',
    'import signalbox',
    'w = signalbox.window()',
    'signalbox.output(None if w is None else [w.start.isoformat(), w.end.isoformat()])',
  ].join('\n');
  const told = await run(workOf({ kind: 'process', run: ['python3', '-c', code] }, { runInfo }));
  expect(told).toMatchObject({ outcome: 'succeeded', error: '' });
  expect(JSON.parse(told.output)).toEqual(['2027-03-14T00:00:00+00:00', '2027-03-15T00:00:00+00:00']);
});
