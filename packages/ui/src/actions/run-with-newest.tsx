/**
 * A new run with a version that was deployed since. Whoever has deployed a fix wants that, and "Rerun from failed" keeps the code
 * that the run began with.
 */
import type { RerunAnswer, RunSummary } from '@signalbox/protocol';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { post, seg } from '../api/client.ts';
import { dagQuery } from '../api/queries.ts';
import { Icon } from '../shell/icons.tsx';
import { ChangeButton } from './change.tsx';

interface RunWithNewestProps {
  readonly run: RunSummary;
  readonly newest: number;
}

/** The version of the run itself unless the run has ended, failed, and another version is there. */
export function useNewestVersion(run: RunSummary, hasFailed: boolean): number {
  const isOver = hasFailed && run.state === 'ended';
  const newest = useQuery({ ...dagQuery(run.dag), enabled: isOver }).data?.version;
  return isOver ? (newest ?? run.version) : run.version;
}

/** At once, with the same params: to change them there is *New run with these params*. */
export function RunWithNewest({ run, newest }: RunWithNewestProps) {
  const navigate = useNavigate();
  return (
    <ChangeButton
      className="button primary"
      title="A new run with the same params"
      run={async () => {
        const { id } = await post<RerunAnswer>(`/v1/runs/${seg(run.id)}/rerun`, { version: 'latest' });
        await navigate({ to: '/runs/$id', params: { id } });
      }}
      touches={['runs', 'run-pages']}
    >
      <Icon name="play" size={13} /> Run with version {newest}
    </ChangeButton>
  );
}
