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
import { actionsOf, type Column, Table } from '../../parts/table.tsx';
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
        {(items) => <Table isStacked rows={items} keyOf={({ id }) => id} columns={columns(dag === undefined)} />}
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

const WHICH: Readonly<Record<BackfillView['which'], string>> = {
  missing: 'windows without a run',
  failed: 'windows whose run failed',
  all: 'all windows',
};

const columns = (withDag: boolean): readonly (Column<BackfillView> | false)[] => [
  {
    head: 'State',
    cell: ({ state, reason }) => (
      <>
        <span className={STATES[state][1]}>{STATES[state][0]}</span>
        {reason !== null && <div className="small tone-bad">{reason}</div>}
      </>
    ),
  },
  withDag && { head: 'DAG', cell: ({ dag }) => <DagLink name={dag} tab="backfills" /> },
  {
    head: 'Range',
    cell: ({ from, to, schedule, which, until }) => (
      <>
        <Time at={from} withDay /> to <Time at={to} withDay />
        <div className="small faint">
          schedule {schedule}, {WHICH[which]}
          {until !== null && `, up to ${until}`}
        </div>
      </>
    ),
  },
  { head: 'Progress', cell: (backfill) => <Progress backfill={backfill} /> },
  { head: 'Started', place: 'hide-narrow', look: 'soft breaks', cell: (backfill) => <Started backfill={backfill} /> },
  actionsOf((backfill) => <Actions backfill={backfill} />),
];

function Started({ backfill }: { readonly backfill: BackfillView }) {
  const { actor, startedAt, endedAt, estimatedEndAt, maxActive } = backfill;
  return (
    <>
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
          `${maxActive} at a time`
        )}
      </div>
    </>
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
    <>
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
    </>
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
