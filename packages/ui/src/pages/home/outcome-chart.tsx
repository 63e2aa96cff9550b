/** The latest runs over time: how many, and how they ended. */
import type { RunSummary } from '@signalbox/protocol';
import { localTime, plural } from '../../parts/format.ts';
import { useNow } from '../../parts/now.tsx';
import { binRuns } from './bins.ts';

const BINS = 30;
const HEIGHT = 40;
const TONES = ['ok', 'bad', 'idle', 'busy'] as const;

export function OutcomeChart({ runs }: { readonly runs: readonly RunSummary[] }) {
  const now = useNow();
  if (runs.length === 0) return <span className="faint">No runs yet</span>;
  const { bins, fromMs, stepMs } = binRuns(runs, now, BINS);
  const most = Math.max(1, ...bins.map((bin) => TONES.reduce((sum, tone) => sum + bin[tone], 0)));
  const failed = bins.reduce((sum, { bad }) => sum + bad, 0);
  const label = `${plural(runs.length, 'run')} since ${localTime(fromMs, now)}, ${failed} failed`;
  return (
    <figure aria-label={label}>
      <svg
        viewBox={`0 0 ${BINS * 8} ${HEIGHT}`}
        preserveAspectRatio="none"
        className="bars"
        role="img"
        aria-label={label}
      >
        {bins.map((bin, at) => {
          let top = HEIGHT;
          return TONES.map((tone) => {
            const height = (bin[tone] / most) * (HEIGHT - 1);
            top -= height;
            return height === 0 ? null : (
              <rect
                key={`${fromMs + at * stepMs} ${tone}`}
                x={at * 8 + 1}
                y={top}
                width={6}
                height={height}
                className={`bar-${tone}`}
              />
            );
          });
        })}
      </svg>
      <figcaption className="small faint">{label}</figcaption>
    </figure>
  );
}
