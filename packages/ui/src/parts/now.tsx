/** One clock for the whole page, so that times that count up change together. */
import { useSyncExternalStore } from 'react';
import { allZones, fromNow, localTime, span } from './format.ts';

let now = Date.now();
const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => {
    now = Date.now();
    for (const each of listeners) each();
  }, 1_000);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

export function useNow(): number {
  return useSyncExternalStore(subscribe, () => now);
}

interface TimeProps {
  readonly at: string | null;
  /** The zone of the dag, shown on hover. */
  readonly zone?: string | undefined;
}

export function Ago({ at, zone }: TimeProps) {
  const current = useNow();
  if (at === null) return <span className="faint">–</span>;
  const ms = Date.parse(at);
  return (
    <time dateTime={at} title={allZones(ms, zone)} className="nowrap">
      {fromNow(ms, current)}
    </time>
  );
}

export function Time({ at, zone, withDay = false }: TimeProps & { readonly withDay?: boolean }) {
  const current = useNow();
  if (at === null) return <span className="faint">–</span>;
  const ms = Date.parse(at);
  return (
    <time dateTime={at} title={allZones(ms, zone)} className="nowrap">
      {localTime(ms, current, withDay)}
    </time>
  );
}

/** How long something took; counts up while it has not ended. */
export function Took({ from, to }: { readonly from: string | null; readonly to: string | null }) {
  const current = useNow();
  if (from === null) return <span className="faint">–</span>;
  const end = to === null ? current : Date.parse(to);
  return <span className="nowrap">{span(end - Date.parse(from))}</span>;
}
