import type { CancelRun, Command, CreateSchedules, SubmitRuns } from '@signalbox/engine';
import { expect, test } from 'vitest';
import { type Envelope, Inbox } from './inbox.ts';

const submit = (runs = 1) =>
  ({ kind: 'SubmitRuns', items: Array(runs).fill({ params: null }) }) as unknown as SubmitRuns;
const cancel = { kind: 'CancelRun' } as CancelRun;
const tick: Command = { kind: 'Tick' };
const told = (command: Command): Envelope => ({ command, reply: null });
const inboxOf = (submissions: number) => new Inbox({ submissions }, () => undefined);
const PLENTY = { commands: 1_000, runs: 1_000_000 };

test('a full inbox refuses new submissions and takes everything else (I74)', () => {
  const inbox = inboxOf(2);
  expect(inbox.offer(told(submit()))).toBe(true);
  expect(inbox.offer(told(submit()))).toBe(true);
  expect(inbox.offer(told(submit()))).toBe(false);
  expect(inbox.offer(told(cancel))).toBe(true);
});

test('a submission counts by its runs (I74)', () => {
  const inbox = inboxOf(2_000);
  expect([1_000, 1_000, 1].map((runs) => inbox.offer(told(submit(runs))))).toEqual([true, true, false]);
  inbox.drain({ commands: 10, runs: 1_000 });
  expect(inbox.offer(told(submit(1_000)))).toBe(true);
});

test('schedules that are created in bulk count by their number, and come after everything else (I74)', () => {
  const inbox = inboxOf(2_000);
  const create = { kind: 'CreateSchedules', schedules: Array(1_000).fill({}) } as unknown as CreateSchedules;
  expect([create, create, create].map((command) => inbox.offer(told(command)))).toEqual([true, true, false]);
  inbox.offer(told(cancel));
  expect(inbox.drain({ commands: 10, runs: 1_500 }).map(({ command }) => command)).toEqual([cancel, create]);
});

test('reports and cancels do not wait behind submissions (I74)', () => {
  const inbox = inboxOf(10);
  const first = submit();
  for (const command of [first, cancel, tick]) inbox.offer(told(command));
  expect(inbox.drain(PLENTY).map(({ command }) => command)).toEqual([cancel, tick, first]);
});

test('a turn takes so many runs, and at least one submission', () => {
  const inbox = inboxOf(100_000);
  const [large, small, other] = [submit(5_000), submit(900), submit(900)];
  for (const command of [large, small, other]) inbox.offer(told(command));
  const turn = { commands: 10, runs: 1_000 };
  expect(inbox.drain(turn).map(({ command }) => command)).toEqual([large]);
  expect(inbox.drain(turn).map(({ command }) => command)).toEqual([small]);
  expect(inbox.drain(turn).map(({ command }) => command)).toEqual([other]);
});

test('what is drained comes in order, at most so many, and goes back to the front', () => {
  const inbox = inboxOf(10);
  const [first, second] = [submit(1), submit(2)];
  for (const command of [first, cancel, second, tick]) inbox.offer(told(command));
  const taken = inbox.drain({ commands: 1, runs: 10 });
  expect(taken.map(({ command }) => command)).toEqual([cancel, first]);
  inbox.restore(taken);
  expect(inbox.drain(PLENTY).map(({ command }) => command)).toEqual([cancel, tick, first, second]);
  expect(inbox.size).toBe(0);
});

test('a command whose sender has begun anew is not decided (I11)', () => {
  const inbox = inboxOf(10);
  inbox.offer({ command: submit(), reply: null, isVoid: () => true });
  expect(inbox.drain(PLENTY)).toEqual([]);
});
