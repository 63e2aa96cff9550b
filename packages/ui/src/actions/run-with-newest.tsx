/**
 * A new run with a version that was deployed since. Whoever has deployed a fix wants that, and "Rerun from failed" keeps the code
 * that the run began with.
 */
import type { RunSummary } from '@signalbox/protocol';
import { useQuery } from '@tanstack/react-query';
import { dagQuery } from '../api/queries.ts';
import { Icon } from '../shell/icons.tsx';
import { OpenButton } from './change.tsx';
import { RerunDialog } from './rerun.tsx';

interface RunWithNewestProps {
  readonly run: RunSummary & { readonly params: unknown };
  readonly newest: number;
}

/** The version of the run itself unless the run has ended, failed, and another version is there. */
export function useNewestVersion(run: RunSummary, hasFailed: boolean): number {
  const isOver = hasFailed && run.state === 'ended';
  const newest = useQuery({ ...dagQuery(run.dag), enabled: isOver }).data?.version;
  return isOver ? (newest ?? run.version) : run.version;
}

export function RunWithNewest({ run, newest }: RunWithNewestProps) {
  return (
    <OpenButton className="button primary" dialog={(onClose) => <RerunDialog run={run} onClose={onClose} />}>
      <Icon name="play" size={13} /> Run with version {newest} …
    </OpenButton>
  );
}
