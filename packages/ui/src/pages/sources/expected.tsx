/** Events that must come by a time, and those that are missing. */
import type { ExpectationView } from '@signalbox/protocol';
import { useQuery } from '@tanstack/react-query';
import { expectationsQuery } from '../../api/queries.ts';
import { DagLink } from '../../parts/dag-link.tsx';
import { span } from '../../parts/format.ts';
import { Block } from '../../parts/json.tsx';
import { Ago, Time } from '../../parts/now.tsx';
import { Card, Empty, Loaded } from '../../parts/page.tsx';
import { cronWords } from '../../parts/schedule-words.ts';
import { type Column, Table } from '../../parts/table.tsx';

const EXAMPLE = `expect:
  type: orders.arrived
  by: 0 6 * * *`;

/** Of one dag, or of all. */
export function Expected({ dag }: { readonly dag?: string }) {
  const expected = useQuery(expectationsQuery(dag));
  return (
    <Card title="Expected events" flush>
      <Loaded query={expected}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title={dag === undefined ? 'No DAG expects events.' : 'This DAG expects no events.'}>
              <span>A definition can say by when an event must come. If it does not, that is an event itself.</span>
              <Block text={EXAMPLE} language="hash" />
            </Empty>
          ) : (
            <Table
              isStacked
              rows={missingFirst(items)}
              keyOf={(one) => `${one.dag} ${one.name}`}
              columns={columns(dag === undefined)}
            />
          )
        }
      </Loaded>
    </Card>
  );
}

/** Then by when they are due. */
const missingFirst = (items: readonly ExpectationView[]): readonly ExpectationView[] =>
  [...items].sort((a, b) => (a.due ?? '').localeCompare(b.due ?? ''));

const columns = (withDag: boolean): readonly (Column<ExpectationView> | false)[] => [
  {
    head: 'State',
    cell: ({ due }) =>
      due === null ? <span className="chip bad">missing</span> : <span className="chip ok">in time</span>,
  },
  withDag && { head: 'DAG', cell: ({ dag }) => <DagLink name={dag} tab="triggers" /> },
  {
    head: 'Event',
    cell: ({ name, type, source, where }) => (
      <>
        <b>{name}</b>
        <div className="small faint">
          {[name === type ? null : type, source && `from ${source}`, where && `if ${where}`].filter(Boolean).join(', ')}
        </div>
      </>
    ),
  },
  {
    head: 'Must come',
    cell: ({ by, zone, withinMs }) =>
      by === undefined ? (
        `within ${span(withinMs ?? 0)} of the last one`
      ) : (
        <>
          <span title={by}>by {cronWords(by)}</span>
          <div className="small faint">{zone}</div>
        </>
      ),
  },
  {
    head: 'Came last',
    label: 'Came last',
    look: 'soft',
    cell: ({ lastAt }) => (lastAt === null ? <span className="faint">never</span> : <Ago at={lastAt} />),
  },
  {
    head: 'Next due',
    label: 'Due',
    look: 'soft',
    cell: ({ due, zone }) =>
      due === null ? (
        <span className="faint">when one has come</span>
      ) : (
        <>
          <Time at={due} zone={zone} />
          <div className="small faint">
            <Ago at={due} zone={zone} />
          </div>
        </>
      ),
  },
];
