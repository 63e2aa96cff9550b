/** What users do to a worker without meaning to. In each case the others go on, and the user is told. */
import { expect, test } from 'vitest';
import { commandOf, startBody, workOf } from '../test-rig.ts';

const MIB = 1024 * 1024;

test.each([
  ['a process', () => commandOf(`head -c ${64 * MIB} /dev/zero | tr '\\0' x | fold -w 99; echo; echo the end`)],
  ['one line', () => commandOf(`head -c ${64 * MIB} /dev/zero | tr '\\0' x; echo; echo the end`)],
  ['empty lines', () => commandOf(`head -c ${16 * MIB} /dev/zero | tr '\\0' '\\n'; echo the end`)],
])('a flood of %s keeps its beginning and its end, and the others go on', async (_, flood) => {
  const { session, data, run } = await startBody();
  const assignment = flood();
  session.say({ assignments: [assignment] });
  for (let i = 0; i < 5; i++) {
    const other = commandOf('echo hello');
    expect((await run(other)).outcome).toBe('succeeded');
    expect(data.textOf(other.claim)).toEqual(['stdout: hello']);
  }
  expect((await session.reportOf(assignment.claim)).outcome).toBe('succeeded');
  const lines = data.textOf(assignment.claim);
  const bytes = lines.reduce((sum, line) => sum + line.length, 0);
  expect(bytes).toBeLessThan(14 * MIB);
  expect(lines).toContain('system: The log is longer than 8.0 MiB: of what follows only the last 64 KiB are kept.');
  expect(lines.find((line) => line.endsWith('of the log were left out here.'))).toMatch(/^system: \d+\.\d MiB/);
  expect(lines.at(-1)?.slice(0, 80)).toBe('stdout: the end');
  expect(data.gaps).toEqual([]);
});

test('a function that floods its log in a hot loop is stopped, and the others go on', async () => {
  const { session, data, run } = await startBody();
  const bundle = data.add(
    'export const functions = { flood: () => { for (;;) console.log("x".repeat(1000)); }, other: () => 1, says: (c) => { for (let i = 0; i < 100000; i++) c.log.info("x".repeat(100)); } };',
  );
  const flood = workOf({ kind: 'function' }, { handler: 'flood', bundle, timeoutMs: 1_000 });
  session.say({ assignments: [flood] });
  for (let i = 0; i < 5; i++) {
    expect((await run(workOf({ kind: 'function' }, { handler: 'other', bundle }))).outcome).toBe('succeeded');
  }
  expect((await session.reportOf(flood.claim)).outcome).toBe('timeout');
  const says = workOf({ kind: 'function' }, { handler: 'says', bundle });
  expect((await run(says)).outcome).toBe('succeeded');
  expect(data.textOf(says.claim).some((line) => line.includes('were left out here'))).toBe(true);
  expect(data.gaps).toEqual([]);
});

test('a log that nobody takes holds an attempt up for a while and not for ever', async () => {
  const { session, data, run } = await startBody();
  data.reads = false;
  const flood = commandOf(`head -c ${32 * MIB} /dev/zero | tr '\\0' x | fold -w 99; echo '"done"' > $SIGNALBOX_OUTPUT`);
  session.say({ assignments: [flood] });
  expect((await run(commandOf('echo hello'))).outcome).toBe('succeeded');
  expect(await session.reportOf(flood.claim)).toMatchObject({ outcome: 'succeeded', output: '"done"' });
});
