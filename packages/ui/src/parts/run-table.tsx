import type { RunSummary } from '@signalbox/protocol';
import { Link } from '@tanstack/react-router';
import { DagLink } from './dag-link.tsx';
import { actorName, shortId } from './format.ts';
import { Ago, Time, Took } from './now.tsx';
import { State } from './state.tsx';
import { runState } from './states.ts';
import { type Column, Table } from './table.tsx';

const CAUSES: Readonly<Record<RunSummary['cause'], string>> = {
  api: 'by hand or API',
  schedule: 'schedule',
  event: 'event',
  parent: 'another run',
  backfill: 'backfill',
};

interface RunTableProps {
  readonly runs: readonly RunSummary[];
  readonly withDag?: boolean;
  /** Without what started them, where there is little room. */
  readonly isBrief?: boolean;
}

export function RunTable({ runs, withDag = true, isBrief = false }: RunTableProps) {
  const columns: readonly (Column<RunSummary> | false)[] = [
    STATE,
    withDag && { head: 'DAG', cell: ({ dag }) => <DagLink name={dag} /> },
    RUN,
    !isBrief && STARTED_BY,
    CREATED,
    TOOK,
  ];
  return <Table className={withDag ? 'compact' : ''} rows={runs} keyOf={({ id }) => id} columns={columns} />;
}

const STATE: Column<RunSummary> = {
  head: 'State',
  cell: (run) => (
    <>
      <State state={runState(run)} />
      {run.slowAt !== null && run.state !== 'ended' && (
        <span className="chip warn" title="It takes longer than its soft timeout">
          slow
        </span>
      )}
    </>
  ),
};

const RUN: Column<RunSummary> = {
  head: 'Run',
  cell: ({ id }) => (
    <Link to="/runs/$id" params={{ id }} className="mono" title={id}>
      {shortId(id)}
    </Link>
  ),
};

const STARTED_BY: Column<RunSummary> = {
  head: 'Started by',
  place: 'hide-narrow',
  look: 'soft nowrap',
  cell: ({ actor, cause, window }) => (
    <>
      <span title={CAUSES[cause]}>{cause === 'api' ? actorName(actor) : CAUSES[cause]}</span>
      {window !== null && (
        <>
          , <Time at={window} />
        </>
      )}
    </>
  ),
};

const CREATED: Column<RunSummary> = {
  head: 'Created',
  place: 'hide-narrow',
  look: 'soft',
  cell: ({ createdAt, scheduledFor }) =>
    scheduledFor === undefined ? (
      <Ago at={createdAt} />
    ) : (
      <>
        begins <Ago at={scheduledFor} />
      </>
    ),
};

const TOOK: Column<RunSummary> = {
  head: 'Took',
  place: 'right',
  cell: ({ createdAt, scheduledFor, endedAt }) => (
    <Took from={scheduledFor === undefined ? createdAt : null} to={endedAt} />
  ),
};
