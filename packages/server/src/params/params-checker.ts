/**
 * Checks params without delaying others (I68, D12). A request has one budget for all its runs and dags, based on its size.
 * What fits into a few milliseconds is checked at once. The rest goes to a thread, one request at a time, with callers in
 * turn. A caller can have a few requests waiting there, and a request that the thread does not finish in time is refused.
 */
import { Worker } from 'node:worker_threads';
import { CheckBudget, type ParamsSchema, SignalboxError } from '@signalbox/protocol';
import { type CheckedTexts, checkTexts, type ParamsTexts } from './check-texts.ts';

export interface CheckJob {
  /** JSON text: cheaper to send than the object, and the thread knows it again. */
  readonly schema: string;
  readonly texts: ParamsTexts;
  readonly looks: number;
}

export interface CheckAnswer {
  readonly checked: CheckedTexts;
  readonly spent: number;
}

export interface CheckRequest {
  readonly schema: ParamsSchema;
  readonly texts: ParamsTexts;
  readonly budget: CheckBudget;
  /** Whose turn it is. */
  readonly caller: string;
  /** How long the request may still take. */
  readonly withinMs: number;
}

const THREAD = new URL('../../dist/params/checker-thread.js', import.meta.url);
/** A look is 0.4 to 1 µs. A small request may cost 100 ms of the thread in all, one of 60 KB and more 2 s. */
const LOOKS_AT_LEAST = 100_000;
const LOOKS_PER_BYTE = 32;
const LOOKS_AT_MOST = 2_000_000;
/** About 8 ms: what the edge checks itself, in one go. */
const LOOKS_AT_ONCE = 20_000;
/** More bytes than these would need more looks anyway. */
const BYTES_AT_ONCE = 64 * 1024;
const RUNS_AT_ONCE = 200;
/** For one request on the thread. Looks bound it; this is for what they do not count. */
const STUCK_MS = 4_000;
const WAITING_PER_CALLER = 4;
const WAITING_IN_ALL = 64;
const RETRY_MS = 1_000;
const MEMORY_MB = 256;

interface Waiting {
  readonly job: CheckJob;
  readonly settle: (answer: CheckAnswer | Error) => void;
}

export class ParamsChecker {
  readonly #budgets = new WeakMap<object, CheckBudget>();
  readonly #texts = new WeakMap<object, string>();
  readonly #waiting = new Map<string, Waiting[]>();
  #waitingCount = 0;
  #thread: Worker | null = null;
  #running: Waiting | null = null;
  #stuck: NodeJS.Timeout | null = null;

  /** The budget of a request, larger by what these params bring. The same request may submit to several dags. */
  budgetFor(request: object, texts: ParamsTexts): CheckBudget {
    let bytes = 0;
    for (const text of texts) bytes += text?.length ?? 0;
    const known = this.#budgets.get(request);
    const budget = known ?? new CheckBudget(LOOKS_AT_LEAST);
    this.#budgets.set(request, budget);
    budget.add(Math.min(bytes * LOOKS_PER_BYTE, LOOKS_AT_MOST - budget.granted));
    return budget;
  }

  async check(request: CheckRequest): Promise<CheckedTexts> {
    const { schema, texts, budget } = request;
    if (isSmall(texts)) {
      const looks = Math.min(LOOKS_AT_ONCE, budget.left);
      const part = new CheckBudget(looks);
      const checked = checkTexts(schema, texts, part);
      budget.spend(looks - part.left);
      if (checked.kind !== 'tooCostly' || budget.isSpent) return checked;
    }
    const { checked, spent } = await this.#onThread(request);
    budget.spend(spent);
    return checked;
  }

  close(): void {
    void this.#endThread();
  }

  #onThread({ schema, texts, budget, caller, withinMs }: CheckRequest): Promise<CheckAnswer> {
    const queue = this.#waiting.get(caller) ?? [];
    if (queue.length >= WAITING_PER_CALLER) {
      throw new SignalboxError('RATE_LIMITED', { what: 'expensive params checks', retryAfterMs: RETRY_MS });
    }
    if (this.#waitingCount >= WAITING_IN_ALL) throw new SignalboxError('OVERLOADED', { retryAfterMs: RETRY_MS });
    const job: CheckJob = { schema: this.#textOf(schema), texts, looks: budget.left };
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        job,
        settle: (answer) => {
          clearTimeout(late);
          if (answer instanceof Error) reject(answer);
          else resolve(answer);
        },
      };
      const late = setTimeout(() => {
        if (this.#running === waiting) return; // It is its turn: the thread's own limit counts.
        this.#forget(caller, waiting);
        waiting.settle(new SignalboxError('OVERLOADED', { retryAfterMs: RETRY_MS }));
      }, withinMs);
      queue.push(waiting);
      this.#waiting.set(caller, queue);
      this.#waitingCount += 1;
      this.#next();
    });
  }

  #textOf(schema: ParamsSchema): string {
    if (typeof schema === 'boolean') return String(schema);
    const text = this.#texts.get(schema) ?? JSON.stringify(schema);
    this.#texts.set(schema, text);
    return text;
  }

  /** Callers in turn: whoever has had one goes behind the others. */
  #next(): void {
    if (this.#running !== null) return;
    const [entry] = this.#waiting;
    if (entry === undefined) return;
    const [caller, queue] = entry;
    const waiting = queue.shift();
    this.#waiting.delete(caller);
    if (queue.length > 0) this.#waiting.set(caller, queue);
    if (waiting === undefined) return this.#next();
    this.#waitingCount -= 1;
    this.#running = waiting;
    this.#thread ??= this.#startThread();
    this.#stuck = setTimeout(() => void this.#endThread(), STUCK_MS);
    this.#thread.postMessage(waiting.job);
  }

  #forget(caller: string, waiting: Waiting): void {
    const queue = this.#waiting.get(caller);
    const at = queue?.indexOf(waiting) ?? -1;
    if (queue === undefined || at < 0) return;
    queue.splice(at, 1);
    this.#waitingCount -= 1;
    if (queue.length === 0) this.#waiting.delete(caller);
  }

  #startThread(): Worker {
    const thread = new Worker(THREAD, {
      execArgv: [],
      name: 'signalbox-params',
      resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB },
    });
    thread.unref();
    thread.on('message', (answer: CheckAnswer) => this.#done(answer));
    // Out of memory, or ended because it was stuck: the request that it was at is too costly, whatever it counted.
    const fail = () => {
      if (this.#thread !== thread) return;
      this.#thread = null;
      const problem = { path: 'params', message: 'take too long to check against the schema' };
      this.#done({ checked: { kind: 'tooCostly', problem }, spent: LOOKS_AT_MOST });
    };
    thread.on('error', fail);
    thread.on('exit', fail);
    return thread;
  }

  #done(answer: CheckAnswer): void {
    if (this.#stuck !== null) clearTimeout(this.#stuck);
    const running = this.#running;
    this.#running = null;
    running?.settle(answer);
    this.#next();
  }

  async #endThread(): Promise<void> {
    await this.#thread?.terminate();
  }
}

function isSmall(texts: ParamsTexts): boolean {
  if (texts.length > RUNS_AT_ONCE) return false;
  let bytes = 0;
  for (const text of texts) bytes += text?.length ?? 0;
  return bytes <= BYTES_AT_ONCE;
}
