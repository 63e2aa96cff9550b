/** User code that finds the descriptors on which its child speaks to the worker, and says things of its own. */
import { expect, test } from 'vitest';
import { type BodyRig, startBody, workOf } from '../test-rig.ts';

const BUNDLE = `
import { writeSync } from 'node:fs';
const said = (kind, text, no = 1) => {
  const body = Buffer.from(text);
  const head = Buffer.alloc(9);
  head.writeUInt32LE(body.length, 0);
  head[4] = kind;
  head.writeUInt32LE(no, 5);
  writeSync(4, Buffer.concat([head, body]));
};
const waits = () => new Promise(() => setInterval(() => {}, 1000));
const end = (...fields) => { said(14, fields.join('\\0')); return waits(); };
export const functions = {
  other: () => 'fine',
  noFields: () => end('succeeded'),
  ofAnother: () => { said(14, '', 99); return waits(); },
  takenBack: () => { said(17, ''); return waits(); },
  oddOutcome: () => end('splendid', '', '', '', '0', '0', '0'),
  oddNumbers: () => end('succeeded', '', '', '', 'x', '-1', '0'),
  oddFlags: () => end('succeeded', '', '', '', '0', '0', '9'),
  huge: () => end('succeeded', JSON.stringify('x'.repeat(20 * 1024 * 1024)), '', '', '0', '0', '0'),
  notOurs: () => { writeSync(4, Buffer.alloc(9, 255)); return waits(); },
  readyAgain: () => { said(11, '', 0); return new Promise((resolve) => setTimeout(() => resolve('mine'), 200)); },
};
`;

const order = (rig: BodyRig, name: string, different = {}) =>
  workOf({ kind: 'function' }, { handler: name, bundle: rig.data.add(BUNDLE), timeoutMs: 5_000, ...different });

test.each(['noFields', 'ofAnother', 'takenBack', 'oddOutcome', 'oddNumbers', 'oddFlags', 'huge', 'notOurs'])(
  'a child that says what it must not (%s) fails its attempt, and the worker and the others go on (I57)',
  async (name) => {
    const rig = await startBody();
    const report = await rig.run(order(rig, name));
    expect(report.output).toBe('');
    expect(['transient', 'permanent']).toContain(report.outcome);
    expect(await rig.run(order(rig, 'other'))).toMatchObject({ outcome: 'succeeded', output: '"fine"' });
    expect(rig.gateway.sessions).toHaveLength(1);
  },
);

test('a child that says it is idle in the middle of an attempt gets no second one beside it', async () => {
  const rig = await startBody();
  const first = order(rig, 'readyAgain');
  rig.session.say({ assignments: [first] });
  const second = order(rig, 'other');
  expect(await rig.run(second)).toMatchObject({ outcome: 'succeeded', output: '"fine"' });
  expect((await rig.session.reportOf(first.claim)).outcome).not.toBe('timeout');
});
