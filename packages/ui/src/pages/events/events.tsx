/** What becomes true, as it becomes true. */
import type { EventView } from '@signalbox/protocol';
import { EVENT_KINDS } from '@signalbox/protocol/words';
import { Link } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { withQuery } from '../../api/client.ts';
import { useSearchState } from '../../api/search-state.ts';
import { LiveStream, type StreamState } from '../../live/stream.ts';
import { DagLink } from '../../parts/dag-link.tsx';
import { ChoiceFilter, TextFilter } from '../../parts/filters.tsx';
import { shortId } from '../../parts/format.ts';
import { Time } from '../../parts/now.tsx';
import { Card, Empty, Page } from '../../parts/page.tsx';
import { VirtualRows } from '../../parts/virtual-rows.tsx';

type Shown = Omit<EventView, 'cursor'> & { readonly id: number };
const MOST = 5_000;
const TELL_MS = 250;
const ROW = 30;

export function EventsPage() {
  const [{ dag, run, kind, from }, change] = useSearchState();
  const [isPaused, setPaused] = useState(false);
  const { events, state } = useEvents(withQuery('/v1/events', { dag, run, kind, from }), isPaused);
  return (
    <Page
      title="Events"
      sub="Everything that happens in the system, newest first."
      actions={
        <button type="button" className="button" aria-pressed={isPaused} onClick={() => setPaused(!isPaused)}>
          {isPaused ? 'Go on' : 'Hold still'}
        </button>
      }
    >
      <div className="toolbar">
        <TextFilter name="dag" label="Only events of this DAG" placeholder="Only this DAG  /" />
        <ChoiceFilter name="kind" label="Only this kind" all="All kinds" choices={EVENT_KINDS} word={(one) => one} />
        <select
          className="field"
          aria-label="From when"
          value={from ?? 'now'}
          onChange={(event) => change({ from: event.target.value === 'now' ? undefined : event.target.value })}
        >
          <option value="now">From now on</option>
          <option value="start">Everything that is kept</option>
        </select>
        {run !== undefined && (
          <button type="button" className="button small" onClick={() => change({ run: undefined })}>
            Run {shortId(run)} ✕
          </button>
        )}
      </div>
      <Card flush>
        {events.length === 0 ? (
          <Empty title={state === 'live' ? 'Listening …' : 'Connecting …'}>
            <span>Events show here as they happen. Trigger a DAG to see some.</span>
          </Empty>
        ) : (
          <VirtualRows count={events.length} height={ROW} label="Events">
            {(index) => <Row event={events[index] as Shown} />}
          </VirtualRows>
        )}
      </Card>
    </Page>
  );
}

function Row({ event }: { readonly event: Shown }) {
  const { at, kind, dag, run, task, details } = event;
  const text = Object.entries(details)
    .filter(([, value]) => value !== null && value !== undefined && value !== false)
    .map(([name, value]) => `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ');
  return (
    <div className="event-row">
      <span role="cell" className="faint small">
        <Time at={at} />
      </span>
      <span role="cell" className="mono">
        {kind}
      </span>
      <span role="cell" className="truncate">
        {dag !== null && <DagLink name={dag} className="" />}
        {run !== null && (
          <>
            {' '}
            <Link to="/runs/$id" params={{ id: run }} className="mono">
              {shortId(run)}
            </Link>
          </>
        )}
        {run !== null && task !== null && (
          <>
            {' '}
            <Link to="/runs/$id/tasks/$task" params={{ id: run, task }}>
              {task}
            </Link>
          </>
        )}
      </span>
      <span role="cell" className="truncate soft" title={text}>
        {text}
      </span>
    </div>
  );
}

const newestFirst = (a: Shown, b: Shown): number => (a.at < b.at ? 1 : a.at > b.at ? -1 : 0);

/** The newest, newest first. Paused, they are still taken in, and shown when it goes on. */
function useEvents(path: string, isPaused: boolean): { events: readonly Shown[]; state: StreamState } {
  const [events, setEvents] = useState<readonly Shown[]>([]);
  const [shown, setShown] = useState<readonly Shown[]>([]);
  const [state, setState] = useState<StreamState>('connecting');
  useEffect(() => {
    let fresh: Shown[] = [];
    let nextId = 0;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const stream = new LiveStream({
      path,
      onState: setState,
      onGap: () => undefined,
      onFrame({ data }) {
        if (data === null) return;
        fresh.push({ ...(JSON.parse(data) as Omit<EventView, 'cursor'>), id: nextId++ });
        timer ??= setTimeout(() => {
          timer = undefined;
          const taken = fresh.reverse();
          fresh = [];
          // Shards tell of what they did one after the other.
          setEvents((known) => [...taken, ...known].sort(newestFirst).slice(0, MOST));
        }, TELL_MS);
      },
    });
    setEvents([]);
    void stream.run();
    return () => {
      stream.stop();
      clearTimeout(timer);
    };
  }, [path]);
  useEffect(() => {
    if (!isPaused) setShown(events);
  }, [events, isPaused]);
  return { events: shown, state };
}
