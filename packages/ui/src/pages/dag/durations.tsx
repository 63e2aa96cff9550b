/** Each of the newest runs as a bar, oldest on the left, with the lines that half and nearly all of the runs stay below. */
import { Link } from '@tanstack/react-router';
import { fromNow, plural, span } from '../../parts/format.ts';
import { useNow } from '../../parts/now.tsx';
import { Card } from '../../parts/page.tsx';
import { lookOf } from '../../parts/states.ts';
import { type PastRun, percentile } from './history-figures.ts';

const PERCENTS = [50, 95, 99] as const;

export function Durations({ runs }: { readonly runs: readonly PastRun[] }) {
  const now = useNow();
  // Runs that failed or were cancelled say little about how long the work takes.
  const good = runs.flatMap(({ state, tookMs }) => (state === 'succeeded' && tookMs !== null ? [tookMs] : []));
  const lines = PERCENTS.map((percent) => ({ percent, ms: percentile(good, percent) }));
  const tookOf = ({ tookMs, createdMs }: PastRun) => tookMs ?? Math.max(0, now - createdMs);
  const most = Math.max(1, ...runs.map(tookOf));
  return (
    <Card
      title="How long the newest runs took"
      side={
        <span className="small soft row wrap">
          {lines.map(({ percent, ms }) => (
            <span key={percent} title={`${percent} of 100 runs that succeeded took at most this long`}>
              p{percent} <b>{ms === null ? '–' : span(ms)}</b>
            </span>
          ))}
        </span>
      }
    >
      <div className="durations">
        {lines.map(({ percent, ms }) =>
          ms === null || ms > most || percent === 99 ? null : (
            <div key={percent} className="duration-line" style={{ bottom: `${(ms / most) * 100}%` }}>
              <span>p{percent}</span>
            </div>
          ),
        )}
        {runs.map((run) => {
          const { word, tone } = lookOf(run.state);
          const label = `${word}, ${fromNow(run.createdMs, now)}, took ${span(tookOf(run))}`;
          return (
            <Link key={run.id} to="/runs/$id" params={{ id: run.id }} title={label} aria-label={label}>
              <i className={`tone-fill-${tone}`} style={{ height: `${Math.max(2, (tookOf(run) / most) * 100)}%` }} />
            </Link>
          );
        })}
      </div>
      <p className="small faint">
        The newest {plural(runs.length, 'run')}, newest on the right. Percentiles are of the {good.length} that
        succeeded.
      </p>
    </Card>
  );
}
