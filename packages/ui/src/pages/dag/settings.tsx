import type { DagDetails } from '@signalbox/protocol';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { request, seg } from '../../api/client.ts';
import { useRights } from '../../api/session.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Json } from '../../parts/json.tsx';
import { Card } from '../../parts/page.tsx';
import { Explained, useToasts } from '../../parts/toasts.tsx';

const POLICIES = {
  continue: 'what does not need it goes on',
  fail_fast: 'nothing new starts',
  skip_failed: 'it counts as skipped',
} as const;

export function Settings({ dag }: { readonly dag: DagDetails }) {
  const [isAsking, setAsking] = useState(false);
  const { mayOperate, reason } = useRights();
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
          <dd>{dag.maxMapSize} items</dd>
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
            <button
              type="button"
              className="button danger"
              disabled={!mayOperate}
              title={reason}
              onClick={() => setAsking(true)}
            >
              Delete the DAG …
            </button>
          </div>
        </Card>
      )}
      {isAsking && <DeleteDialog dag={dag.name} onClose={() => setAsking(false)} />}
    </>
  );
}

function DeleteDialog({ dag, onClose }: { readonly dag: string; readonly onClose: () => void }) {
  const client = useQueryClient();
  const { tell } = useToasts();
  const remove = useMutation({
    mutationFn: () => request(`/v1/dags/${seg(dag)}`, { method: 'DELETE' }),
    onSuccess: async () => {
      tell(`${dag} is deleted.`);
      onClose();
      await client.invalidateQueries();
    },
  });
  return (
    <Dialog
      title={`Delete ${dag}`}
      onClose={onClose}
      foot={
        <>
          <button type="button" className="button" onClick={onClose}>
            Keep it
          </button>
          <button
            type="button"
            className="button danger primary"
            disabled={remove.isPending}
            onClick={() => remove.mutate()}
          >
            Delete
          </button>
        </>
      }
    >
      <p>The DAG takes no new runs and its schedule ends. The next deploy brings it back.</p>
      {remove.error !== null && <Explained error={remove.error} />}
    </Dialog>
  );
}
