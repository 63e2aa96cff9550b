/** The last runs of a dag as small bars: height for how long, colour and pattern for how it ended. Oldest first. */
import type { DagView } from '@signalbox/protocol';
import { useNavigate } from '@tanstack/react-router';
import type { MouseEvent } from 'react';
import { fromNow, span } from './format.ts';
import { lookOf, runState } from './states.ts';

type Recent = DagView['recentRuns'][number];
const HEIGHT = 22;
const LOWEST = 5;

export function RunStrip({ runs, most = 14 }: { readonly runs: readonly Recent[]; readonly most?: number }) {
  const now = Date.now();
  const navigate = useNavigate();
  // Plain links with one listener: a list shows hundreds of them while it scrolls.
  const follow = (event: MouseEvent) => {
    const link = (event.target as Element).closest('a');
    if (link === null || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    void navigate({ to: link.pathname });
  };
  const shown = runs.slice(0, most).reverse();
  const tookMs = ({ createdAt, endedAt }: Recent) =>
    (endedAt === null ? now : Date.parse(endedAt)) - Date.parse(createdAt);
  const ended = shown.filter(({ endedAt }) => endedAt !== null);
  // A run that waits for hours must not make all others look alike.
  const longest = Math.max(1, ...(ended.length > 0 ? ended : shown).map(tookMs));
  if (shown.length === 0) return <span className="faint">no runs yet</span>;
  return (
    <span className="strip" onClick={follow}>
      {shown.map((run) => {
        const { word, tone } = lookOf(runState(run));
        const label = `${word}, ${fromNow(Date.parse(run.createdAt), now)}, took ${span(tookMs(run))}`;
        const height = LOWEST + Math.round((HEIGHT - LOWEST) * Math.min(1, tookMs(run) / longest));
        return (
          <a key={run.id} href={`/runs/${run.id}`} title={label} aria-label={label}>
            <i className={tone} style={{ height }} />
          </a>
        );
      })}
    </span>
  );
}
