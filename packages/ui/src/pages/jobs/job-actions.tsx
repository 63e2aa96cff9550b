/** What can be done to a job: pausing is undone by resuming; cancelling and deleting are asked about. */
import type { JobView } from '@signalbox/protocol';
import { ChangeButton, ConfirmButton } from '../../actions/change.tsx';
import { post, remove, seg } from '../../api/client.ts';
import { shortId } from '../../parts/format.ts';
import { Icon } from '../../shell/icons.tsx';

const TOUCHED = ['jobs', 'job', 'job-runs', 'run-pages', 'runs'];
const LIVE: readonly JobView['state'][] = ['scheduled', 'paused', 'queued', 'running'];

export function JobActions({ job, onDeleted }: { readonly job: JobView; readonly onDeleted?: () => void }) {
  const { id, state, recurring } = job;
  const name = job.name ?? `job ${shortId(id)}`;
  const path = `/v1/jobs/${seg(id)}`;
  const isPaused = state === 'paused';
  const verb = isPaused ? 'Resume' : 'Pause';
  return (
    <>
      {LIVE.includes(state) && (
        <>
          <ChangeButton
            run={() => post(`${path}/${verb.toLowerCase()}`)}
            done={isPaused ? `${name} goes on.` : `${name} is paused.`}
            touches={TOUCHED}
            label={`${verb} ${name}`}
            title={verb}
            className="button small icon"
          >
            <Icon name={isPaused ? 'play' : 'pause'} size={13} />
          </ChangeButton>
          <ConfirmButton
            button="Cancel …"
            className="button small"
            label={`Cancel ${name}`}
            title={`Cancel ${name}`}
            verb="Cancel the job"
            change={{ run: () => post(`${path}/cancel`), done: `${name} is cancelled.`, touches: TOUCHED }}
          >
            <p>
              {recurring
                ? 'It fires no more. Runs that it has begun go on.'
                : 'If it waits, it does not begin. If it runs, its run is cancelled.'}{' '}
              It cannot be undone.
            </p>
          </ConfirmButton>
        </>
      )}
      <ConfirmButton
        button="Delete …"
        label={`Delete ${name}`}
        title={`Delete ${name}`}
        verb="Delete the job"
        change={{
          run: async () => {
            await remove(path);
            onDeleted?.();
          },
          done: `${name} is deleted.`,
          touches: TOUCHED,
        }}
      >
        <p>It is cancelled and gone from the list. What its runs did and wrote stays under Runs.</p>
      </ConfirmButton>
    </>
  );
}
