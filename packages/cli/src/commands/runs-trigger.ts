/** `signalbox runs trigger`: submits, and follows the run if asked to. */
import type { NewRun } from '@signalbox/sdk';
import { type ClientFlags, connect } from '../connection.ts';
import { followToEnd } from '../follow/follow-to-end.ts';
import { colours, print, printJson } from '../output.ts';
import { next } from '../program-name.ts';

export interface TriggerFlags extends ClientFlags {
  readonly params?: unknown;
  readonly priority?: NonNullable<NewRun['priority']>;
  readonly key?: string;
  readonly until?: string;
  readonly wait?: boolean;
  readonly timeout?: number;
}

export async function trigger(dag: string, flags: TriggerFlags): Promise<void> {
  const { params, priority, key, until } = flags;
  const client = await connect(flags);
  const run: NewRun = {
    ...('params' in flags ? { params } : {}),
    ...(priority === undefined ? {} : { priority }),
    ...(until === undefined ? {} : { until }),
  };
  const { id } = await client.submit(dag, run, key === undefined ? {} : { idempotencyKey: key });
  if (flags.wait) return followToEnd(client, id, flags);
  if (flags.json) return printJson({ id });
  print(`run ${colours.bold(id)}`);
  print(colours.dim(`follow it with: ${next(`runs watch ${id}`)}`));
}
