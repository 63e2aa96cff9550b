/** `signalbox dags pause` and `resume`: the schedules of a dag, or with --tasks all that it does. */
import { SignalboxError } from '@signalbox/protocol';
import type { Client } from '@signalbox/sdk';
import { type ClientFlags, connect } from '../connection.ts';
import { coloured, plain, print, printJson } from '../output.ts';
import { next } from '../program-name.ts';

export interface PauseFlags extends ClientFlags {
  readonly tasks?: boolean;
  readonly reason?: string;
}

export async function pauseDag(dag: string, flags: PauseFlags): Promise<void> {
  const client = await connect(flags);
  if (flags.tasks) return pauseTasks(client, dag, flags);
  const answer = await client.pauseSchedule(dag);
  if (flags.json) return printJson(answer);
  print(
    `the schedule of ${answer.name} is ${coloured('paused')}; resume it with: ${next(`dags resume ${answer.name}`)}`,
  );
}

export async function resumeDag(dag: string, flags: PauseFlags): Promise<void> {
  const client = await connect(flags);
  if (flags.tasks) return resumeTasks(client, dag, flags);
  const answer = await client.resumeSchedule(dag);
  if (flags.json) return printJson(answer);
  const { schedule } = await client.getDag(dag);
  print(`the schedule of ${answer.name} is active again; next: ${schedule?.nextAt ?? 'never'}`);
}

/** Tasks first: a window that fires in between makes a run that waits. */
async function pauseTasks(client: Client, dag: string, { reason, json }: PauseFlags): Promise<void> {
  const { scheduleCount } = await client.getDag(dag);
  const frozen = await client.freeze(`dag:${dag}`, { reason: reason ?? 'paused' });
  if (scheduleCount > 0) await client.pauseSchedule(dag);
  if (json) return printJson({ name: dag, paused: true, schedules: scheduleCount, frozen });
  const schedules = scheduleCount > 0 ? ' and its schedules' : '';
  print(
    `tasks of ${plain(dag)}${schedules} are ${coloured('paused')}: within about a second none of them starts, running ones finish; resume with: ${next(`dags resume ${dag} --tasks`)}`,
  );
}

/** Schedules first, so that the newest window of the pause waits for nothing. What is not paused is left as it is. */
async function resumeTasks(client: Client, dag: string, { json }: PauseFlags): Promise<void> {
  const { scheduleCount } = await client.getDag(dag);
  if (scheduleCount > 0) await client.resumeSchedule(dag);
  const thawed = await client.thaw(`dag:${dag}`).catch((error: unknown) => {
    if (error instanceof SignalboxError && error.code === 'FREEZE_NOT_FOUND') return null;
    throw error;
  });
  if (json) return printJson({ name: dag, paused: false, schedules: scheduleCount, thawed: thawed !== null });
  print(`tasks of ${plain(dag)}${scheduleCount > 0 ? ' and its schedules' : ''} go on`);
}
