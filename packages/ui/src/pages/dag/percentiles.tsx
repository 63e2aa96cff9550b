/** How long runs took over time: for each day or hour, what half, 95 % and 99 % of the runs stayed below. */
import type { Stats } from '@signalbox/protocol';
import { useQuery } from '@tanstack/react-query';
import { statsQuery } from '../../api/queries.ts';
import { useSearchState } from '../../api/search-state.ts';
import { plural, span } from '../../parts/format.ts';
import { Card, Loaded } from '../../parts/page.tsx';
import { linesOf } from './percentile-lines.ts';

const STEPS = { day: 60, hour: 48 } as const;
const WIDTH = 1_000;
const HEIGHT = 150;
const LINES = [
  ['p50Ms', 'p50'],
  ['p95Ms', 'p95'],
  ['p99Ms', 'p99'],
] as const;

export function Percentiles({ dag }: { readonly dag: string }) {
  const [{ by: chosen }, change] = useSearchState();
  const by = chosen === 'hour' ? 'hour' : 'day';
  const stats = useQuery(statsQuery({ dag, by, steps: STEPS[by] }));
  return (
    <Card
      title="Percentiles over time"
      side={
        <div className="segmented small" role="group" aria-label="Step">
          {(['day', 'hour'] as const).map((step) => (
            <button
              key={step}
              type="button"
              aria-pressed={by === step}
              onClick={() => change({ by: step === 'day' ? undefined : step })}
            >
              {step === 'day' ? `${STEPS.day} days` : `${STEPS.hour} hours`}
            </button>
          ))}
        </div>
      }
    >
      <Loaded query={stats}>{(found) => <Chart stats={found} by={by} />}</Loaded>
    </Card>
  );
}

function Chart({ stats, by }: { readonly stats: Stats; readonly by: 'day' | 'hour' }) {
  const { steps, total } = stats;
  const most = Math.max(1, ...steps.map(({ p99Ms }) => p99Ms ?? 0));
  const label = `Half of ${plural(total.succeeded, 'run')} took at most ${said(total.p50Ms)}, 95 % ${said(total.p95Ms)}, 99 % ${said(total.p99Ms)}.`;
  return (
    <>
      <div className="percentiles">
        <span className="small faint">{span(most)}</span>
        <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={label}>
          {LINES.map(([field, name]) =>
            linesOf(
              steps.map((step) => step[field]),
              { width: WIDTH, height: HEIGHT, most },
            ).map((points) => <polyline key={`${name} ${points}`} className={`line-${name}`} points={points} />),
          )}
        </svg>
        <div className="percentile-steps" aria-hidden="true">
          {steps.map((step) => (
            <i key={step.from} title={textOf(step, by)} />
          ))}
        </div>
      </div>
      <div className="percentile-axis small faint">
        <span>{whenOf(steps[0]?.from, by)}</span>
        <span>{whenOf(steps.at(-1)?.from, by)}</span>
      </div>
      <p className="small faint row wrap">
        {LINES.map(([, name]) => (
          <span key={name} className={`key-${name}`}>
            {name}
          </span>
        ))}
        <span>{label}</span>
      </p>
    </>
  );
}

const day = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', timeZone: 'UTC' });
const hour = new Intl.DateTimeFormat(undefined, {
  weekday: 'short',
  hour: '2-digit',
  minute: '2-digit',
  hour12: false,
});

/** Days come as dates, hours as instants. */
function whenOf(from: string | undefined, by: 'day' | 'hour'): string {
  if (from === undefined) return '';
  return by === 'day' ? day.format(new Date(`${from.slice(0, 10)}T00:00:00Z`)) : hour.format(new Date(from));
}

const said = (ms: number | null): string => (ms === null ? '–' : span(ms));

function textOf({ from, succeeded, failed, p50Ms, p95Ms, p99Ms }: Stats['steps'][number], by: 'day' | 'hour'): string {
  const when = by === 'day' ? from : new Date(from).toLocaleString();
  const ended = `${plural(succeeded, 'run')} succeeded, ${failed} failed`;
  return succeeded === 0 ? `${when}: ${ended}` : `${when}: ${ended}; ${said(p50Ms)}, ${said(p95Ms)}, ${said(p99Ms)}`;
}
