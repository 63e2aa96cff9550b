/** `signalbox runs trigger`: submits, and follows the run if asked to. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Client, NewRun, NewSingleRun } from '@signalbox/sdk';
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
  readonly id?: string;
  readonly until?: string;
  readonly at?: string;
  readonly delay?: string;
  readonly window?: string;
  readonly schedule?: string;
  readonly wait?: boolean;
  readonly timeout?: number;
}

export async function trigger(dag: string, flags: TriggerFlags): Promise<void> {
  const { params, priority, key, id: runId, until, window, schedule, at, delay } = flags;
  if (at !== undefined && delay !== undefined)
    throw new CliError('--at does not go with --delay.', 'Pass one of them.', EXIT.usage);
  if ((at ?? delay) !== undefined && window !== undefined)
    throw new CliError('--at and --delay do not go with --window.', 'Pass one of them.', EXIT.usage);
  if (schedule !== undefined && window === undefined)
    throw new CliError('--schedule goes with --window.', 'Pass both.', EXIT.usage);
  if (runId !== undefined && (key ?? window) !== undefined)
    throw new CliError('--id does not go with --key or --window.', 'Pass one of them: each names the run.', EXIT.usage);
  const client = await connect(flags);
  const run: NewSingleRun = {
    ...('params' in flags ? { params } : {}),
    ...(priority === undefined ? {} : { priority }),
    ...(until === undefined ? {} : { until }),
    ...(window === undefined ? {} : { window: instantText('--window', window) }),
    ...(schedule === undefined ? {} : { schedule }),
    ...(runId === undefined ? {} : { runId }),
    ...(at === undefined ? {} : { at: instantText('--at', at) }),
    ...(delay === undefined ? {} : { delay }),
  };
  const { id, repeated, scheduledFor } = await client.submit(
    dag,
    run,
    key === undefined ? {} : { idempotencyKey: key },
  );
  if (flags.wait) {
    if (scheduledFor !== undefined) await untilBegun(client, id, scheduledFor, flags);
    return followToEnd(client, id, flags);
  }
  if (flags.json) return printJson({ id, ...(repeated && { repeated }), ...(scheduledFor && { scheduledFor }) });
  print(`run ${colours.bold(id)}${repeated ? ', which was there already' : ''}`);
  if (scheduledFor === undefined) print(colours.dim(`follow it with: ${next(`runs watch ${id}`)}`));
  else print(`it begins at ${scheduledFor}; take it back with: ${next(`runs cancel ${id}`)}`);
}

const LOOK_AGAIN_MS = 500;

/** A delayed run has nothing to follow until it begins. */
async function untilBegun(
  client: Client,
  id: string,
  scheduledFor: string,
  { timeout, json }: TriggerFlags,
): Promise<void> {
  const givesUpAt = performance.now() + (timeout ?? Number.POSITIVE_INFINITY);
  if (!json) print(colours.dim(`run ${id} begins at ${scheduledFor}`));
  while ((await client.getRun(id)).state === 'scheduled') {
    if (performance.now() > givesUpAt) {
      throw new CliError(
        'The run has not begun in time; it still will.',
        `Watch it with: ${next(`runs watch ${id}`)}`,
        EXIT.timedOut,
      );
    }
    const leftMs = new Date(scheduledFor).getTime() - Date.now();
    await pause(Math.min(Math.max(leftMs, LOOK_AGAIN_MS), 30_000, Math.max(givesUpAt - performance.now(), 1)));
  }
}
