import type { CancelRun, Command, SubmitRuns } from '@signalbox/engine';
import { expect, test } from 'vitest';
import { Inbox } from './inbox.ts';

const submit = { kind: 'SubmitRuns' } as SubmitRuns;
const cancel = { kind: 'CancelRun' } as CancelRun;
const tick: Command = { kind: 'Tick' };

test('a full inbox refuses new submissions and takes everything else (I74)', () => {
  const inbox = new Inbox(2, () => undefined);
  expect(inbox.offer({ command: submit, reply: null })).toBe(true);
  expect(inbox.offer({ command: submit, reply: null })).toBe(true);
  expect(inbox.offer({ command: submit, reply: null })).toBe(false);
  expect(inbox.offer({ command: cancel, reply: null })).toBe(true);
});

test('what is drained comes in order, at most so many, and goes back to the front', () => {
  const inbox = new Inbox(10, () => undefined);
  for (const command of [submit, cancel, tick]) inbox.offer({ command, reply: null });
  const taken = inbox.drain(2);
  expect(taken.map(({ command }) => command)).toEqual([submit, cancel]);
  inbox.restore(taken);
  expect(inbox.drain(10).map(({ command }) => command)).toEqual([submit, cancel, tick]);
});

test('a command whose sender has begun anew is not decided (I11)', () => {
  const inbox = new Inbox(10, () => undefined);
  inbox.offer({ command: submit, reply: null, isVoid: () => true });
  expect(inbox.drain(10)).toEqual([]);
});
