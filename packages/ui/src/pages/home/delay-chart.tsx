/** How long the newest runs waited for their first task: a bar each, newest on the right. */
import type { Delays } from '@signalbox/protocol';
import { plural, span } from '../../parts/format.ts';
import { percentile } from '../dag/history-figures.ts';

const HEIGHT = 40;
const BARS = 60;

const within = (ms: number): string => (ms < 1 ? '1 ms' : span(ms));

export function DelayChart({ delays }: { readonly delays: Delays | undefined }) {
  const known = (delays?.delayMs ?? []).flatMap((ms) => (ms === null ? [] : [ms]));
  if (known.length === 0) return <span className="faint">No run has started yet</span>;
  const shown = known.slice(0, BARS).reverse();
  const most = Math.max(1, ...shown);
  const [half, nearlyAll] = [percentile(known, 50) ?? 0, percentile(known, 95) ?? 0];
  const label = `Start delay of the newest runs: p50 ${within(half)}, p95 ${within(nearlyAll)}`;
  return (
    <figure aria-label={label}>
      <svg
        viewBox={`0 0 ${BARS * 4} ${HEIGHT}`}
        preserveAspectRatio="none"
        className="bars"
        role="img"
        aria-label={`${label}. ${plural(shown.length, 'run')}, newest on the right.`}
      >
        {shown.map((ms, at) => {
          const height = Math.max(1, (ms / most) * (HEIGHT - 1));
          const place = BARS - shown.length + at;
          return (
            <rect key={place} x={place * 4 + 0.5} y={HEIGHT - height} width={3} height={height} className="bar-busy" />
          );
        })}
      </svg>
      <figcaption className="small faint">{label}</figcaption>
    </figure>
  );
}
