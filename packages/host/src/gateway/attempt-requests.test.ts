import type { Command, RunId, WorkerId } from '@signalbox/engine';
import { expect, test } from 'vitest';
import type { AttemptRequestAnswer, WorkerRequest } from '../ports.ts';
import type { Routed } from '../router.ts';
import { type AttemptRequestPorts, PendingRequests } from './attempt-requests.ts';
import type { Session } from './session.ts';

const claim = { runId: 65_536 as RunId, taskNo: 0, attemptNo: 1, fence: 1 } as WorkerRequest['claim'];
const token = new Uint8Array([1]);
const save = (no: number): WorkerRequest => ({ no, claim, token, request: { kind: 'checkpoint', value: String(no) } });
const recorded: Routed = { status: 'answered', answer: { ok: true, kind: 'recorded' } };

function setUp({ isValid = true } = {}) {
  const sent: { readonly command: Command; readonly done: (result: Routed) => void }[] = [];
  const answers: AttemptRequestAnswer[] = [];
  let isCurrent = true;
  const ports: AttemptRequestPorts = {
    tokens: { mint: () => token, check: () => isValid, seal: () => '', open: () => null },
    router: { send: (command, _ms, done) => void sent.push({ command, done }) },
    isCurrent: () => isCurrent,
  };
  const session = {
    workerId: 'w' as WorkerId,
    asking: new Set<number>(),
    door: { requestAnswers: (said: readonly AttemptRequestAnswer[]) => answers.push(...said) },
  } as unknown as Session;
  const requests = new PendingRequests(ports);
  return {
    sent,
    answers,
    take: (...list: WorkerRequest[]) => requests.take(session, list),
    leave: () => {
      isCurrent = false;
    },
  };
}

test('an ask goes to the owner with its number, and its answer comes back with it', () => {
  const { sent, answers, take } = setUp();
  take(save(7), { ...save(8), request: { kind: 'assert' } });
  expect(sent.map(({ command }) => command)).toEqual([
    { kind: 'SaveCheckpoint', claim, workerId: 'w', no: 7, value: '7' },
    { kind: 'AssertOwned', claim, workerId: 'w' },
  ]);
  sent[1]?.done({ status: 'answered', answer: { ok: false, code: 'STALE_TOKEN', detail: 'x' } });
  sent[0]?.done(recorded);
  expect(answers).toEqual([
    { no: 8, ok: false, code: 'STALE_TOKEN', detail: 'x', leftMs: 0 },
    { no: 7, ok: true, code: '', detail: '', leftMs: 0 },
  ]);
});

test('one that comes again while it is on its way is asked once', () => {
  const { sent, take } = setUp();
  take(save(1), save(1));
  take(save(1));
  expect(sent).toHaveLength(1);
  sent[0]?.done({ status: 'unknown' });
  take(save(1));
  expect(sent).toHaveLength(2);
});

test('what finds no owner is not answered: the worker asks again', () => {
  const { sent, answers, take } = setUp();
  take(save(1));
  sent[0]?.done({ status: 'unavailable' });
  expect(answers).toEqual([]);
});

test('a forged token, and what can’t be asked, go no further (I21)', () => {
  const forged = setUp({ isValid: false });
  forged.take(save(1));
  expect(forged.sent).toEqual([]);
  expect(forged.answers).toMatchObject([{ no: 1, ok: false, code: 'STALE_TOKEN' }]);
  const faulty = setUp();
  faulty.take({ ...save(2), request: { kind: 'faulty', reason: 'too large' } });
  expect(faulty.sent).toEqual([]);
  expect(faulty.answers).toMatchObject([{ no: 2, ok: false, code: 'BAD_REQUEST', detail: 'too large' }]);
});

test('no worker has more than some on their way (I68), and one whose stream is gone is told nothing', () => {
  const { sent, answers, take, leave } = setUp();
  take(...Array.from({ length: 3_000 }, (_, no) => save(no)));
  expect(sent).toHaveLength(2_000);
  leave();
  sent[0]?.done(recorded);
  expect(answers).toEqual([]);
});
