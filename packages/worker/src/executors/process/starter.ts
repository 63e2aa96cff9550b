/**
 * One starter process: it starts programs in the place of the worker, and is as small as the worker is large.
 *
 * `starting` → `ready` (takes orders) → `ended`. When it ends before its programs, they are killed and nobody knows how they
 * would have ended.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { FrameReader, frame } from '../../child/frames.ts';
import {
  BEGIN,
  BEGUN,
  ENDED,
  FAILED,
  NO_OUTPUT,
  PING,
  PONG,
  type ProgramEnd,
  type ProgramOrder,
  READY,
  type StartFault,
} from '../../starter/words.ts';
import type { ChildHome } from '../child-home.ts';
import { ATTEMPT_MARK, signalGroup, sweep } from '../sweep.ts';
import { type Output, OutputGate } from './output-gate.ts';
import { cannotStart, type Program, StarterLost } from './program.ts';

/** From `src` as from `dist`: a starter is always built code. */
const PROGRAM = fileURLToPath(new URL('../../../dist/starter/starter-main.js', import.meta.url));
const START_MS = 30_000;
const PING_MS = 5_000;
/** A starter that has answered none of so many hangs, or was stopped. */
const MOST_UNANSWERED = 4;
/** Of its messages: the largest is an error of `spawn`. */
const MAX_WORD_BYTES = 1024 * 1024;

/** The program was not started, and can be started in another way. */
export class NotStarted extends Error {}

interface StarterParts {
  /** It is for one program alone. */
  readonly isPrivate: boolean;
  /** It takes no more orders. */
  readonly onEnded: () => void;
  readonly pingMs?: number;
}

interface Held {
  readonly order: ProgramOrder;
  readonly output: Output;
  readonly begun: (program: Program) => void;
  readonly failed: (error: Error) => void;
  pid: number | null;
  ended: { readonly resolve: (end: ProgramEnd) => void; readonly reject: (error: Error) => void } | null;
}

export class Starter {
  readonly #home: ChildHome;
  readonly #gate: OutputGate;
  readonly #process: ChildProcess;
  readonly #orders: Writable;
  readonly #mark = randomBytes(16).toString('hex');
  readonly #held = new Map<number, Held>();
  readonly #ready: Promise<void>;
  readonly #over: Promise<void>;
  #becomeOver: () => void = () => {};
  #becomeReady: () => void = () => {};
  #refuse: (error: Error) => void = () => {};
  #isReady = false;
  #isClosing = false;
  #lastNo = 0;
  #pings: NodeJS.Timeout | null = null;
  #unanswered = 0;
  hasEnded = false;
  readonly #isPrivate: boolean;
  readonly #onEnded: () => void;
  readonly #pingMs: number;

  private constructor(home: ChildHome, gate: OutputGate, { isPrivate, onEnded, pingMs = PING_MS }: StarterParts) {
    this.#home = home;
    this.#isPrivate = isPrivate;
    this.#onEnded = onEnded;
    this.#pingMs = pingMs;
    this.#gate = gate;
    this.#over = new Promise((resolve) => {
      this.#becomeOver = resolve;
    });
    this.#ready = new Promise((resolve, reject) => {
      this.#becomeReady = resolve;
      this.#refuse = reject;
    });
    home.cpu.began();
    const spawnedAt = performance.now();
    this.#process = spawn(process.execPath, [PROGRAM, gate.path], {
      cwd: '/',
      detached: true,
      env: { ...home.environment, ...home.reaper.variables, [ATTEMPT_MARK]: this.#mark },
      stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
    });
    const [, , , orders, words] = this.#process.stdio as [null, null, null, Writable, Readable];
    this.#orders = orders;
    orders.on('error', () => {});
    words.on('error', () => {});
    const reader = new FrameReader((kind, no, content) => this.#hear(kind, no, content.toString()), MAX_WORD_BYTES);
    words.on('data', (bytes: Buffer) => {
      if (!reader.push(bytes)) this.#kill();
    });
    const closed = new Promise<void>((resolve) => words.once('close', () => resolve()));
    this.#process.once('error', (error) => {
      if (this.#process.pid === undefined) void this.#ended(error.message);
    });
    this.#process.once('exit', (code, signal) => {
      // What its programs used was told program by program; it must not be taken for that of another process.
      void home.cpu.exited(performance.now() - spawnedAt);
      // What it has said before its end is still true.
      void closed.then(() => this.#ended(signal === null ? `exit code ${code}` : signal));
    });
    const { pid } = this.#process;
    if (pid !== undefined) home.reaper.began(pid);
    // Idle, it does not keep the worker from ending.
    this.#process.unref();
    for (const stream of [orders, words]) (stream as { unref?: () => void }).unref?.();
  }

  /** Rejects where there can't be one. */
  static async open(home: ChildHome, parts: StarterParts): Promise<Starter> {
    const gate = await OutputGate.open();
    let starter: Starter;
    try {
      starter = new Starter(home, gate, parts);
    } catch (error) {
      await gate.close();
      throw error;
    }
    const timer = setTimeout(() => starter.#kill(), START_MS);
    try {
      await starter.#ready;
    } finally {
      clearTimeout(timer);
    }
    return starter;
  }

  /** Rejects with what `spawn` says, with `NotStarted`, or with `StarterLost`. */
  start(order: ProgramOrder): Promise<Program> {
    if (this.hasEnded || this.#isClosing) return Promise.reject(new NotStarted('the starter has ended'));
    return new Promise((begun, failed) => {
      const no = ++this.#lastNo;
      if (this.#held.size === 0) this.#watch();
      // The connections may be here before the word that it has begun.
      const output = this.#gate.expect(order.token);
      this.#held.set(no, { order, output, begun, failed, pid: null, ended: null });
      this.#orders.write(frame(BEGIN, no, JSON.stringify(order)));
    });
  }

  /** It ends when its programs have. Resolves when it has. */
  close(): Promise<void> {
    this.#isClosing = true;
    if (this.#held.size === 0 && !this.hasEnded) this.#leave();
    return this.#over;
  }

  #leave(): void {
    this.#orders.end();
    void this.#gate.close();
  }

  #kill(): void {
    this.#process.kill('SIGKILL');
  }

  /** Only while programs run. */
  #watch(): void {
    this.#process.ref();
    this.#unanswered = 0;
    this.#pings = setInterval(() => {
      if (this.#unanswered >= MOST_UNANSWERED) return this.#kill();
      this.#unanswered++;
      this.#orders.write(frame(PING, 0, ''));
    }, this.#pingMs);
  }

  #rest(): void {
    if (this.#pings !== null) clearInterval(this.#pings);
    this.#pings = null;
    this.#process.unref();
    if (this.#isClosing && !this.hasEnded) this.#leave();
  }

  #hear(kind: number, no: number, text: string): void {
    if (kind === PONG) {
      this.#unanswered = 0;
      return;
    }
    if (kind === READY) {
      this.#isReady = true;
      return this.#becomeReady();
    }
    const held = this.#held.get(no);
    if (held === undefined) return;
    if (kind === BEGUN) return this.#begun(held, Number(text));
    this.#held.delete(no);
    if (this.#held.size === 0) this.#rest();
    if (kind === ENDED) held.ended?.resolve(JSON.parse(text) as ProgramEnd);
    else if (kind === FAILED) this.#notBegun(held, errorOf(held.order, JSON.parse(text) as StartFault));
    else if (kind === NO_OUTPUT) this.#notBegun(held, new NotStarted(text));
  }

  #begun(held: Held, pid: number): void {
    held.pid = pid;
    const ended = new Promise<ProgramEnd>((resolve, reject) => {
      held.ended = { resolve, reject };
    });
    // Whoever has the program hears of it where it waits for the end.
    ended.catch(() => {});
    const forgetOutput = (): void => this.#gate.forget(held.order.token);
    held.begun({ pid, ...held.output, ended, forgetOutput });
  }

  #notBegun({ order, failed }: Held, error: Error): void {
    this.#gate.forget(order.token);
    failed(error);
  }

  async #ended(how: string): Promise<void> {
    if (this.hasEnded) return;
    this.hasEnded = true;
    this.#onEnded();
    await this.#gate.close();
    const { pid } = this.#process;
    for (const held of this.#held.values()) if (held.pid !== null) signalGroup(held.pid, 'SIGKILL');
    // What it had forked and was not yet a program of its own has its mark, and not that of the attempt.
    if (pid !== undefined) await sweep(ATTEMPT_MARK, this.#mark);
    if (pid !== undefined) this.#home.reaper.ended(pid);
    if (!this.#isReady) this.#refuse(new NotStarted(how));
    const lost = [...this.#held.values()];
    this.#held.clear();
    this.#rest();
    for (const held of lost) {
      // One that has not begun, as far as is known, is to blame only where nothing else can be.
      const error = new StarterLost(how, lost.length === 1 && (held.pid !== null || this.#isPrivate));
      if (held.ended === null) this.#notBegun(held, error);
      else held.ended.reject(error);
    }
    this.#becomeOver();
  }
}

function errorOf({ program }: ProgramOrder, { name, message, code, isThrown }: StartFault): Error {
  if (!isThrown) return cannotStart(program, { code, message });
  return Object.assign(new Error(message), { name }, code === '' ? {} : { code });
}
