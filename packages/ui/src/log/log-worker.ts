/**
 * Reads a log beside the page: what comes over the network faster than it can be shown must not hold the page up. Tells it a few
 * times a second what is new.
 */
import { LiveStream } from '../live/stream.ts';
import { batchOf, type LineBatch, type SentLine } from './lines.ts';

export interface LogNews {
  readonly batch: LineBatch;
  readonly isOver: boolean;
  readonly isCut: boolean;
  /** Servers that may have lines and did not answer. */
  readonly missing: readonly string[];
  readonly isConnected: boolean;
}

const TELL_MS = 120;
/** More than this is for the download. A page of 19 pixels a line can be no higher in Chromium. */
const MOST_LINES = 1_700_000;

function read(path: string): void {
  let count = 0;
  let fresh: SentLine[] = [];
  let isOver = false;
  let isCut = false;
  let isConnected = false;
  let missing: readonly string[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  const tell = () => {
    timer ??= setTimeout(() => {
      timer = undefined;
      const batch = batchOf(fresh);
      fresh = [];
      self.postMessage({ batch, isOver, isCut, missing, isConnected } satisfies LogNews, {
        transfer: [batch.ends, batch.nos, batch.ats, batch.streams, batch.tasks].map(({ buffer }) => buffer),
      });
    }, TELL_MS);
  };
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
        fresh.push(JSON.parse(data) as SentLine);
      } else {
        isCut = true;
        stream.stop();
      }
      tell();
    },
    onState(state) {
      isConnected = state === 'live';
      tell();
    },
    onGap: () => undefined,
  });
  void stream.run();
}

self.addEventListener('message', ({ data }: MessageEvent<{ path: string }>) => read(data.path));
