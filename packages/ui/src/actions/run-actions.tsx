/** What can be done to a run. */
import type { Paused, RunSummary } from '@signalbox/protocol';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { post, seg } from '../api/client.ts';
import { useRights } from '../api/session.tsx';
import { useToasts } from '../parts/toasts.tsx';
import { Icon } from '../shell/icons.tsx';
import { type Action, ActionDialog } from './act.tsx';
import { Menu } from './menu.tsx';
import { fixedPriority, PriorityDialog } from './priority.tsx';
import { RerunDialog } from './rerun.tsx';
import { RunWithNewest, useNewestVersion } from './run-with-newest.tsx';

interface RunActionsProps {
  readonly run: RunSummary & { readonly params: unknown };
  readonly hasFailed: boolean;
}

export function RunActions({ run, hasFailed }: RunActionsProps) {
  const [action, setAction] = useState<Action | 'rerun' | 'priority' | null>(null);
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
    explanation: 'What failed runs again in this run, with everything downstream. What succeeded stays.',
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
  const fixed = fixedPriority(run);
  const newest = useNewestVersion(run, hasFailed);
  const isFixed = newest > run.version;
  return (
    <>
      {isFixed && <RunWithNewest run={run} newest={newest} />}
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
          {
            label: 'Change the priority …',
            disabled: off || fixed !== undefined,
            title: reason ?? fixed,
            onChoose: () => setAction('priority'),
          },
          { label: 'Run all tasks again …', disabled: off, title: reason, onChoose: () => setAction(clearAll) },
          {
            label: 'Copy the id of the run',
            onChoose: () => void navigator.clipboard?.writeText(run.id).then(() => tell('Copied.'), fail),
          },
        ]}
      />
      {action === 'rerun' && <RerunDialog run={run} onClose={() => setAction(null)} />}
      {action === 'priority' && <PriorityDialog run={run} onClose={() => setAction(null)} />}
      {action !== null && typeof action !== 'string' && (
        <ActionDialog action={action} onClose={() => setAction(null)} />
      )}
    </>
  );
}
