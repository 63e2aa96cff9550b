import type { DagDetails } from '@signalbox/protocol';
import { ConfirmButton } from '../../actions/change.tsx';
import { request, seg } from '../../api/client.ts';
import { plural } from '../../parts/format.ts';
import { Json } from '../../parts/json.tsx';
import { Card } from '../../parts/page.tsx';

const POLICIES = {
  continue: 'what does not need it goes on',
  fail_fast: 'nothing new starts',
  skip_failed: 'it counts as skipped',
} as const;

export function Settings({ dag }: { readonly dag: DagDetails }) {
  return (
    <>
      <Card>
        <dl className="pairs">
          <dt>Priority</dt>
          <dd>{dag.priority}</dd>
          <dt>Active runs at most</dt>
          <dd>{dag.maxActiveRuns ?? 'no limit'}</dd>
          <dt>Active tasks at most</dt>
          <dd>{dag.maxActiveTasks ?? 'no limit'}</dd>
          <dt>When a task fails</dt>
          <dd>{POLICIES[dag.onFailure]}</dd>
          <dt>Undo what was done when a run fails</dt>
          <dd>{dag.compensate ? 'yes' : 'no'}</dd>
          <dt>Largest map</dt>
          <dd>{plural(dag.maxMapSize, 'item')}</dd>
          <dt>Hash of the version</dt>
          <dd className="mono">{dag.hash}</dd>
        </dl>
      </Card>
      <Card title="Schema of the params">
        {dag.params === null ? <span className="faint">Params may be anything.</span> : <Json value={dag.params} />}
      </Card>
      {dag.retiredAt === null && (
        <Card title="Delete">
          <div className="row wrap">
            <span className="grow soft">
              No new runs and no schedule. Live runs go on, history stays, the next deploy brings it back.
            </span>
            <ConfirmButton
              button="Delete the DAG …"
              className="button danger"
              title={`Delete ${dag.name}`}
              verb="Delete"
              change={{
                run: () => request(`/v1/dags/${seg(dag.name)}`, { method: 'DELETE' }),
                done: `${dag.name} is deleted.`,
                touches: 'everything',
              }}
            >
              <p>The DAG takes no new runs and its schedule ends. The next deploy brings it back.</p>
            </ConfirmButton>
          </div>
        </Card>
      )}
    </>
  );
}
