import { seg } from '../api/client.ts';
import { LogViewer } from './viewer.tsx';

/** Lines of all tasks of a run, by their time. */
export function RunLog({ runId }: { readonly runId: string }) {
  const path = `/v1/runs/${seg(runId)}/log`;
  return (
    <LogViewer
      path={path}
      download={`${path}?format=text`}
      withTask
      empty="The tasks of this run have written nothing."
    />
  );
}
