/** Keeps what is on the page true: listens to the server, and says when it cannot. */
import { useQueryClient } from '@tanstack/react-query';
import { createContext, type ReactNode, useContext, useEffect, useMemo, useState } from 'react';
import { EVERYTHING, readDigest } from './digest.ts';
import { Refresher } from './refresher.ts';
import { LiveStream, type StreamState } from './stream.ts';

const DIGEST_MS = 250;
const TICK_MS = 150;
/** A short break is not worth a word. */
const QUIET_MS = 1_500;

interface LiveState {
  readonly state: StreamState;
  /** Since when the page may be out of date; null while it is not. */
  readonly staleSince: number | null;
}

const LiveContext = createContext<LiveState>({ state: 'connecting', staleSince: null });
export const useLive = (): LiveState => useContext(LiveContext);

export function LiveProvider({ children }: { readonly children: ReactNode }) {
  const client = useQueryClient();
  const [state, setState] = useState<StreamState>('connecting');
  const [staleSince, setStaleSince] = useState<number | null>(null);

  useEffect(() => {
    const refresher = new Refresher(client);
    const ticking = setInterval(() => refresher.isIdle || refresher.tick(), TICK_MS);
    let quiet: ReturnType<typeof setTimeout> | undefined;
    let wasBroken = false;
    const stream = new LiveStream({
      path: `/v1/events?digestMs=${DIGEST_MS}`,
      onFrame: ({ event, data }) => event === 'digest' && data !== null && refresher.note(readDigest(data)),
      onGap: () => refresher.note(EVERYTHING),
      onState(next) {
        setState(next);
        if (next === 'live') {
          clearTimeout(quiet);
          quiet = undefined;
          setStaleSince(null);
          // Requests that failed meanwhile are made again; what changed comes with the stream.
          if (wasBroken) refresher.note(EVERYTHING);
          wasBroken = false;
        } else if (next === 'broken') {
          wasBroken = true;
          const since = Date.now();
          quiet ??= setTimeout(() => setStaleSince(since), QUIET_MS);
        }
      },
    });
    void stream.run();
    return () => {
      stream.stop();
      clearInterval(ticking);
      clearTimeout(quiet);
    };
  }, [client]);

  const value = useMemo(() => ({ state, staleSince }), [state, staleSince]);
  return <LiveContext value={value}>{children}</LiveContext>;
}
