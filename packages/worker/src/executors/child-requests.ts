/**
 * Requests of a child for its attempt. User code can write to the same pipe, so malformed requests are ignored, and the
 * number and size of requests are limited.
 */
import {
  MAX_ADDED_BYTES,
  MAX_CHECKPOINT_BYTES,
  MAX_PROGRESS_NOTE_CHARS,
  MAX_TIMEOUT_MS,
} from '@signalbox/protocol/limits';
import { AttemptStopped, isPermanent } from '@signalbox/sdk';
import type { AttemptRequester } from '@signalbox/sdk/attempt-requests';
import type { ChildAnswer, ChildRequest } from '../child/frames.ts';

/** Open requests of one attempt. Only code that does not wait for answers has more. */
const MOST_UNDER_WAY = 1_000;

export class ChildRequests {
  readonly #requester: AttemptRequester;
  readonly #answer: (answer: ChildAnswer) => void;
  #underWay = 0;

  constructor(requester: AttemptRequester, answer: (answer: ChildAnswer) => void) {
    this.#requester = requester;
    this.#answer = answer;
  }

  /** False for what no child says. */
  progress(text: string): boolean {
    const said = parsed(text) as { readonly fraction?: unknown; readonly note?: unknown } | null;
    const { fraction, note } = said ?? {};
    if (typeof note !== 'string' || note.length > MAX_PROGRESS_NOTE_CHARS) return false;
    if (fraction !== null && !(typeof fraction === 'number' && fraction >= 0 && fraction <= 1)) return false;
    this.#requester.progress(fraction, note);
    return true;
  }

  /** False for what no child says. */
  ask(text: string): boolean {
    const { no, request } = (parsed(text) ?? {}) as Partial<ChildRequest>;
    if (typeof no !== 'number' || typeof request !== 'object' || request === null) return false;
    const asked = this.#askFor(request);
    if (asked === null) return false;
    this.#underWay += 1;
    asked.then(
      (leftMs) => this.#done({ no, ok: true, leftMs: leftMs ?? 0, error: NO_ERROR }),
      (error: unknown) => this.#done({ no, ok: false, leftMs: 0, error: errorOf(error) }),
    );
    return true;
  }

  #askFor(request: ChildRequest['request']): Promise<number | void> | null {
    const { kind } = request;
    const isKnown = kind === 'assert' || kind === 'extend' || kind === 'checkpoint' || kind === 'add';
    if (isKnown && this.#underWay >= MOST_UNDER_WAY) {
      return Promise.reject(
        new Error(`More than ${MOST_UNDER_WAY} requests are waiting for an answer. Await some of them first.`),
      );
    }
    if (kind === 'assert') return this.#requester.assertOwned();
    if (kind === 'extend') {
      return Number.isInteger(request.ms) && request.ms > 0 && request.ms <= MAX_TIMEOUT_MS
        ? this.#requester.extend(request.ms)
        : null;
    }
    if (kind === 'add') {
      const isSmall = typeof request.tasks === 'string' && Buffer.byteLength(request.tasks) <= MAX_ADDED_BYTES;
      return isSmall && request.tasks !== '' ? this.#requester.addTasks(request.tasks) : null;
    }
    if (kind !== 'checkpoint' || typeof request.value !== 'string' || parsed(request.value) === undefined) return null;
    return Buffer.byteLength(request.value) > MAX_CHECKPOINT_BYTES
      ? null
      : this.#requester.saveCheckpoint(request.value);
  }

  #done(answer: ChildAnswer): void {
    this.#underWay -= 1;
    this.#answer(answer);
  }
}

const NO_ERROR: ChildAnswer['error'] = { reason: null, isPermanent: false, message: '' };

function errorOf(error: unknown): ChildAnswer['error'] {
  const reason = error instanceof AttemptStopped ? error.reason : null;
  return { reason, isPermanent: isPermanent(error), message: error instanceof Error ? error.message : String(error) };
}

/** Undefined for what is no JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
