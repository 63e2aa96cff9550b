/** Assets: what tasks produce and other dags wait for. */
import type { AssetView } from '@signalbox/protocol';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { ChangeButton } from '../../actions/change.tsx';
import { post, seg } from '../../api/client.ts';
import { assetPagesQuery } from '../../api/queries.ts';
import { useSearchState } from '../../api/search-state.ts';
import { DagLink } from '../../parts/dag-link.tsx';
import { actorName, count } from '../../parts/format.ts';
import { Block } from '../../parts/json.tsx';
import { Ago } from '../../parts/now.tsx';
import { Card, Empty, Page } from '../../parts/page.tsx';
import { Paged } from '../../parts/paged.tsx';
import { actionsOf, type Column, Table } from '../../parts/table.tsx';

const EXAMPLE = `tasks:
  - name: load
    run: ./load.sh
    produces: [orders]`;

export function AssetsPage() {
  const [{ q = '' }, change] = useSearchState();
  const pages = useInfiniteQuery({ ...assetPagesQuery(q || undefined), placeholderData: (known) => known });
  return (
    <Page title="Assets" sub="What tasks produce. DAGs that wait for an asset run when it is fresh.">
      <div className="toolbar">
        <input
          type="search"
          className="search"
          placeholder="Search  /"
          aria-label="Search assets"
          value={q}
          onChange={(event) => change({ q: event.target.value })}
        />
      </div>
      <Card flush>
        <Paged
          query={pages}
          more="More assets"
          empty={
            q !== '' ? (
              <Empty title="No asset matches." />
            ) : (
              <Empty title="No assets yet.">
                <span>Say what a task produces, and let another DAG wait for it:</span>
                <Block text={EXAMPLE} language="hash" />
                <code>{'on: { assets: { all: [orders] } }'}</code>
              </Empty>
            )
          }
        >
          {(assets) => <Table isStacked rows={assets} keyOf={({ name }) => name} columns={COLUMNS} />}
        </Paged>
      </Card>
    </Page>
  );
}

const COLUMNS: readonly Column<AssetView>[] = [
  { head: 'Asset', look: 'name-cell', cell: ({ name }) => <b>{name}</b> },
  {
    head: 'Fresh since',
    cell: ({ producedAt }) => (producedAt === null ? <span className="faint">never</span> : <Ago at={producedAt} />),
  },
  { head: 'Produced by', look: 'soft', label: 'By', cell: (asset) => <Producer asset={asset} /> },
  { head: 'Times', place: 'right', label: 'Produced', cell: (asset) => count(asset.count) },
  { head: 'Runs when it is fresh', cell: (asset) => <Consumers asset={asset} /> },
  actionsOf(({ name }) => (
    <ChangeButton
      label={`Declare fresh: ${name}`}
      title="As if a task had produced it now: DAGs that wait for it run"
      run={() => post(`/v1/assets/${seg(name)}/materialize`)}
      done={`${name} is fresh.`}
      touches={['assets', 'runs', 'run-pages']}
    >
      Declare fresh
    </ChangeButton>
  )),
];

function Consumers({ asset: { name, consumers } }: { readonly asset: AssetView }) {
  if (consumers.length === 0) return <span className="faint">–</span>;
  return consumers.map(({ dag, trigger, mode, assets }) => (
    <div key={`${dag} ${trigger}`}>
      <DagLink name={dag} tab="triggers" />{' '}
      <span className="small faint">
        {mode === 'all' && assets.length > 1 && `with ${assets.filter((one) => one !== name).join(', ')}`}
      </span>
    </div>
  ));
}

function Producer({ asset: { run, dag, task, producedBy } }: { readonly asset: AssetView }) {
  if (run !== null && task !== null) {
    return (
      <Link to="/runs/$id/tasks/$task" params={{ id: run, task }}>
        {task} of {dag}
      </Link>
    );
  }
  return <>{producedBy === null ? '–' : actorName(producedBy)}</>;
}
