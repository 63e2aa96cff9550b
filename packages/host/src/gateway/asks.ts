/**
 * What running attempts want of the owners of their tasks: brought there, and the answers back. A worker sends what was not
 * answered again, here or at another gateway; an owner tells by the numbers what it has done already.
 */
import { type Answer, type Command, shardOfRun } from '@signalbox/engine';
import type { AskAnswer, Tokens, WorkerAsk } from '../ports.ts';
import type { Router } from '../router.ts';
import type { Session } from './session.ts';

export interface AskPorts {
  readonly tokens: Tokens;
  readonly router: Pick<Router, 'send'>;
  readonly isCurrent: (session: Session) => boolean;
}

/** One that finds no owner for so long is dropped here; the worker sends it again. */
const ASK_DEADLINE_MS = 30_000;
/** Of one worker, on their way at a time (I68). */
const MOST_UNDER_WAY = 2_000;

export class Asks {
  private readonly ports: AskPorts;

  constructor(ports: AskPorts) {
    this.ports = ports;
  }

  take(session: Session, asks: readonly WorkerAsk[]): void {
    for (const ask of asks) if (!session.asking.has(ask.no)) this.ask(session, ask);
  }

  private ask(session: Session, ask: WorkerAsk): void {
    const { no, claim, token, wish } = ask;
    const { tokens, router } = this.ports;
    const answer = (said: Omit<AskAnswer, 'no'>) => session.door.askAnswers([{ no, ...said }]);
    if (!tokens.check(shardOfRun(claim.runId), claim, session.workerId, token)) return answer(refused('STALE_TOKEN'));
    if (wish.kind === 'faulty') return answer(refused('BAD_REQUEST', wish.reason));
    // Not answered: it comes again when there is room.
    if (session.asking.size >= MOST_UNDER_WAY) return;
    session.asking.add(no);
    router.send(commandOf(session, ask, wish), ASK_DEADLINE_MS, (result) => {
      session.asking.delete(no);
      if (result.status !== 'answered' || !this.ports.isCurrent(session)) return;
      answer(result.answer.ok ? granted(result.answer) : refused(result.answer.code, result.answer.detail));
    });
  }
}

function commandOf(
  { workerId }: Session,
  { no, claim }: WorkerAsk,
  wish: Exclude<WorkerAsk['wish'], { kind: 'faulty' }>,
): Command {
  switch (wish.kind) {
    case 'checkpoint':
      return { kind: 'SaveCheckpoint', claim, workerId, no, value: wish.value };
    case 'assert':
      return { kind: 'AssertOwned', claim, workerId };
    case 'add':
      return { kind: 'AddTasks', claim, workerId, tasks: wish.tasks };
    case 'extend':
      return { kind: 'ExtendAttempt', claim, workerId, byMs: wish.byMs };
  }
}

/** What stands for an attempt that nothing limits: some seven weeks. */
const FAR_MS = 2 ** 32 - 1;

function granted(answer: Extract<Answer, { ok: true }>): Omit<AskAnswer, 'no'> {
  if (answer.kind !== 'extended') return OK;
  return { ...OK, leftMs: Math.min(Math.floor(answer.leftMs ?? FAR_MS), FAR_MS) };
}

const OK: Omit<AskAnswer, 'no'> = { ok: true, code: '', detail: '', leftMs: 0 };

function refused(code: string, detail = ''): Omit<AskAnswer, 'no'> {
  return { ok: false, code, detail, leftMs: 0 };
}
