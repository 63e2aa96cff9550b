/**
 * What running attempts ask of the server. Of each attempt and kind one question is on its way at a time; those that come up
 * meanwhile become one, which says what the last of them says. So what is kept is bounded by the attempts that run (I73), and a
 * handler that saves a thousand times a second saves as often as the server commits.
 *
 * What is not answered is sent again, after a while and on each new stream, under the same number: the server tells by it
 * what it has done already.
 */
import type { AttemptRequestAnswer, AttemptRequestMessage } from '@signalbox/protocol/grpc';
import { AttemptStopped, PermanentError } from '@signalbox/sdk';
import type { Attempt } from './attempt.ts';

export type AttemptRequest =
  | { readonly kind: 'extend'; readonly ms: number }
  | { readonly kind: 'checkpoint'; readonly value: string }
  | { readonly kind: 'assert' }
  /** JSON text of a list of tasks. */
  | { readonly kind: 'add'; readonly tasks: string };

interface PendingRequestsParts {
  readonly now: () => number;
  readonly resendMs: number;
  readonly send: (ask: PendingRequest) => void;
  /** More time is given to who makes progress: what was told of it goes along. */
  readonly tellProgress: () => void;
}

interface Waiter {
  readonly resolve: (answer: AttemptRequestAnswer) => void;
  readonly reject: (error: Error) => void;
}

export interface PendingRequest {
  readonly attempt: Attempt;
  readonly kind: AttemptRequest['kind'];
  readonly ask: AttemptRequestMessage;
  readonly waiters: Waiter[];
  /** When it was last written to a stream; null while it waits for one. */
  sentAt: number | null;
  /** Whether it is in the outbox, so it is never there twice. */
  queued: boolean;
  isOver: boolean;
}

export class PendingRequests {
  readonly #parts: PendingRequestsParts;
  readonly #byNo = new Map<number, PendingRequest>();
  /** By attempt and kind: the next request, to be sent when the current one is answered. */
  readonly #next = new Map<
    string,
    { request: AttemptRequest; readonly attempt: Attempt; readonly waiters: Waiter[] }
  >();
  readonly #underWay = new Map<string, PendingRequest>();
  readonly #adding = new WeakMap<Attempt, Promise<unknown>>();
  #lastNo = 0;

  constructor(parts: PendingRequestsParts) {
    this.#parts = parts;
  }

  /** Rejects with an `AttemptStopped` when the attempt no longer holds its task. */
  ask(attempt: Attempt, request: AttemptRequest): Promise<AttemptRequestAnswer> {
    if (request.kind !== 'add') return this.#ask(attempt, request);
    // Each says something else, and is answered for itself: they are asked one after the other.
    const asked = (this.#adding.get(attempt) ?? Promise.resolve()).then(() => this.#ask(attempt, request));
    this.#adding.set(
      attempt,
      asked.catch(() => {}),
    );
    return asked;
  }

  #ask(attempt: Attempt, request: AttemptRequest): Promise<AttemptRequestAnswer> {
    return new Promise<AttemptRequestAnswer>((resolve, reject) => {
      const waiter = { resolve, reject };
      if (!attempt.isActive) return reject(new AttemptStopped('stale', 'The attempt is over.'));
      const key = `${attempt.key}/${request.kind}`;
      if (!this.#underWay.has(key)) return this.#send(key, attempt, request, [waiter]);
      const next = this.#next.get(key);
      if (next === undefined) this.#next.set(key, { request, attempt, waiters: [waiter] });
      else {
        next.request = merged(next.request, request);
        next.waiters.push(waiter);
      }
    });
  }

  answered(answer: AttemptRequestAnswer): void {
    const asked = this.#byNo.get(answer.no);
    if (asked === undefined) return;
    this.#forget(asked);
    for (const { resolve, reject } of asked.waiters) {
      if (answer.ok) resolve(answer);
      else reject(refusalOf(answer));
    }
    const key = `${asked.attempt.key}/${asked.kind}`;
    const next = this.#next.get(key);
    this.#next.delete(key);
    if (next !== undefined) this.#send(key, next.attempt, next.request, next.waiters);
  }

  /** A new stream: everything is said again, in order. */
  sendAgain(): void {
    for (const asked of this.#byNo.values()) this.#parts.send(asked);
  }

  /** The stream is gone, and with it whatever was on its way. */
  lineLost(): void {
    for (const asked of this.#byNo.values()) asked.sentAt = null;
  }

  tick(now: number): void {
    for (const asked of this.#byNo.values()) {
      if (asked.sentAt !== null && now - asked.sentAt >= this.#parts.resendMs) this.#parts.send(asked);
    }
  }

  /** The attempt is to stop: what it waits for is of no use to it. It may still save what it has. */
  stopped(attempt: Attempt, reason: Error): void {
    this.#drop(attempt, ['extend', 'assert', 'add'], reason);
  }

  /** The attempt is over. */
  ended(attempt: Attempt): void {
    if (this.#byNo.size === 0) return;
    const over = new AttemptStopped('stale', 'The attempt is over.');
    this.#drop(attempt, ['extend', 'assert', 'checkpoint', 'add'], over);
  }

  #drop(attempt: Attempt, kinds: readonly AttemptRequest['kind'][], reason: Error): void {
    for (const kind of kinds) {
      const key = `${attempt.key}/${kind}`;
      const asked = this.#underWay.get(key);
      const waiters = [...(asked?.waiters ?? []), ...(this.#next.get(key)?.waiters ?? [])];
      if (asked !== undefined) this.#forget(asked);
      this.#next.delete(key);
      for (const { reject } of waiters) reject(reason);
    }
  }

  #send(key: string, attempt: Attempt, request: AttemptRequest, waiters: Waiter[]): void {
    this.#lastNo += 1;
    const asked: PendingRequest = {
      attempt,
      kind: request.kind,
      ask: askOf(this.#lastNo, attempt, request),
      waiters,
      sentAt: null,
      queued: false,
      isOver: false,
    };
    if (request.kind === 'extend') this.#parts.tellProgress();
    this.#byNo.set(this.#lastNo, asked);
    this.#underWay.set(key, asked);
    this.#parts.send(asked);
  }

  #forget(asked: PendingRequest): void {
    asked.isOver = true;
    this.#byNo.delete(asked.ask.no);
    this.#underWay.delete(`${asked.attempt.key}/${asked.kind}`);
  }
}

function askOf(no: number, attempt: Attempt, request: AttemptRequest): AttemptRequestMessage {
  const { claim, token } = attempt.assignment;
  return {
    no,
    claim,
    token,
    extendMs: request.kind === 'extend' ? request.ms : 0,
    checkpoint: request.kind === 'checkpoint' ? request.value : '',
    assertOwned: request.kind === 'assert',
    addedTasks: request.kind === 'add' ? request.tasks : '',
  };
}

function merged(before: AttemptRequest, request: AttemptRequest): AttemptRequest {
  if (before.kind === 'extend' && request.kind === 'extend')
    return { kind: 'extend', ms: Math.max(before.ms, request.ms) };
  return request;
}

function refusalOf({ code, detail }: AttemptRequestAnswer): Error {
  if (code === 'STALE_TOKEN' || code === 'RUN_SET_ASIDE') {
    return detail === 'cancelled'
      ? new AttemptStopped('cancelled', 'The attempt was cancelled.')
      : new AttemptStopped('stale', 'This attempt does not hold the task any more: its result is not recorded.');
  }
  if (code === 'BAD_REQUEST' || code === 'ADD_REFUSED') return new PermanentError(detail);
  if (code === 'EXTEND_REFUSED') return new Error(`The attempt was not extended: ${detail}.`);
  return new Error(detail === '' ? `The server refused: ${code}.` : detail);
}
