/** Attempts that take more memory than they may. In each case the others go on, and the user is told. */
import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { commandOf, startBody, workOf } from '../test-rig.ts';

const MIB = 1024 * 1024;
const HUNGRY = `const held = []; setInterval(() => held.push(Buffer.alloc(${8 * MIB}, 1)), 5)`;
const BUNDLE = `export const functions = {
  buffers: () => new Promise(() => { ${HUNGRY} }),
  heap: () => { const held = []; for (;;) held.push(new Array(100000).fill(held.length)); },
  small: () => 'small',
};`;

test.runIf(existsSync('/proc/self/statm'))(
  'a process that has more than it may is ended whole, and the others go on',
  async () => {
    const { session, run, data } = await startBody();
    // It is not the first process of its group that is hungry.
    const hungry = commandOf(`node -e '${HUNGRY}' & wait`, { memoryBytes: 256 * MIB });
    const other = commandOf('sleep 1; echo \'"fine"\' > "$SIGNALBOX_OUTPUT"', { memoryBytes: 256 * MIB });
    session.say({ assignments: [hungry, other] });
    expect(await session.reportOf(hungry.claim)).toMatchObject({
      outcome: 'resource',
      code: 'memory',
      error: expect.stringMatching(
        /^The process used \d+ MiB of memory; the limit of the task is 256 MiB\. It was killed\.$/,
      ),
    });
    expect(await session.reportOf(other.claim)).toMatchObject({ outcome: 'succeeded', output: '"fine"' });
    expect(data.textOf(hungry.claim).join('\n')).toContain('system: The process used');
    expect((await run(commandOf('true'))).outcome).toBe('succeeded');
  },
);

test.each(['buffers', 'heap'])(
  'a function that has more than it may (%s) is ended, and the others go on',
  async (handler) => {
    const { session, run, data } = await startBody();
    const bundle = data.add(BUNDLE);
    const memoryBytes = 128 * MIB;
    const hungry = workOf({ kind: 'function' }, { handler, bundle, memoryBytes });
    session.say({ assignments: [hungry] });
    expect((await run(workOf({ kind: 'function' }, { handler: 'small', bundle, memoryBytes }))).output).toBe('"small"');
    expect(await session.reportOf(hungry.claim)).toMatchObject({
      outcome: 'resource',
      code: 'memory',
      error: expect.stringContaining('memory'),
    });
    expect((await run(workOf({ kind: 'function' }, { handler: 'small', bundle, memoryBytes }))).output).toBe('"small"');
  },
);

test('a process that was killed by nobody here has run out of memory, as far as anyone can tell', async () => {
  const { run } = await startBody();
  for (const command of ['kill -9 $$', "sh -c 'kill -9 $$'; exit $?"]) {
    expect(await run(commandOf(command))).toMatchObject({
      outcome: 'resource',
      error: expect.stringContaining('SIGKILL'),
    });
  }
});
