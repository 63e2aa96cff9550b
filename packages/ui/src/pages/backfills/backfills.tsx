/** Backfills and how far they are. */
import type { BackfillView } from '@signalbox/protocol';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { ChangeButton, Confirm, OpenButton } from '../../actions/change.tsx';
import { post, seg } from '../../api/client.ts';
import { backfillPagesQuery } from '../../api/queries.ts';
import { DagLink } from '../../parts/dag-link.tsx';
import { CheckField } from '../../parts/field.tsx';
import { actorName, count, plural } from '../../parts/format.ts';
import { Ago, Time } from '../../parts/now.tsx';
import { Card, Empty, Page } from '../../parts/page.tsx';
import { Paged } from '../../parts/paged.tsx';
import { Icon } from '../../shell/icons.tsx';
import { BackfillDialog } from './backfill-dialog.tsx';

const TOUCHED = ['backfills', 'runs', 'run-pages'];

export function BackfillsPage() {
  return (
    <Page
      title="Backfills"
      sub="A backfill creates runs for past windows of a schedule, some at a time, beside everything else."
    >
      <Backfills />
    </Page>
  );
}

/** Of one dag, where they can be started, or of all. */
export function Backfills({ dag }: { readonly dag?: string }) {
  const pages = useInfiniteQuery(backfillPagesQuery(dag));
  const start = dag !== undefined && (
    <OpenButton dialog={(onClose) => <BackfillDialog dag={dag} onClose={onClose} />}>New backfill …</OpenButton>
  );
  return (
    <Card {...(dag === undefined ? {} : { title: 'Backfills', side: start })} flush>
      <Paged query={pages} more="Older backfills" empty={<None isOfDag={dag !== undefined} />}>
        {(items) => (
          <div className="scroll-x">
            <table className="list stacked">
              <thead>
                <tr>
                  <th>State</th>
                  {dag === undefined && <th>DAG</th>}
                  <th>Range</th>
                  <th>Progress</th>
                  <th className="hide-narrow">Started</th>
                  <th>
                    <span className="visually-hidden">Actions</span>
                  </th>
                </tr>
              </thead>
              <tbody>
                {items.map((backfill) => (
                  <Row key={backfill.id} backfill={backfill} withDag={dag === undefined} />
                ))}
              </tbody>
            </table>
          </div>
        )}
      </Paged>
    </Card>
  );
}

function None({ isOfDag }: { readonly isOfDag: boolean }) {
  return (
    <Empty title="No backfill yet.">
      {isOfDag ? (
        <span>Start one to create runs for past windows: missing, failed or all.</span>
      ) : (
        <span>
          Open a <Link to="/dags">DAG</Link> that has a schedule, and its tab Backfills.
        </span>
      )}
    </Empty>
  );
}

const STATES: Readonly<Record<BackfillView['state'], readonly [string, string]>> = {
  running: ['running', 'chip busy'],
  paused: ['paused', 'chip warn'],
  ended: ['ended', 'chip ok'],
  cancelled: ['cancelled', 'chip'],
  stopped: ['stopped', 'chip bad'],
};

function Row({ backfill, withDag }: { readonly backfill: BackfillView; readonly withDag: boolean }) {
  const { dag, schedule, from, to, which, state, reason, actor, startedAt, endedAt, estimatedEndAt } = backfill;
  const [word, look] = STATES[state];
  return (
    <tr>
      <td>
        <span className={look}>{word}</span>
        {reason !== null && <div className="small tone-bad">{reason}</div>}
      </td>
      {withDag && (
        <td>
          <DagLink name={dag} tab="backfills" />
        </td>
      )}
      <td>
        <Time at={from} /> to <Time at={to} />
        <div className="small faint">
          {schedule}, {which === 'all' ? 'all windows' : which}
          {backfill.until !== null && `, up to ${backfill.until}`}
        </div>
      </td>
      <td>
        <Progress backfill={backfill} />
      </td>
      <td className="soft nowrap hide-narrow">
        <Ago at={startedAt} /> by {actorName(actor)}
        <div className="small faint">
          {endedAt !== null ? (
            <>
              ended <Ago at={endedAt} />
            </>
          ) : estimatedEndAt !== null ? (
            <>
              done <Ago at={estimatedEndAt} />, if it goes on so
            </>
          ) : (
            `${backfill.maxActive} at a time`
          )}
        </div>
      </td>
      <td>
        <Actions backfill={backfill} />
      </td>
    </tr>
  );
}

function Progress({ backfill: { id, windows, decided, created, skipped, runs } }: { readonly backfill: BackfillView }) {
  const share = (part: number) => `${windows === 0 ? 0 : (part / windows) * 100}%`;
  const label = `${count(decided)} of ${plural(windows, 'window')} decided`;
  return (
    <div className="backfill-progress">
      <div className="progress-bar" role="img" aria-label={label} title={label}>
        <i className="tone-fill-ok" style={{ width: share(runs.succeeded) }} />
        <i className="tone-fill-bad" style={{ width: share(runs.failed) }} />
        <i className="tone-fill-busy" style={{ width: share(runs.active) }} />
        <i className="tone-fill-idle" style={{ width: share(skipped + runs.cancelled) }} />
      </div>
      <div className="small soft">
        {label}.{' '}
        <Link to="/runs" search={{ backfill: id } as never}>
          {plural(created, 'run')}
        </Link>
        {runs.failed > 0 && <span className="tone-bad">, {count(runs.failed)} failed</span>}
        {runs.active > 0 && `, ${count(runs.active)} running`}
      </div>
    </div>
  );
}

function Actions({ backfill }: { readonly backfill: BackfillView }) {
  const { id, dag, state } = backfill;
  if (state !== 'running' && state !== 'paused') return null;
  const path = `/v1/backfills/${seg(id)}`;
  const verb = state === 'running' ? 'Pause' : 'Resume';
  return (
    <div className="row row-actions">
      <ChangeButton
        run={() => post(`${path}/${verb.toLowerCase()}`)}
        done={state === 'running' ? 'The backfill is paused. Its live runs go on.' : 'The backfill goes on.'}
        touches={TOUCHED}
        label={`${verb} the backfill of ${dag}`}
        className="button small icon"
        title={verb}
      >
        <Icon name={state === 'running' ? 'pause' : 'play'} size={13} />
      </ChangeButton>
      <OpenButton
        label={`Cancel the backfill of ${dag}`}
        className="button small danger"
        dialog={(onClose) => <CancelDialog path={path} onClose={onClose} />}
      >
        Cancel …
      </OpenButton>
    </div>
  );
}

function CancelDialog({ path, onClose }: { readonly path: string; readonly onClose: () => void }) {
  const [runs, setRuns] = useState(false);
  return (
    <Confirm
      title="Cancel the backfill"
      verb="Cancel the backfill"
      keep="Keep it"
      onClose={onClose}
      change={{ run: () => post(`${path}/cancel`, { runs }), done: 'The backfill is cancelled.', touches: TOUCHED }}
    >
      <p>It creates no more runs. It cannot be resumed; another backfill can do the rest.</p>
      <CheckField label="Cancel its live runs too" checked={runs} onChange={setRuns} />
    </Confirm>
  );
}
