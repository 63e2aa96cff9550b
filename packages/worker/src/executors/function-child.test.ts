/** A child that is stuck in one attempt, and what waits behind it. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { assignmentOf } from '../scripted-gateway.ts';
import { testFolder } from '../test-rig.ts';
import type { ChildHome } from './child-home.ts';
import { FunctionChild } from './function-child.ts';
import type { Ended, Job } from './port.ts';

const codeOf = (file: string): string => `
import { appendFileSync, existsSync } from 'node:fs';
const noted = (act) => (c) => { appendFileSync(${JSON.stringify(file)}, c.task + ' '); return act(); };
export const functions = {
  quick: noted(() => 1),
  blocks: noted(() => { while (!existsSync(${JSON.stringify(`${file}.go`)})); }),
};
`;

const jobOf = (no: number, handler: string): Job => {
  const attempt = { onSlow: null, stopReason: null, stop: null };
  const assignment = assignmentOf(no, { handler, taskName: `${handler}${no}` });
  const log = { line: () => {}, bytes: () => {}, endStream: () => {}, isBehind: false };
  const work = { shape: { kind: 'function' }, secrets: new Map() };
  return { attempt, assignment, work, log, context: { token: 't' }, hasSlot: true } as unknown as Job;
};

function pending<T>(): { readonly promise: Promise<T>; readonly resolve: (value: T) => void } {
  let resolve: (value: T) => void = () => {};
  const promise = new Promise<T>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

test('an attempt that waits behind a loop is taken back though the child can’t answer, and never begins there', async () => {
  const folder = testFolder();
  const file = join(folder, 'begun');
  const path = join(folder, 'bundle.mjs');
  writeFileSync(path, codeOf(file));
  const home = {
    environment: { PATH: process.env.PATH ?? '' },
    reaper: { variables: {}, began: () => {}, ended: () => {} },
    relief: { whenRelieved: () => {} },
    cpu: { exited: () => Promise.resolve(null) },
  } as unknown as ChildHome;
  const ready = pending<void>();
  const bundle = { hash: 'h', path, hasSourceMap: false };
  const child = new FunctionChild({ key: 'k', bundle, folder, memoryBytes: 0, concurrency: 1 }, home, {
    onRoom: () => ready.resolve(),
    onAttempt: () => {},
    onEnded: () => {},
  });
  onTestFinished(() => child.kill());
  await ready.promise;
  const run = (no: number, handler: string) => {
    const [begun, over] = [pending<void>(), pending<Ended | 'taken back'>()];
    child.run(
      jobOf(no, handler),
      { began: begun.resolve, end: over.resolve, takenBack: () => over.resolve('taken back') },
      false,
    );
    return { begun: begun.promise, over: over.promise };
  };
  const first = run(1, 'blocks');
  const second = run(2, 'quick');
  await first.begun;
  // From here on the child reads nothing.
  while (!existsSync(file)) await setImmediate();
  let isBack = false;
  void second.over.then(() => {
    isBack = true;
  });
  while (!isBack) {
    child.look(performance.now(), 0);
    await setImmediate();
  }
  expect(await second.over).toBe('taken back');
  writeFileSync(`${file}.go`, '');
  expect(await first.over).toMatchObject({ outcome: 'succeeded' });
  expect(await run(3, 'quick').over).toMatchObject({ outcome: 'succeeded', output: '1' });
  expect(readFileSync(file, 'utf8')).toBe('blocks1 quick3 ');
});
