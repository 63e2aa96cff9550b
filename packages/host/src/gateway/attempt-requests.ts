/**
 * Requests of running attempts to the owners of their tasks, and the answers. A worker repeats a request that is not
 * answered, here or at another gateway. The owner recognises a repeated request by its number.
 */
import { type Answer, type Command, shardOfRun } from '@signalbox/engine';
import type { AttemptRequestAnswer, Tokens, WorkerRequest } from '../ports.ts';
import type { Router } from '../router.ts';
import type { Session } from './session.ts';

export interface AttemptRequestPorts {
  readonly tokens: Tokens;
  readonly router: Pick<Router, 'send'>;
  readonly isCurrent: (session: Session) => boolean;
}

/** One that finds no owner for so long is dropped here; the worker sends it again. */
const ASK_DEADLINE_MS = 30_000;
/** How many requests of one worker can be open at a time (I68). */
const MOST_UNDER_WAY = 2_000;

export class PendingRequests {
  private readonly ports: AttemptRequestPorts;

  constructor(ports: AttemptRequestPorts) {
    this.ports = ports;
  }

  take(session: Session, requests: readonly WorkerRequest[]): void {
    for (const ask of requests) if (!session.asking.has(ask.no)) this.ask(session, ask);
  }

  private ask(session: Session, ask: WorkerRequest): void {
    const { no, claim, token, request } = ask;
    const { tokens, router } = this.ports;
    const answer = (said: Omit<AttemptRequestAnswer, 'no'>) => session.door.requestAnswers([{ no, ...said }]);
    if (!tokens.check(shardOfRun(claim.runId), claim, session.workerId, token)) return answer(refused('STALE_TOKEN'));
    if (request.kind === 'faulty') return answer(refused('BAD_REQUEST', request.reason));
    // Not answered: it comes again when there is room.
    if (session.asking.size >= MOST_UNDER_WAY) return;
    session.asking.add(no);
    router.send(commandOf(session, ask, request), ASK_DEADLINE_MS, (result) => {
      session.asking.delete(no);
      if (result.status !== 'answered' || !this.ports.isCurrent(session)) return;
      answer(result.answer.ok ? granted(result.answer) : refused(result.answer.code, result.answer.detail));
    });
  }
}

function commandOf(
  { workerId }: Session,
  { no, claim }: WorkerRequest,
  request: Exclude<WorkerRequest['request'], { kind: 'faulty' }>,
): Command {
  switch (request.kind) {
    case 'checkpoint':
      return { kind: 'SaveCheckpoint', claim, workerId, no, value: request.value };
    case 'assert':
      return { kind: 'AssertOwned', claim, workerId };
    case 'add':
      return { kind: 'AddTasks', claim, workerId, tasks: request.tasks };
    case 'extend':
      return { kind: 'ExtendAttempt', claim, workerId, byMs: request.byMs };
  }
}

/** What stands for an attempt that nothing limits: some seven weeks. */
const FAR_MS = 2 ** 32 - 1;

function granted(answer: Extract<Answer, { ok: true }>): Omit<AttemptRequestAnswer, 'no'> {
  if (answer.kind !== 'extended') return OK;
  return { ...OK, leftMs: Math.min(Math.floor(answer.leftMs ?? FAR_MS), FAR_MS) };
}

const OK: Omit<AttemptRequestAnswer, 'no'> = { ok: true, code: '', detail: '', leftMs: 0 };

function refused(code: string, detail = ''): Omit<AttemptRequestAnswer, 'no'> {
  return { ok: false, code, detail, leftMs: 0 };
}
