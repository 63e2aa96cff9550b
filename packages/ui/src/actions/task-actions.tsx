/** What can be done to a task. */
import type { Paused, TaskRetried, TaskView } from '@signalbox/protocol';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { post, seg } from '../api/client.ts';
import { useRights } from '../api/session.tsx';
import { isEnded } from '../parts/states.ts';
import { useToasts } from '../parts/toasts.tsx';
import { Icon } from '../shell/icons.tsx';
import { type Action, ActionDialog, readAgain } from './act.tsx';
import { Menu } from './menu.tsx';

interface TaskActionsProps {
  readonly runId: string;
  readonly task: TaskView;
  /** A newer version is the better way on than another attempt with the old one. */
  readonly hasFix?: boolean;
}

export function TaskActions({ runId, task, hasFix = false }: TaskActionsProps) {
  const [action, setAction] = useState<Action | null>(null);
  const { mayOperate, reason } = useRights();
  const { tell, fail } = useToasts();
  const client = useQueryClient();
  const run = `/v1/runs/${seg(runId)}`;
  const path = `${run}/tasks/${seg(task.name)}`;
  const refresh = () => readAgain(client);
  const retry = useMutation({
    mutationFn: () => post<TaskRetried>(`${path}/retry`),
    onSuccess: async () => {
      tell(`${task.name} has a new budget of attempts.`);
      await refresh();
    },
    onError: fail,
  });
  const pause = useMutation({
    mutationFn: () => post<Paused>(`${path}/${task.paused === null ? 'pause' : 'resume'}`),
    onSuccess: async ({ paused }) => {
      tell(paused ? `${task.name} is paused: it does not start.` : `${task.name} may start.`);
      await refresh();
    },
    onError: fail,
  });
  const clear: Action = {
    title: `Run ${task.name} again`,
    explanation: 'The task runs again, with everything downstream of it unless you say otherwise.',
    verb: 'Run again',
    done: `${task.name} runs again.`,
    path: `${run}/clear`,
    body: { tasks: [task.name] },
    options: [
      { field: 'downstream', label: 'Also everything downstream of it', initial: true },
      { field: 'upstream', label: 'Also everything upstream of it', initial: false },
      { field: 'force', label: 'Stop attempts that run', initial: false },
    ],
  };
  const cancel: Action = {
    title: `Cancel ${task.name}`,
    explanation: 'The task ends. For downstream tasks, and for the run, it counts as failed.',
    verb: 'Cancel the task',
    done: `${task.name} is cancelled.`,
    path: `${path}/cancel`,
    body: {},
    isDangerous: true,
  };
  const mark = (as: 'succeeded' | 'failed' | 'skipped'): Action => ({
    title: `Mark ${task.name} as ${as}`,
    explanation: `The task counts as ${as}, whatever it did. Downstream tasks follow from that.`,
    verb: `Mark as ${as}`,
    done: `${task.name} is marked as ${as}.`,
    path: `${run}/mark`,
    body: { tasks: [task.name], as },
    options: [{ field: 'force', label: 'Stop attempts that run', initial: false }],
  });
  const off = !mayOperate;
  const hasEnded = isEnded(task.state);
  return (
    <>
      {task.state === 'failed' && (
        <button
          type="button"
          className={hasFix ? 'button' : 'button primary'}
          disabled={off || retry.isPending}
          title={reason}
          onClick={() => retry.mutate()}
        >
          <Icon name="again" size={13} /> Retry
        </button>
      )}
      <button type="button" className="button" disabled={off} title={reason} onClick={() => setAction(clear)}>
        Run again …
      </button>
      <Menu
        label="More actions"
        items={[
          { label: 'Mark as succeeded …', disabled: off, title: reason, onChoose: () => setAction(mark('succeeded')) },
          { label: 'Mark as failed …', disabled: off, title: reason, onChoose: () => setAction(mark('failed')) },
          { label: 'Mark as skipped …', disabled: off, title: reason, onChoose: () => setAction(mark('skipped')) },
          {
            label: task.paused === null ? 'Pause' : 'Resume',
            disabled: off || (hasEnded && task.paused === null),
            title: reason,
            onChoose: () => pause.mutate(),
          },
          {
            label: 'Cancel …',
            disabled: off || hasEnded,
            title: reason,
            isDanger: true,
            onChoose: () => setAction(cancel),
          },
        ]}
      />
      {action !== null && <ActionDialog action={action} onClose={() => setAction(null)} />}
    </>
  );
}
