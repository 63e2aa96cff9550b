/** Assets: what tasks produce and other dags wait for. */
import type { AssetView } from '@signalbox/protocol';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { ChangeButton } from '../../actions/change.tsx';
import { post, seg } from '../../api/client.ts';
import { assetPagesQuery } from '../../api/queries.ts';
import { DagLink } from '../../parts/dag-link.tsx';
import { actorName, count } from '../../parts/format.ts';
import { Ago } from '../../parts/now.tsx';
import { Card, Empty, Page } from '../../parts/page.tsx';
import { Paged } from '../../parts/paged.tsx';

const EXAMPLE = `tasks:
  - name: load
    run: ./load.sh
    produces: [orders]`;

export function AssetsPage() {
  const pages = useInfiniteQuery(assetPagesQuery());
  return (
    <Page title="Assets" sub="What tasks produce. DAGs that wait for an asset run when it is fresh.">
      <Card flush>
        <Paged
          query={pages}
          more="More assets"
          empty={
            <Empty title="No assets yet.">
              <span>Say what a task produces, and let another DAG wait for it:</span>
              <pre className="block">{EXAMPLE}</pre>
              <code>{'on: { assets: { all: [orders] } }'}</code>
            </Empty>
          }
        >
          {(assets) => (
            <div className="scroll-x">
              <table className="list stacked">
                <thead>
                  <tr>
                    <th>Asset</th>
                    <th>Fresh since</th>
                    <th>Produced by</th>
                    <th className="right">Times</th>
                    <th>Runs when it is fresh</th>
                    <th>
                      <span className="visually-hidden">Actions</span>
                    </th>
                  </tr>
                </thead>
                <tbody>
                  {assets.map((asset) => (
                    <Row key={asset.name} asset={asset} />
                  ))}
                </tbody>
              </table>
            </div>
          )}
        </Paged>
      </Card>
    </Page>
  );
}

function Row({ asset }: { readonly asset: AssetView }) {
  const { name, producedAt, consumers } = asset;
  return (
    <tr>
      <td>
        <b>{name}</b>
      </td>
      <td>{producedAt === null ? <span className="faint">never</span> : <Ago at={producedAt} />}</td>
      <td className="soft">
        <Producer asset={asset} />
      </td>
      <td className="right" data-label="Produced">
        {count(asset.count)}
      </td>
      <td>
        {consumers.length === 0 && <span className="faint">–</span>}
        {consumers.map(({ dag, trigger, mode, assets }) => (
          <div key={`${dag} ${trigger}`}>
            <DagLink name={dag} tab="triggers" />{' '}
            <span className="small faint">
              {mode === 'all' && assets.length > 1 && `with ${assets.filter((one) => one !== name).join(', ')}`}
            </span>
          </div>
        ))}
      </td>
      <td>
        <div className="row row-actions">
          <ChangeButton
            label={`Declare fresh: ${name}`}
            title="As if a task had produced it now: DAGs that wait for it run"
            run={() => post(`/v1/assets/${seg(name)}/materialize`)}
            done={`${name} is fresh.`}
            touches={['assets', 'runs', 'run-pages']}
          >
            Declare fresh
          </ChangeButton>
        </div>
      </td>
    </tr>
  );
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
