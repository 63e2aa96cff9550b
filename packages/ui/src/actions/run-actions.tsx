/** What can be done to a run. */
import type { Paused, RunSummary } from '@signalbox/protocol';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { post, seg } from '../api/client.ts';
import { dagQuery } from '../api/queries.ts';
import { useRights } from '../api/session.tsx';
import { useToasts } from '../parts/toasts.tsx';
import { Icon } from '../shell/icons.tsx';
import { type Action, ActionDialog } from './act.tsx';
import { Menu } from './menu.tsx';
import { RerunDialog } from './rerun.tsx';

interface RunActionsProps {
  readonly run: RunSummary & { readonly params: unknown };
  readonly hasFailed: boolean;
}

export function RunActions({ run, hasFailed }: RunActionsProps) {
  const [action, setAction] = useState<Action | 'rerun' | null>(null);
  const { mayOperate, reason } = useRights();
  const { tell, fail } = useToasts();
  const client = useQueryClient();
  const path = `/v1/runs/${seg(run.id)}`;
  const isOpen = run.state !== 'ended';
  const pause = useMutation({
    mutationFn: () => post<Paused>(`${path}/${run.paused === null ? 'pause' : 'resume'}`),
    onSuccess: async ({ paused }) => {
      tell(paused ? 'The run is paused: nothing new of it starts.' : 'The run goes on.');
      await client.invalidateQueries({ queryKey: ['columns', run.id] });
    },
    onError: fail,
  });
  const rerunFailed: Action = {
    title: 'Rerun from failed',
    explanation: 'What failed runs again in this run, with everything behind it. What succeeded stays.',
    verb: 'Rerun from failed',
    done: 'The failed tasks run again.',
    path: `${path}/clear`,
    body: { states: ['failed', 'upstream_failed'] },
  };
  const cancel: Action = {
    title: 'Cancel the run',
    explanation: 'No further task starts, and what runs is stopped. Teardowns, undos and hooks still run.',
    verb: 'Cancel the run',
    done: 'The run is being cancelled.',
    path: `${path}/cancel`,
    body: {},
    isDangerous: true,
    options: [{ field: 'force', label: 'Force: stop teardowns, undos and hooks too', initial: false }],
  };
  const clearAll: Action = {
    title: 'Run all tasks again',
    explanation: 'Every task of this run runs again, whatever its result was.',
    verb: 'Run all again',
    done: 'All tasks run again.',
    path: `${path}/clear`,
    body: { states: ['succeeded', 'failed', 'upstream_failed', 'skipped', 'cancelled'] },
  };
  const off = !mayOperate;
  // Whoever has deployed a fix wants that, and "Rerun from failed" keeps the code that the run began with.
  const newest = useQuery({ ...dagQuery(run.dag), enabled: hasFailed }).data?.version ?? run.version;
  const isFixed = hasFailed && !isOpen && newest > run.version;
  return (
    <>
      {isFixed && (
        <button
          type="button"
          className="button primary"
          disabled={off}
          title={reason ?? 'A new run of the newest version, with the params of this one'}
          onClick={() => setAction('rerun')}
        >
          <Icon name="play" size={13} /> Run with version {newest} …
        </button>
      )}
      {hasFailed && (
        <button
          type="button"
          className={isFixed ? 'button' : 'button primary'}
          disabled={off}
          title={reason}
          onClick={() => setAction(rerunFailed)}
        >
          <Icon name="again" size={13} /> Rerun from failed
        </button>
      )}
      {isOpen && (
        <>
          <button
            type="button"
            className="button"
            disabled={off || pause.isPending}
            title={reason}
            onClick={() => pause.mutate()}
          >
            <Icon name={run.paused === null ? 'pause' : 'play'} size={13} /> {run.paused === null ? 'Pause' : 'Resume'}
          </button>
          <button
            type="button"
            className="button danger"
            disabled={off}
            title={reason}
            onClick={() => setAction(cancel)}
          >
            <Icon name="stop" size={13} /> Cancel
          </button>
        </>
      )}
      <Menu
        label="More actions"
        items={[
          { label: 'New run with these params …', disabled: off, title: reason, onChoose: () => setAction('rerun') },
          { label: 'Run all tasks again …', disabled: off, title: reason, onChoose: () => setAction(clearAll) },
          {
            label: 'Copy the id of the run',
            onChoose: () => void navigator.clipboard?.writeText(run.id).then(() => tell('Copied.'), fail),
          },
        ]}
      />
      {action === 'rerun' && <RerunDialog run={run} onClose={() => setAction(null)} />}
      {action !== null && action !== 'rerun' && <ActionDialog action={action} onClose={() => setAction(null)} />}
    </>
  );
}
