/**
 * What a child asks for its attempt. User code can write to the same pipe: what no child asks is not believed, and what it may
 * ask is bounded, in count and size.
 */
import {
  MAX_ADDED_BYTES,
  MAX_CHECKPOINT_BYTES,
  MAX_PROGRESS_NOTE_CHARS,
  MAX_TIMEOUT_MS,
} from '@signalbox/protocol/limits';
import { AttemptStopped, isPermanent } from '@signalbox/sdk';
import type { Asker } from '@signalbox/sdk/asking';
import type { ChildAnswer, ChildAsk } from '../child/frames.ts';

/** Of one attempt, at a time: more is only asked by who waits for no answer. */
const MOST_UNDER_WAY = 1_000;

export class ChildAsks {
  readonly #asker: Asker;
  readonly #answer: (answer: ChildAnswer) => void;
  #underWay = 0;

  constructor(asker: Asker, answer: (answer: ChildAnswer) => void) {
    this.#asker = asker;
    this.#answer = answer;
  }

  /** False for what no child says. */
  progress(text: string): boolean {
    const said = parsed(text) as { readonly fraction?: unknown; readonly note?: unknown } | null;
    const { fraction, note } = said ?? {};
    if (typeof note !== 'string' || note.length > MAX_PROGRESS_NOTE_CHARS) return false;
    if (fraction !== null && !(typeof fraction === 'number' && fraction >= 0 && fraction <= 1)) return false;
    this.#asker.progress(fraction, note);
    return true;
  }

  /** False for what no child says. */
  ask(text: string): boolean {
    const { no, wish } = (parsed(text) ?? {}) as Partial<ChildAsk>;
    if (typeof no !== 'number' || typeof wish !== 'object' || wish === null) return false;
    const asked = this.#askFor(wish);
    if (asked === null) return false;
    this.#underWay += 1;
    asked.then(
      (leftMs) => this.#done({ no, ok: true, leftMs: leftMs ?? 0, error: NO_ERROR }),
      (error: unknown) => this.#done({ no, ok: false, leftMs: 0, error: errorOf(error) }),
    );
    return true;
  }

  #askFor(wish: ChildAsk['wish']): Promise<number | void> | null {
    const { kind } = wish;
    const isKnown = kind === 'assert' || kind === 'extend' || kind === 'checkpoint' || kind === 'add';
    if (isKnown && this.#underWay >= MOST_UNDER_WAY) {
      return Promise.reject(
        new Error(`More than ${MOST_UNDER_WAY} questions wait for an answer: wait for some of them.`),
      );
    }
    if (kind === 'assert') return this.#asker.assertOwned();
    if (kind === 'extend') {
      return Number.isInteger(wish.ms) && wish.ms > 0 && wish.ms <= MAX_TIMEOUT_MS ? this.#asker.extend(wish.ms) : null;
    }
    if (kind === 'add') {
      const isSmall = typeof wish.tasks === 'string' && Buffer.byteLength(wish.tasks) <= MAX_ADDED_BYTES;
      return isSmall && wish.tasks !== '' ? this.#asker.addTasks(wish.tasks) : null;
    }
    if (kind !== 'checkpoint' || typeof wish.value !== 'string' || parsed(wish.value) === undefined) return null;
    return Buffer.byteLength(wish.value) > MAX_CHECKPOINT_BYTES ? null : this.#asker.saveCheckpoint(wish.value);
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
