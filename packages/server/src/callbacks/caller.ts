/**
 * Makes the callbacks of ended runs (I61): at least once, under a stable id, and only to addresses that the policy allows
 * (I70). It runs on the thread of the edge, a few at a time, so a receiver that hangs delays nothing but its own callback.
 */
import { type AddressPolicy, AddressRefused, exchange } from '@signalbox/protocol/outbound';
import type { CallbackEnd, CallbackRow, Queries } from '@signalbox/store';
import { toIso } from '../iso-instants.ts';
import type { Tell } from '../log.ts';
import { systemClock } from '../ports/clock.ts';
import { callbackSecret, SIGNATURE_HEADER, signatureOf } from './signature.ts';

interface CallerOptions {
  readonly queries: Pick<Queries, 'takeCallbacks' | 'settleCallback'>;
  readonly clusterKey: Buffer;
  readonly policy: AddressPolicy;
  readonly tell: Tell;
  readonly pollMs?: number;
  readonly timeoutMs?: number;
}

const AT_ONCE = 20;
const POLL_MS = 1_000;
const TIMEOUT_MS = 10_000;
/** A server that dies with calls in its hands: another makes them after this. */
const LEASE_MS = 60_000;
const FIRST_DELAY_MS = 1_000;
const LONGEST_DELAY_MS = 3_600_000;
/** With the delays above: for two days. */
const MOST_ATTEMPTS = 60;
const ANSWER_BYTES = 4 * 1024;

export class CallbackCaller {
  readonly #options: CallerOptions;
  readonly #ended = new AbortController();
  readonly #underWay = new Set<Promise<void>>();
  #timer: NodeJS.Timeout | null = null;
  #round: Promise<void> = Promise.resolve();

  constructor(options: CallerOptions) {
    this.#options = options;
  }

  start(): void {
    this.#timer = setTimeout(() => {
      this.#round = this.#takeDue();
      void this.#round.then(() => this.#ended.signal.aborted || this.start());
    }, this.#options.pollMs ?? POLL_MS);
  }

  /** Calls under way are given up; they are made again. */
  async stop(): Promise<void> {
    this.#ended.abort();
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#round;
    await Promise.all(this.#underWay);
  }

  /** As many as there is room for: one that hangs takes up its own place, and no other waits for it. */
  async #takeDue(): Promise<void> {
    try {
      const limit = AT_ONCE - this.#underWay.size;
      const due = limit === 0 ? [] : await this.#options.queries.takeCallbacks({ leaseMs: LEASE_MS, limit });
      for (const row of due) {
        const call = this.#settle(row).catch(this.#complain);
        this.#underWay.add(call);
        void call.then(() => this.#underWay.delete(call));
      }
    } catch (error) {
      this.#complain(error);
    }
  }

  async #settle(row: CallbackRow): Promise<void> {
    await this.#options.queries.settleCallback(row.key, await this.#call(row));
  }

  readonly #complain = (error: unknown): void => {
    if (this.#ended.signal.aborted) return;
    this.#options.tell('warn', 'Calls of ended runs wait: the database gives no answer.', { error: String(error) });
  };

  async #call(row: CallbackRow): Promise<CallbackEnd> {
    const { clusterKey, policy, timeoutMs = TIMEOUT_MS } = this.#options;
    const body = JSON.stringify(bodyOf(row));
    const signature = signatureOf(
      callbackSecret(clusterKey, row.tenantId),
      Math.floor(systemClock.wall() / 1000),
      body,
    );
    const headers = {
      'content-type': 'application/json',
      'user-agent': 'signalbox',
      'idempotency-key': idOf(row),
      [SIGNATURE_HEADER]: signature,
    };
    const signal = AbortSignal.any([this.#ended.signal, AbortSignal.timeout(timeoutMs)]);
    try {
      const request = { method: 'POST', url: new URL(row.url), written: row.url, headers, body: Buffer.from(body) };
      const { status } = await exchange(request, policy, { bodyBytes: ANSWER_BYTES, signal });
      if (status >= 200 && status < 300) return { state: 'done', delayMs: 0, status, error: null };
      return failed(row, status, `It was answered with status ${status}.`);
    } catch (error) {
      if (this.#ended.signal.aborted) return { state: 'waiting', delayMs: 0, status: null, error: null };
      const isLate = signal.aborted;
      const message = isLate ? `It was not answered within ${timeoutMs / 1000} s.` : shortError(error);
      // What is not allowed now will not be allowed by trying: only a setting changes it.
      return error instanceof AddressRefused
        ? { state: 'given_up', delayMs: 0, status: null, error: message }
        : failed(row, null, message);
    }
  }
}

/** The same for each try at the same end of a run: the receiver can tell that it has had it. */
export const idOf = ({ run, key }: Pick<CallbackRow, 'run' | 'key'>): string => `${run}/${key.at}`;

function bodyOf(row: CallbackRow) {
  const { dag, run, outcome, key } = row;
  return { id: idOf(row), event: 'run.ended', dag, run, outcome, endedAt: toIso(key.at) };
}

function failed({ attempts }: CallbackRow, status: number | null, error: string): CallbackEnd {
  if (attempts >= MOST_ATTEMPTS) return { state: 'given_up', delayMs: 0, status, error };
  const longest = Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** (attempts - 1));
  // Half of it by chance: many calls to one receiver do not come back all at once.
  return { state: 'waiting', delayMs: Math.round(longest * (0.5 + Math.random() / 2)), status, error };
}

function shortError(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return error.errors.map(shortError).join('; ');
  return (error instanceof Error ? error.message : String(error)).slice(0, 500);
}
