/**
 * A child process for functions. It loads one bundle, then runs attempts, in the order in which they came, until its worker is
 * gone: one after the other, or several at a time where the task says so. It is started often, so it loads little.
 *
 * The end of an attempt is written before the next one begins. So the worker knows, whatever happens to this process, which
 * attempts have begun and which have not.
 */
import type { AsyncLocalStorage } from 'node:async_hooks';
import { Socket } from 'node:net';
import { pathToFileURL } from 'node:url';
import { AttemptStopped, type Handler } from '@signalbox/sdk/handler';
import { callHandler } from '../executors/call-handler.ts';
import { failure, type Result, resultOfThrow, shownError } from '../result.ts';
import { ChildContext } from './child-context.ts';
import { ChildRequester } from './child-requester.ts';
import { endText, HAS_PRINTED, IS_LEAVING } from './end-text.ts';
import {
  ANSWER,
  BROKEN,
  bytesFrame,
  type ChildAnswer,
  END,
  EXITING,
  FROM_WORKER_FD,
  FrameReader,
  frame,
  GO_ON,
  HEAD_BYTES,
  HEARD_STOP,
  INIT,
  type Init,
  LOG,
  PRINT,
  PRINTED,
  READY,
  RUN,
  SLOW,
  STOP,
  type StopOrder,
  TAKE_BACK,
  TAKEN_BACK,
  TO_WORKER_FD,
  writeFrame,
} from './frames.ts';
import { readOrder } from './order-text.ts';
import { markEnd, routePrints, watchPrints, writeAll } from './prints.ts';
import { UsageMeter } from './usage-meter.ts';

const EXIT_BROKEN = 70;
/**
 * An attempt begins only if the worker was listened to within this time: it may have been taken back while another one kept
 * this process busy. The worker relies on it (`TAKEN_FOR_GRANTED_MS` there, which is much longer).
 */
const LISTENED_MS = 20;

interface Running {
  readonly no: number;
  readonly context: ChildContext;
  requester: ChildRequester | null;
  isOver: boolean;
}

watchPrints();
let functions: ReadonlyMap<string, Handler> = new Map();
let endMark: Buffer = Buffer.alloc(0);
let concurrency = 1;
/** Tells which attempt is speaking, where several run at a time. Promises are slower with it, so there is none otherwise. */
let speakers: AsyncLocalStorage<Running> | null = null;
/** Where several attempts run at a time, nobody can tell what each of them used. */
const meter = new UsageMeter();
const waiting: { readonly no: number; readonly text: string }[] = [];
const running = new Map<number, Running>();
let listenedAt = Number.NEGATIVE_INFINITY;
let isListening = false;
let isBeginning = false;
/** What the last attempt printed is on its way, and the next one must not print before it has arrived. */
let isHeld = false;

/** Used again and again: most ends have nothing to say, and a write is over when it returns. */
const bare = Buffer.alloc(HEAD_BYTES);

function tell(kind: number, no: number, text: string): void {
  if (text === '') writeFrame(bare, 0, kind, no, '');
  writeAll(TO_WORKER_FD, text === '' ? bare : frame(kind, no, text));
}

function beginSome(): void {
  if (isBeginning || isListening) return;
  isBeginning = true;
  while (waiting.length > 0 && running.size < concurrency && !isHeld) {
    const now = performance.now();
    if (now - listenedAt > LISTENED_MS) {
      listen();
      break;
    }
    const { no, text } = waiting.shift() as (typeof waiting)[number];
    begin(no, text, now);
  }
  isBeginning = false;
}

/** Everything that the worker had written by now is read when this goes on: a whole turn of the event loop lies between. */
function listen(): void {
  isListening = true;
  const now = performance.now();
  setImmediate(() =>
    setImmediate(() => {
      isListening = false;
      listenedAt = now;
      beginSome();
    }),
  );
}

function begin(no: number, text: string, now: number): void {
  const order = readOrder(text);
  const attempt: Running = {
    no,
    context: new ChildContext(
      order,
      (line) => {
        if (!attempt.isOver) tell(LOG, no, line);
      },
      () => {
        const requester = new ChildRequester((kind, said) => tell(kind, no, said));
        if (attempt.isOver) requester.end();
        else attempt.requester = requester;
        return requester;
      },
    ),
    requester: null,
    isOver: false,
  };
  running.set(no, attempt);
  if (concurrency === 1) meter.begin(now);
  const handler = functions.get(order.functionName);
  if (handler === undefined) {
    end(attempt, failure('permanent', `The bundle has no function "${order.functionName}": deploy the dag again.`));
  } else if (speakers === null) callHandler(handler, attempt.context, (result) => end(attempt, result));
  else speakers.run(attempt, callHandler, handler, attempt.context, (result: Result) => end(attempt, result));
}

function end(attempt: Running, result: Result, isLeaving = false): void {
  // What comes after the first end is forgotten.
  if (attempt.isOver) return;
  attempt.isOver = true;
  attempt.requester?.end();
  running.delete(attempt.no);
  const used = concurrency === 1 ? meter.end() : undefined;
  const ended = used === undefined ? result : { ...result, used };
  const hasPrinted = markEnd(endMark);
  if (hasPrinted && concurrency === 1) isHeld = true;
  tell(END, attempt.no, endText(ended, (hasPrinted ? HAS_PRINTED : 0) | (isLeaving ? IS_LEAVING : 0)));
  if (!isLeaving) beginSome();
}

/** Which attempt is at work in this very moment; null where that can't be told. */
function speaker(): Running | null {
  if (speakers !== null) return speakers.getStore() ?? null;
  const [only] = running.values();
  return only ?? null;
}

async function load(init: Init): Promise<void> {
  endMark = Buffer.from(init.endMark);
  concurrency = init.concurrency;
  try {
    if (concurrency > 1) await tellSpeakersApart();
    const loaded = (await import(pathToFileURL(init.bundlePath).href)) as {
      readonly functions?: Record<string, Handler>;
    };
    functions = new Map(Object.entries(loaded.functions ?? {}));
    tell(READY, 0, markEnd(endMark) ? PRINTED : '');
  } catch (error) {
    tell(BROKEN, 0, shownError(error));
    process.exit(EXIT_BROKEN);
  }
}

async function tellSpeakersApart(): Promise<void> {
  const { AsyncLocalStorage } = await import('node:async_hooks');
  const store = new AsyncLocalStorage<Running>();
  speakers = store;
  routePrints((fd, chunk) => {
    const attempt = store.getStore();
    if (attempt === undefined) return false;
    // What an attempt that is over still prints belongs to nothing.
    if (!attempt.isOver) {
      writeAll(TO_WORKER_FD, bytesFrame(PRINT, attempt.no, Buffer.concat([Buffer.from([fd]), chunk])));
    }
    return true;
  });
}

// Also for rejections that nobody handles. The child is not used again: what it left half done is not known.
process.on('uncaughtException', (error) => {
  const result = resultOfThrow(error);
  const attempt = speaker();
  if (attempt !== null) end(attempt, { ...result, error: `Uncaught error: ${result.error}` }, true);
  process.exit(EXIT_BROKEN);
});

process.on('exit', () => {
  const attempt = speaker();
  if (attempt !== null && !attempt.isOver) tell(EXITING, attempt.no, '');
});

function takeBack(no: number): void {
  const at = waiting.findIndex((one) => one.no === no);
  if (at === -1) return;
  waiting.splice(at, 1);
  tell(TAKEN_BACK, no, '');
}

function stop(no: number, text: string): void {
  const { reason, message } = JSON.parse(text) as StopOrder;
  tell(HEARD_STOP, no, '');
  running.get(no)?.context.abort(new AttemptStopped(reason, message));
}

const orders = new FrameReader((kind, no, content) => {
  const text = content.length === 0 ? '' : content.toString();
  if (kind === RUN) waiting.push({ no, text });
  else if (kind === ANSWER) running.get(no)?.requester?.answered(JSON.parse(text) as ChildAnswer);
  else if (kind === SLOW) running.get(no)?.context.slow();
  else if (kind === STOP) stop(no, text);
  else if (kind === TAKE_BACK) takeBack(no);
  else if (kind === GO_ON) isHeld = false;
  else if (kind === INIT) void load(JSON.parse(text) as Init);
});
const fromWorker = new Socket({ fd: FROM_WORKER_FD, readable: true, writable: false });
fromWorker.on('data', (bytes: Buffer) => {
  orders.push(bytes);
  beginSome();
});
// The worker has gone, or wants this child no more.
fromWorker.on('close', () => process.exit(0));
fromWorker.on('error', () => process.exit(0));
