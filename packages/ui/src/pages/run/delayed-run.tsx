/** A run that was asked for a later time: when it begins, with what, and a way to take it back. */
import type { RunColumns } from '@signalbox/protocol';
import { useNavigate } from '@tanstack/react-router';
import { ConfirmButton } from '../../actions/change.tsx';
import { post, seg } from '../../api/client.ts';
import { DagCrumbs, dagWord } from '../../parts/dag-link.tsx';
import { actorName, shortId } from '../../parts/format.ts';
import { Json } from '../../parts/json.tsx';
import { Ago, Time } from '../../parts/now.tsx';
import { Card, Page } from '../../parts/page.tsx';
import { State, StateIcon } from '../../parts/state.tsx';

export function DelayedRun({ run }: { readonly run: RunColumns }) {
  const navigate = useNavigate();
  return (
    <Page
      name={`${dagWord(run.dag)} ${shortId(run.id)}`}
      crumbs={<DagCrumbs dag={run.dag} />}
      title={
        <>
          Run <span className="mono">{shortId(run.id)}</span> <State state="scheduled" />
        </>
      }
      actions={
        <ConfirmButton
          button="Cancel …"
          className="button danger"
          title="Cancel the run"
          verb="Cancel the run"
          change={{
            run: async () => {
              await post(`/v1/runs/${seg(run.id)}/cancel`);
              await navigate({ to: '/runs', search: { state: 'scheduled' } as never });
            },
            done: 'The run does not begin.',
            touches: ['runs', 'run-pages'],
          }}
        >
          <p>It does not begin, and nothing is left of it.</p>
        </ConfirmButton>
      }
    >
      <div className="notice" role="status">
        <StateIcon state="scheduled" />
        <span className="grow">
          Begins{' '}
          <b>
            <Time at={run.scheduledFor ?? null} />
          </b>{' '}
          (<Ago at={run.scheduledFor ?? null} />
          ), with the version that is current then. Asked for by {actorName(run.actor)}, <Ago at={run.createdAt} />.
        </span>
      </div>
      <Card title="Params">
        {run.params === null ? <span className="faint">none</span> : <Json value={run.params} />}
      </Card>
    </Page>
  );
}
