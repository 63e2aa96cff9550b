/**
 * A child process for functions. It loads one bundle, then runs one attempt after the other until its worker is gone. It is
 * started often, so it loads little.
 */
import { Socket } from 'node:net';
import { pathToFileURL } from 'node:url';
import { AttemptStopped, type Handler } from '@signalbox/sdk/handler';
import { callHandler } from '../executors/call-handler.ts';
import { failure, type Result, resultOfThrow, shownError } from '../result.ts';
import { ChildContext } from './child-context.ts';
import { ChildRequester } from './child-requester.ts';
import {
  ANSWER,
  BROKEN,
  type ChildAnswer,
  END,
  FROM_WORKER_FD,
  FrameReader,
  frame,
  INIT,
  type Init,
  LOG,
  PRINTED,
  READY,
  RUN,
  type RunOrder,
  SLOW,
  STOP,
  type StopOrder,
  TO_WORKER_FD,
} from './frames.ts';
import { markEnd, watchPrints, writeAll } from './prints.ts';

const EXIT_BROKEN = 70;

watchPrints();
let functions: ReadonlyMap<string, Handler> = new Map();
let endMark: Buffer = Buffer.alloc(0);
let current: { readonly context: ChildContext; readonly no: number; requester: ChildRequester | null } | null = null;
let count = 0;

const tell = (kind: number, text: string): void => writeAll(TO_WORKER_FD, frame(kind, text));

function end(no: number, result: Result, isLeaving = false): void {
  // Of an attempt that has ended already; what comes after the first is forgotten.
  if (current?.no !== no) return;
  current.requester?.end();
  current = null;
  const hasPrinted = markEnd(endMark);
  tell(END, JSON.stringify({ ...result, hasPrinted, isLeaving }));
}

async function load({ bundlePath, endMark: mark }: Init): Promise<void> {
  endMark = Buffer.from(mark);
  try {
    const loaded = (await import(pathToFileURL(bundlePath).href)) as { readonly functions?: Record<string, Handler> };
    functions = new Map(Object.entries(loaded.functions ?? {}));
    tell(READY, markEnd(endMark) ? PRINTED : '');
  } catch (error) {
    tell(BROKEN, shownError(error));
    process.exit(EXIT_BROKEN);
  }
}

function run(order: RunOrder): void {
  const no = ++count;
  const context = new ChildContext(
    order,
    (line) => tell(LOG, line),
    () => {
      const requester = new ChildRequester(tell);
      if (current?.no === no) current.requester = requester;
      else requester.end();
      return requester;
    },
  );
  current = { context, no, requester: null };
  const handler = functions.get(order.functionName);
  if (handler === undefined) {
    end(no, failure('permanent', `The bundle has no function "${order.functionName}": deploy the dag again.`));
    return;
  }
  callHandler(handler, context, (result) => end(no, result));
}

// Also for rejections that nobody handles. The child is not used again: what it left half done is not known.
process.on('uncaughtException', (error) => {
  const result = resultOfThrow(error);
  if (current !== null) end(current.no, { ...result, error: `Uncaught error: ${result.error}` }, true);
  process.exit(EXIT_BROKEN);
});

const orders = new FrameReader((kind, text) => {
  if (kind === RUN) run(JSON.parse(text) as RunOrder);
  else if (kind === ANSWER) {
    const { attempt, ...answer } = JSON.parse(text) as ChildAnswer & { readonly attempt: number };
    if (current?.no === attempt) current.requester?.answered(answer);
  } else if (kind === SLOW) current?.context.slow();
  else if (kind === STOP) {
    const { reason, message } = JSON.parse(text) as StopOrder;
    current?.context.abort(new AttemptStopped(reason, message));
  } else if (kind === INIT) void load(JSON.parse(text) as Init);
});
const fromWorker = new Socket({ fd: FROM_WORKER_FD, readable: true, writable: false });
fromWorker.on('data', (bytes: Buffer) => orders.push(bytes));
// The worker has gone, or wants this child no more.
fromWorker.on('close', () => process.exit(0));
fromWorker.on('error', () => process.exit(0));
