/** What becomes true, as it becomes true. */
import type { EventView } from '@signalbox/protocol';
import { EVENT_KINDS } from '@signalbox/protocol/words';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { withQuery } from '../../api/client.ts';
import { workersQuery } from '../../api/queries.ts';
import { useSearchState } from '../../api/search-state.ts';
import { LiveStream, type StreamState } from '../../live/stream.ts';
import { DagLink } from '../../parts/dag-link.tsx';
import { ChoiceFilter, DagFilter } from '../../parts/filters.tsx';
import { actorName, localTime, shortId } from '../../parts/format.ts';
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
          {isPaused ? 'Resume' : 'Pause'}
        </button>
      }
    >
      <div className="toolbar">
        <DagFilter label="Only events of this DAG" />
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
          <VirtualRows
            count={events.length}
            height={ROW}
            label="Events"
            className="event-rows"
            head={
              <div className="event-row head" role="row">
                <span role="columnheader">When</span>
                <span role="columnheader">Kind</span>
                <span role="columnheader">DAG, run and task</span>
                <span role="columnheader">Details</span>
              </div>
            }
          >
            {(index) => <Row event={events[index] as Shown} />}
          </VirtualRows>
        )}
      </Card>
    </Page>
  );
}

function Row({ event }: { readonly event: Shown }) {
  const { at, kind, dag, run, task, details } = event;
  const workers = useQuery(workersQuery()).data?.items ?? [];
  const whole = detailsText(details, (_, value) => value);
  const text = detailsText(details, (name, value) =>
    name === 'worker' ? (workers.find(({ id }) => id === value)?.name ?? value.slice(0, 8)) : shortened(name, value),
  );
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
      <span role="cell" className="truncate soft" title={whole}>
        {text}
      </span>
    </div>
  );
}

function detailsText(details: EventView['details'], textOf: (name: string, value: string) => string): string {
  return Object.entries(details)
    .filter(([, value]) => value !== null && value !== undefined && value !== false)
    .map(([name, value]) => `${name} ${textOf(name, typeof value === 'string' ? value : JSON.stringify(value))}`)
    .join(', ');
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const INSTANT = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

/** What nobody reads in whole: ids, hashes, and times of another zone. The whole of it shows on hover. */
function shortened(name: string, value: string): string {
  if (name === 'actor') return actorName(value);
  if (UUID.test(value)) return shortId(value);
  if (INSTANT.test(value)) return localTime(Date.parse(value), Date.now());
  return name === 'hash' ? value.slice(0, 8) : value;
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
