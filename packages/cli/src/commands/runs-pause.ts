/** `signalbox runs pause|resume`, `signalbox tasks pause|resume`. */
import { type ClientFlags, connect } from '../connection.ts';
import { plain, print, printJson } from '../output.ts';
import { resolveRun } from '../run-id.ts';

export async function setPaused(
  given: string,
  task: string | null,
  paused: boolean,
  flags: ClientFlags,
): Promise<void> {
  const client = await connect(flags);
  const run = await resolveRun(client, given);
  const answer =
    task === null
      ? await (paused ? client.pauseRun(run) : client.resumeRun(run))
      : await (paused ? client.pauseTask(run, task) : client.resumeTask(run, task));
  if (flags.json) return printJson(answer);
  const what = task === null ? `run ${run}` : `task ${plain(task)}`;
  print(paused ? `${what} is paused: running tasks continue, no new task starts` : `${what} continues`);
}
