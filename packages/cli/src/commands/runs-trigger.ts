/** `signalbox runs trigger`: submits, and follows the run if asked to. */
import type { NewRun } from '@signalbox/sdk';
import { type ClientFlags, connect } from '../connection.ts';
import { EXIT } from '../exit-codes.ts';
import { followToEnd } from '../follow/follow-to-end.ts';
import { colours, print, printJson } from '../output.ts';
import { CliError } from '../problem.ts';
import { next } from '../program-name.ts';
import { instantText } from './backfills.ts';

export interface TriggerFlags extends ClientFlags {
  readonly params?: unknown;
  readonly priority?: NonNullable<NewRun['priority']>;
  readonly key?: string;
  readonly until?: string;
  readonly window?: string;
  readonly schedule?: string;
  readonly wait?: boolean;
  readonly timeout?: number;
}

export async function trigger(dag: string, flags: TriggerFlags): Promise<void> {
  const { params, priority, key, until, window, schedule } = flags;
  if (schedule !== undefined && window === undefined)
    throw new CliError('--schedule goes with --window.', 'Pass both.', EXIT.usage);
  const client = await connect(flags);
  const run: NewRun = {
    ...('params' in flags ? { params } : {}),
    ...(priority === undefined ? {} : { priority }),
    ...(until === undefined ? {} : { until }),
    ...(window === undefined ? {} : { window: instantText('--window', window) }),
    ...(schedule === undefined ? {} : { schedule }),
  };
  const { id, repeated } = await client.submit(dag, run, key === undefined ? {} : { idempotencyKey: key });
  if (flags.wait) return followToEnd(client, id, flags);
  if (flags.json) return printJson(repeated ? { id, repeated } : { id });
  print(`run ${colours.bold(id)}${repeated ? ', which the window had already' : ''}`);
  print(colours.dim(`follow it with: ${next(`runs watch ${id}`)}`));
}
