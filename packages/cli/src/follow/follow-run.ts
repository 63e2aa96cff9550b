/**
 * Yields a run each time it has changed, until it has ended. The event stream says when to look. Without a stream, and from
 * time to time anyway, the run is polled.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { type Client, type RunView, WaitTimedOut } from '@signalbox/sdk';

interface FollowOptions {
  readonly timeoutMs?: number | undefined;
  readonly signal: AbortSignal;
  readonly onSeen: (run: RunView) => void;
}

/** A look is no more than a small part of the time, however large the run. */
const LOOK_SHARE = 5;
const SOONEST_MS = 50;
const POLL_MS = 250;
/** With the stream at hand: what it does not tell, such as a claim that was handed out again. */
const UNTOLD_MS = 1_000;

export async function followRun(client: Client, id: string, options: FollowOptions): Promise<RunView> {
  const { timeoutMs = Number.POSITIVE_INFINITY, signal, onSeen } = options;
  const startedAt = performance.now();
  const stream = new AbortController();
  signal.addEventListener('abort', () => stream.abort(), { once: true });
  const news = listen(client, id, stream.signal);
  try {
    for (;;) {
      const askedAt = performance.now();
      const run = await client.getRun(id, { signal });
      const tookMs = performance.now() - askedAt;
      onSeen(run);
      if (run.state === 'ended' || run.state === 'set_aside') return run;
      const leftMs = timeoutMs - (performance.now() - startedAt);
      if (leftMs <= 0) throw new WaitTimedOut(run, timeoutMs);
      await pause(Math.min(leftMs, Math.max(SOONEST_MS, tookMs * LOOK_SHARE)), undefined, { signal });
      await news.next(Math.min(leftMs, news.isHeard() ? UNTOLD_MS : POLL_MS), signal);
    }
  } finally {
    stream.abort();
  }
}

interface News {
  /** Whether the stream is open. */
  isHeard(): boolean;
  /** Resolves at the next event, at once if one came since the last time, or after the time. */
  next(withinMs: number, signal: AbortSignal): Promise<void>;
}

function listen(client: Client, id: string, signal: AbortSignal): News {
  let isNew = false;
  let isHeard = true;
  let wake: () => void = () => {};
  const read = async (): Promise<void> => {
    try {
      for await (const _ of client.followEvents({ run: id }, { signal })) {
        isNew = true;
        wake();
      }
    } catch {
      isHeard = false; // asking goes on without it, and says what is wrong if that fails too
    }
  };
  void read();
  return {
    isHeard: () => isHeard,
    next: async (withinMs, outer) => {
      if (!isNew) {
        const woken = new AbortController();
        wake = () => woken.abort();
        outer.addEventListener('abort', wake, { once: true });
        await pause(withinMs, undefined, { signal: woken.signal }).catch(() => undefined);
        outer.removeEventListener('abort', wake);
        outer.throwIfAborted();
      }
      isNew = false;
    },
  };
}
