/** Pauses the schedule of a dag, and lets it go again. Nothing is lost by it, so nobody is asked twice. */
import type { SchedulePaused } from '@signalbox/protocol';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { post, seg } from '../../api/client.ts';
import { useRights } from '../../api/session.tsx';
import { useToasts } from '../../parts/toasts.tsx';
import { Icon } from '../../shell/icons.tsx';

interface SwitchProps {
  readonly dag: string;
  readonly paused: boolean;
  readonly small?: boolean;
}

export function ScheduleSwitch({ dag, paused, small = false }: SwitchProps) {
  const client = useQueryClient();
  const { tell, fail } = useToasts();
  const { mayOperate, reason } = useRights();
  const verb = paused ? 'Resume' : 'Pause';
  const change = useMutation({
    mutationFn: () => post<SchedulePaused>(`/v1/dags/${seg(dag)}/schedule/${paused ? 'resume' : 'pause'}`),
    onSuccess: async () => {
      tell(`The schedule of ${dag} ${paused ? 'goes on' : 'is paused'}.`);
      await client.invalidateQueries({
        predicate: ({ queryKey }) => ['dag-chunk', 'dag', 'schedules', 'schedule-pages'].includes(String(queryKey[0])),
      });
    },
    onError: fail,
  });
  return (
    <button
      type="button"
      className={small ? 'button small icon' : 'button'}
      disabled={!mayOperate || change.isPending}
      title={reason ?? `${verb} the schedule`}
      aria-label={`${verb} the schedule of ${dag}`}
      onClick={() => change.mutate()}
    >
      <Icon name={paused ? 'play' : 'pause'} size={13} />
      {!small && verb}
    </button>
  );
}
