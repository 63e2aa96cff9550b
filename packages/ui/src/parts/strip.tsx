/** The last runs of a dag as small bars: height for how long, colour and pattern for how it ended. Oldest first. */
import type { DagView } from '@signalbox/protocol';
import { Link } from '@tanstack/react-router';
import { fromNow, span } from './format.ts';
import { lookOf, runState } from './states.ts';

type Recent = DagView['recentRuns'][number];
const HEIGHT = 22;
const LOWEST = 5;

export function RunStrip({ runs, most = 14 }: { readonly runs: readonly Recent[]; readonly most?: number }) {
  const now = Date.now();
  const shown = runs.slice(0, most).reverse();
  const tookMs = ({ createdAt, endedAt }: Recent) =>
    (endedAt === null ? now : Date.parse(endedAt)) - Date.parse(createdAt);
  const longest = Math.max(1, ...shown.map(tookMs));
  if (shown.length === 0) return <span className="faint">no runs yet</span>;
  return (
    <span className="strip">
      {shown.map((run) => {
        const { word, tone } = lookOf(runState(run));
        const label = `${word}, ${fromNow(Date.parse(run.createdAt), now)}, took ${span(tookMs(run))}`;
        const height = LOWEST + Math.round((HEIGHT - LOWEST) * (tookMs(run) / longest));
        return (
          <Link key={run.id} to="/runs/$id" params={{ id: run.id }} title={label} aria-label={label}>
            <i className={tone} style={{ height }} />
          </Link>
        );
      })}
    </span>
  );
}
