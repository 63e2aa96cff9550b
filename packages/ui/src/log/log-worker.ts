/**
 * Reads a log beside the page: what comes over the network faster than it can be shown must not hold the page up. Tells it a few
 * times a second what is new, never more than the page can take in at once, and only after the page has shown what it was told before.
 */
import { LiveStream } from '../live/stream.ts';
import { batchOf, type LineBatch, type SentLine } from './lines.ts';
import { Pacer } from './pacer.ts';

export interface LogNews {
  readonly batch: LineBatch;
  readonly isOver: boolean;
  readonly isCut: boolean;
  /** Servers that may have lines and did not answer. */
  readonly missing: readonly string[];
  readonly isConnected: boolean;
}

/** More than this is for the download. A page of 19 pixels a line can be no higher in Chromium. */
const MOST_LINES = 1_700_000;
/** In one message. The page copies its text, which takes about a millisecond. */
const MOST_AT_ONCE = 20_000;

let pacer: Pacer | null = null;

function read(path: string): void {
  let count = 0;
  let waiting: SentLine[] = [];
  let isOver = false;
  let isCut = false;
  let isConnected = false;
  let missing: readonly string[] = [];
  const pace = new Pacer({
    send: () => {
      const batch = batchOf(waiting.slice(0, MOST_AT_ONCE));
      waiting = waiting.slice(MOST_AT_ONCE);
      const isAll = waiting.length === 0;
      self.postMessage(
        { batch, isOver: isOver && isAll, isCut: isCut && isAll, missing, isConnected } satisfies LogNews,
        {
          transfer: [batch.ends, batch.nos, batch.ats, batch.streams, batch.tasks].map(({ buffer }) => buffer),
        },
      );
      return isAll;
    },
  });
  pacer = pace;
  const stream = new LiveStream({
    path: `${path}${path.includes('?') ? '&' : '?'}follow=true`,
    onFrame({ event, data }) {
      if (data === null) return;
      if (event === 'end') {
        isOver = true;
        missing = (JSON.parse(data) as { missing?: readonly string[] }).missing ?? [];
        stream.stop();
      } else if (count < MOST_LINES) {
        count += 1;
        waiting.push(JSON.parse(data) as SentLine);
      } else {
        isCut = true;
        stream.stop();
      }
      pace.ask();
    },
    onState(state) {
      isConnected = state === 'live';
      pace.ask();
    },
    onGap: () => undefined,
  });
  void stream.run();
}

export interface ToLogWorker {
  /** The log to read; once. */
  readonly path?: string;
  /** The page shows what it was sent last. */
  readonly isShown?: true;
}

self.addEventListener('message', ({ data: { path, isShown } }: MessageEvent<ToLogWorker>) => {
  if (path !== undefined) read(path);
  if (isShown === true) pacer?.shown();
});
