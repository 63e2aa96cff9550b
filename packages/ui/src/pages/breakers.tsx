import type { BreakerReset, BreakerView } from '@signalbox/protocol';
import { useQuery } from '@tanstack/react-query';
import { ChangeButton } from '../actions/change.tsx';
import { post } from '../api/client.ts';
import { breakersQuery } from '../api/queries.ts';
import { DagLink } from '../parts/dag-link.tsx';
import { ErrorLine } from '../parts/error-line.tsx';
import { Ago } from '../parts/now.tsx';
import { Card, Empty, Loaded, Page } from '../parts/page.tsx';
import { actionsOf, type Column, Table } from '../parts/table.tsx';

export function BreakersPage() {
  const breakers = useQuery(breakersQuery());
  return (
    <Page
      title="Breakers"
      sub="A breaker holds tasks back while nearly all of them fail, tries one now and then, and lets go when it succeeds."
    >
      <Card flush>
        <Loaded query={breakers}>
          {({ items }) =>
            items.length === 0 ? (
              <Empty title="No breaker is open.">
                <span>Nothing is held back.</span>
              </Empty>
            ) : (
              <Table
                rows={items}
                keyOf={({ dag, fingerprint }) => `${dag} ${fingerprint ?? ''}`}
                columns={COLUMNS}
                isStacked
              />
            )
          }
        </Loaded>
      </Card>
    </Page>
  );
}

const COLUMNS: readonly Column<BreakerView>[] = [
  {
    head: 'State',
    cell: ({ state }) => (
      <span className={state === 'open' ? 'chip bad' : 'chip warn'}>{state === 'open' ? 'open' : 'letting go'}</span>
    ),
  },
  { head: 'DAG', cell: ({ dag }) => <DagLink name={dag} /> },
  {
    head: 'Holds',
    label: 'Holds',
    cell: ({ fingerprint }) => (fingerprint === null ? 'new tasks of the DAG' : 'retries of this error'),
  },
  { head: 'Error', look: 'breaker-error', cell: ({ error }) => <ErrorLine text={error} /> },
  { head: 'Open since', label: 'Open since', look: 'soft', cell: ({ openedAt }) => <Ago at={openedAt} /> },
  { head: 'Next try', label: 'Next try', look: 'soft', cell: ({ probeAt }) => <Ago at={probeAt} /> },
  actionsOf(({ dag, fingerprint }) => (
    <ChangeButton
      label={`Reset the breaker of ${dag}`}
      run={() => post<BreakerReset>('/v1/breakers/reset', { dag, fingerprint })}
      done={`The breaker of ${dag} lets go. It opens again if the failures go on.`}
      touches={['breakers']}
    >
      Reset
    </ChangeButton>
  )),
];
