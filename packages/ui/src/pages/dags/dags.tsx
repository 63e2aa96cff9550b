import type { DagLabels } from '@signalbox/protocol';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { anyDagQuery, STATS_DAYS } from '../../api/queries.ts';
import { useSearchState } from '../../api/search-state.ts';
import { ShowFilter, useShown } from '../../parts/filters.tsx';
import { count, plural } from '../../parts/format.ts';
import { Card, Empty, Loaded, Page } from '../../parts/page.tsx';
import { VirtualRows } from '../../parts/virtual-rows.tsx';
import { type DagFilter, dagChunkQuery, dagLabelsQuery, dagNamesQuery } from './chunks.ts';
import { DagRow } from './dag-row.tsx';
import './dags.css';
import { Command } from '../../parts/json.tsx';

const FILTERS = [
  ['all', 'All'],
  ['running', 'Running'],
  ['failed', 'Last run failed'],
  ['scheduled', 'Scheduled'],
  ['paused', 'Paused'],
] as const;
const ROW = 58;

export function DagsPage() {
  const [{ q, tag, owner }, change] = useSearchState();
  const show = useShown('show', FILTERS);
  const filter: DagFilter = {
    q: q === '' ? undefined : q,
    show: show === 'all' ? undefined : show,
    tag,
    owner,
  };
  const names = useQuery(dagNamesQuery(filter));
  // The first rows come beside the names; what else there is comes after both.
  const isShown = useQuery(dagChunkQuery(filter, undefined)).data !== undefined && names.data !== undefined;
  const labels = useQuery({ ...dagLabelsQuery(), enabled: isShown }).data;
  const isEmpty = useQuery({ ...anyDagQuery(), enabled: names.data?.length === 0 }).data === false;
  return (
    <Page title="DAGs">
      <div className="toolbar">
        <input
          type="search"
          className="search"
          placeholder="Search  /"
          aria-label="Search DAGs"
          value={q ?? ''}
          onChange={(event) => change({ q: event.target.value })}
        />
        <ShowFilter name="show" label="Which DAGs" choices={FILTERS} />
        <LabelFilter
          label="Tag"
          all="All tags"
          labels={labels?.tags}
          value={tag}
          onChange={(value) => change({ tag: value })}
        />
        <LabelFilter
          label="Owner"
          all="All owners"
          labels={labels?.owners}
          value={owner}
          onChange={(value) => change({ owner: value })}
        />
      </div>
      <Card flush>
        <Loaded query={names}>
          {(items) =>
            items.length > 0 ? (
              <DagList names={items} filter={filter} />
            ) : isEmpty ? (
              <Empty title="No DAGs yet.">
                <span>
                  <Link to="/">Home</Link> has one to paste. Save it and deploy it:
                </span>
                <Command>signalbox deploy dags/hello.ts</Command>
              </Empty>
            ) : (
              <Empty title="No DAG matches." />
            )
          }
        </Loaded>
      </Card>
    </Page>
  );
}

function DagList({ names, filter }: { readonly names: readonly string[]; readonly filter: DagFilter }) {
  return (
    <>
      <VirtualRows
        // Another filter begins at the top.
        key={JSON.stringify(filter)}
        count={names.length}
        height={ROW}
        label="DAGs"
        className="dag-rows"
        head={
          <div className="dag-row head" role="row">
            <span role="columnheader">Name</span>
            <span role="columnheader" className="hide-phone">
              Last runs
            </span>
            <span
              role="columnheader"
              className="right hide-narrow"
              title={`Of the runs that ended in the last ${STATS_DAYS} days`}
            >
              Success
            </span>
            <span
              role="columnheader"
              className="right hide-narrow"
              title={`Half of the runs that succeeded in the last ${STATS_DAYS} days took at most this long`}
            >
              Typical
            </span>
            <span role="columnheader" className="hide-narrow">
              Schedule
            </span>
            <span role="columnheader" className="hide-narrow">
              Next firing
            </span>
            <span role="columnheader">
              <span className="visually-hidden">Actions</span>
            </span>
          </div>
        }
      >
        {(index) => <DagRow names={names} index={index} filter={filter} />}
      </VirtualRows>
      <div className="card-foot faint small">{plural(names.length, 'DAG')}</div>
    </>
  );
}

interface LabelFilterProps {
  readonly label: string;
  readonly all: string;
  readonly labels: DagLabels['tags'] | undefined;
  readonly value: string | undefined;
  readonly onChange: (value: string | undefined) => void;
}

/** Absent where no dag has such a label. */
function LabelFilter({ label, all, labels = [], value, onChange }: LabelFilterProps) {
  if (labels.length === 0 && value === undefined) return null;
  // An address may name one that no dag has any more.
  const isKnown = value === undefined || labels.some(({ name }) => name === value);
  const choices = isKnown ? labels : [{ name: value, dags: 0 }, ...labels];
  return (
    <select aria-label={label} value={value ?? ''} onChange={(event) => onChange(event.target.value || undefined)}>
      <option value="">{all}</option>
      {choices.map(({ name, dags }) => (
        <option key={name} value={name}>
          {name} ({count(dags)})
        </option>
      ))}
    </select>
  );
}
