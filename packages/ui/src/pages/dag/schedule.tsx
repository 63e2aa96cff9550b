import type { DagDetails, WindowView } from '@signalbox/protocol';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { firingsQuery, windowsQuery } from '../../api/queries.ts';
import { plural, shortId } from '../../parts/format.ts';
import { Ago, Time } from '../../parts/now.tsx';
import { Card, Empty, Loaded } from '../../parts/page.tsx';
import { cronWords } from '../../parts/schedule-words.ts';
import { clockChange } from './clock-changes.ts';

const MISSED = {
  skip: 'are skipped',
  most_recent: 'run once, for the most recent',
  catchup: 'run, each of them',
} as const;
const SKIPPED: Readonly<Record<NonNullable<WindowView['skipped']>, string>> = {
  paused: 'skipped: the schedule was paused',
  missed: 'skipped: no server ran',
  gap: 'skipped: a clock change removed this time',
  overlap: 'skipped: another run was active',
  deadline: 'skipped: it was too late to start',
};

export function Schedule({ dag }: { readonly dag: DagDetails }) {
  const windows = useQuery(windowsQuery(dag.name));
  const { schedule } = dag;
  if (schedule === null) {
    return (
      <Card>
        <Empty
          title={dag.event === null ? 'This DAG has no schedule.' : `Runs when the event ${dag.event} is signalled.`}
        >
          {dag.event === null ? (
            <span>
              Add <code>schedule: {"{ cron: '0 6 * * *', zone: 'Europe/Berlin' }"}</code> to its definition.
            </span>
          ) : (
            <code>signalbox events send {dag.event}</code>
          )}
        </Empty>
      </Card>
    );
  }
  return (
    <>
      <Card>
        <dl className="pairs">
          <dt>Fires</dt>
          <dd>
            {cronWords(schedule.fires)} <code className="faint">{schedule.fires}</code>
          </dd>
          <dt>Zone</dt>
          <dd>{schedule.zone}</dd>
          <dt>Next</dt>
          <dd>
            {schedule.paused ? 'paused' : <Time at={schedule.nextAt} zone={schedule.zone} />}{' '}
            {!schedule.paused && schedule.nextAt !== null && (
              <span className="faint">
                (<Ago at={schedule.nextAt} />)
              </span>
            )}
          </dd>
          <dt>When the clock jumps over it</dt>
          <dd>{schedule.gap === 'skip' ? 'that firing is skipped' : 'it fires right after the jump'}</dd>
          <dt>Firings that were missed</dt>
          <dd>
            {MISSED[schedule.missed]}, at most {schedule.missedLimit}
          </dd>
        </dl>
      </Card>
      <NextFirings dag={dag.name} zone={schedule.zone} isPaused={schedule.paused} />
      <Card title="Past firings" flush>
        <Loaded query={windows}>
          {({ items }) =>
            items.length === 0 ? (
              <Empty title="It has not fired yet." />
            ) : (
              <table className="list">
                <thead>
                  <tr>
                    <th>Planned for</th>
                    <th>Result</th>
                    <th>Decided</th>
                  </tr>
                </thead>
                <tbody>
                  {items.map((window) => (
                    <tr key={window.firesAt}>
                      <td>
                        <Time at={window.firesAt} zone={schedule.zone} />
                        {window.count > 1 && <span className="faint"> and {plural(window.count - 1, 'more')}</span>}
                      </td>
                      <td>
                        {window.run !== null ? (
                          <Link to="/runs/$id" params={{ id: window.run }} className="mono">
                            {shortId(window.run)}
                          </Link>
                        ) : (
                          <span className="soft">
                            {window.skipped === null ? 'no run is kept' : SKIPPED[window.skipped]}
                          </span>
                        )}
                      </td>
                      <td className="soft">
                        <Ago at={window.decidedAt} />
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            )
          }
        </Loaded>
      </Card>
    </>
  );
}

interface NextFiringsProps {
  readonly dag: string;
  readonly zone: string;
  readonly isPaused: boolean;
}

/** In the zone of the schedule and in the viewer's: around a clock change they differ in another way than before. */
function NextFirings({ dag, zone, isPaused }: NextFiringsProps) {
  const firings = useQuery(firingsQuery(dag));
  const there = new Intl.DateTimeFormat(undefined, {
    ...{ weekday: 'short', day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' },
    ...{ hour12: false, timeZone: zone },
  });
  return (
    <Card title={isPaused ? 'Next firings, once it is resumed' : 'Next firings'} flush>
      <Loaded query={firings}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title="It never fires." />
          ) : (
            <table className="list">
              <thead>
                <tr>
                  <th>In {zone}</th>
                  <th>Here</th>
                  <th />
                </tr>
              </thead>
              <tbody>
                {items.map(({ firesAt, offsetMinutes }, at) => {
                  const change = clockChange(items[at - 1]?.offsetMinutes, offsetMinutes);
                  return (
                    <tr key={firesAt}>
                      <td>{there.format(Date.parse(firesAt))}</td>
                      <td className="soft">
                        <Time at={firesAt} zone={zone} />
                      </td>
                      <td>
                        {change === null ? (
                          <span className="faint">
                            <Ago at={firesAt} />
                          </span>
                        ) : (
                          <span className="chip warn">{change}</span>
                        )}
                      </td>
                    </tr>
                  );
                })}
              </tbody>
            </table>
          )
        }
      </Loaded>
    </Card>
  );
}
