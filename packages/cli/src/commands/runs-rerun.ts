/** `signalbox runs rerun`. */
import { type ClientFlags, connect } from '../connection.ts';
import { followToEnd } from '../follow/follow-to-end.ts';
import { print, printJson } from '../output.ts';
import { next } from '../program-name.ts';
import { resolveRun } from '../run-id.ts';

export interface RerunFlags extends ClientFlags {
  readonly latest?: boolean;
  readonly dryRun?: boolean;
  readonly params?: unknown;
  readonly wait?: boolean;
  readonly timeout?: number;
}

export async function rerun(given: string, flags: RerunFlags): Promise<void> {
  const client = await connect(flags);
  const run = await resolveRun(client, given);
  const wanted = {
    version: flags.latest ? ('latest' as const) : ('same' as const),
    ...(flags.params !== undefined && { params: flags.params }),
  };
  if (flags.dryRun) {
    const made = await client.previewRerun(run, wanted);
    if (flags.json) return printJson(made);
    print(`would start a run of ${made.dag}, version ${made.version}, params ${JSON.stringify(made.params)}`);
    return print('nothing was changed');
  }
  const answer = await client.rerun(run, wanted);
  if (flags.wait) return followToEnd(client, answer.id, flags);
  if (flags.json) return printJson(answer);
  print(`run ${answer.id} of version ${answer.version}`);
  print(`follow it with: ${next(`runs watch ${answer.id}`)}`);
}
