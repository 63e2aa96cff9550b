import type { DeadLetterGroup, DeadLetterView } from '@signalbox/protocol';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { deadLetterGroupsQuery, deadLettersQuery } from '../../api/queries.ts';
import { useSearchState } from '../../api/search-state.ts';
import { useRights } from '../../api/session.tsx';
import { DagLink, dagWord } from '../../parts/dag-link.tsx';
import { ErrorLine } from '../../parts/error-line.tsx';
import { count, fewOf, plural, shortId } from '../../parts/format.ts';
import { Ago } from '../../parts/now.tsx';
import { Card, Empty, Loaded, Page } from '../../parts/page.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { type DeadLetterFilter, UseDialog } from './use-dialog.tsx';

const SHOWN_DAGS = 5;
const REASONS: Readonly<Record<DeadLetterView['reason'], string>> = {
  retries: 'all attempts failed',
  permanent: 'permanent error',
  poison: 'poison: failed at once, again and again',
  lost: 'lost with its workers',
  timeout: 'its time was over',
};

export function DeadLettersPage() {
  const [{ fingerprint, dag }, change] = useSearchState();
  const groups = useQuery(deadLetterGroupsQuery());
  const isFiltered = fingerprint !== undefined || dag !== undefined;
  return (
    <Page
      title="Dead letters"
      sub="Tasks that failed for good and wait for a person: replay them when the cause is fixed, or discard them."
      crumbs={isFiltered ? <Link to="/dead-letters">All dead letters</Link> : undefined}
    >
      <Loaded query={groups}>
        {({ items }) => {
          const shown = items.filter(
            (group) =>
              (fingerprint === undefined || group.fingerprint === fingerprint) &&
              (dag === undefined || group.dags.some((one) => one.dag === dag)),
          );
          if (shown.length === 0) {
            return (
              <Card flush>
                <Empty title="No dead letters.">
                  <span>A task whose attempts are used up, or whose error is permanent, shows here.</span>
                </Empty>
              </Card>
            );
          }
          return (
            <>
              {dag !== undefined && fingerprint === undefined && <DagBar dag={dag} />}
              {shown.map((group) => (
                <Group
                  key={group.fingerprint}
                  group={group}
                  dag={dag}
                  isOpen={fingerprint === group.fingerprint}
                  onToggle={() =>
                    change({ fingerprint: fingerprint === group.fingerprint ? undefined : group.fingerprint }, true)
                  }
                />
              ))}
            </>
          );
        }}
      </Loaded>
    </Page>
  );
}

function DagBar({ dag }: { readonly dag: string }) {
  return (
    <div className="row wrap">
      <span className="grow">Only those of {dag}.</span>
      <Buttons filter={{ dag }} />
    </div>
  );
}

interface GroupProps {
  readonly group: DeadLetterGroup;
  readonly dag: string | undefined;
  readonly isOpen: boolean;
  readonly onToggle: () => void;
}

function Group({ group, dag, isOpen, onToggle }: GroupProps) {
  const filter: DeadLetterFilter = { fingerprint: group.fingerprint, ...(dag === undefined ? {} : { dag }) };
  return (
    <section className="card">
      <div className="card-head letter-head">
        <span className="chip bad counted">{count(group.count)}</span>
        <button type="button" className="link-button grow" aria-expanded={isOpen} onClick={onToggle}>
          <ErrorLine text={group.error ?? group.code} />
          <span className="small faint">
            {fewOf(
              group.dags.map((one) => `${dagWord(one.dag)} (${one.count})`),
              SHOWN_DAGS,
            )}{' '}
            · {group.code ?? group.outcome} · first <Ago at={group.firstAt} />, last <Ago at={group.lastAt} />
          </span>
        </button>
        <Buttons filter={filter} />
      </div>
      {isOpen && <LetterTable filter={filter} />}
    </section>
  );
}

function Buttons({ filter }: { readonly filter: DeadLetterFilter }) {
  const [asking, setAsking] = useState<'replay' | 'discard' | null>(null);
  const { mayOperate, reason } = useRights();
  return (
    <>
      <button
        type="button"
        className="button small"
        disabled={!mayOperate}
        title={reason}
        onClick={() => setAsking('replay')}
      >
        Replay …
      </button>
      <button
        type="button"
        className="button small danger"
        disabled={!mayOperate}
        title={reason}
        onClick={() => setAsking('discard')}
      >
        Discard …
      </button>
      {asking !== null && <UseDialog kind={asking} filter={filter} onClose={() => setAsking(null)} />}
    </>
  );
}

function LetterTable({ filter }: { readonly filter: DeadLetterFilter }) {
  const letters = useQuery(deadLettersQuery({ ...filter, limit: 100 }));
  return (
    <Loaded query={letters}>
      {({ items, cursor }) => (
        <>
          <Table rows={items} keyOf={({ id }) => id} columns={COLUMNS} />
          {cursor !== null && (
            <div className="card-foot small faint">The newest {plural(items.length, 'letter')} are shown.</div>
          )}
        </>
      )}
    </Loaded>
  );
}

const COLUMNS: readonly Column<DeadLetterView>[] = [
  { head: 'DAG', cell: ({ dag }) => <DagLink name={dag} className="" /> },
  {
    head: 'Task',
    cell: ({ run, task }) => (
      <Link to="/runs/$id/tasks/$task" params={{ id: run, task }} className="name-link">
        {task}
      </Link>
    ),
  },
  {
    head: 'Run',
    cell: ({ run }) => (
      <Link to="/runs/$id" params={{ id: run }} className="mono">
        {shortId(run)}
      </Link>
    ),
  },
  { head: 'Why it was given up', look: 'soft', cell: ({ reason }) => REASONS[reason] },
  { head: 'Attempts', place: 'right', cell: ({ attempt }) => attempt },
  { head: 'When', look: 'soft', cell: ({ at }) => <Ago at={at} /> },
];
