/** `signalbox dags pause` and `resume`. */
import { type ClientFlags, connect } from '../connection.ts';
import { coloured, print, printJson } from '../output.ts';
import { next } from '../program-name.ts';

export async function pauseSchedule(dag: string, flags: ClientFlags): Promise<void> {
  const answer = await (await connect(flags)).pauseSchedule(dag);
  if (flags.json) return printJson(answer);
  print(
    `the schedule of ${answer.name} is ${coloured('paused')}; resume it with: ${next(`dags resume ${answer.name}`)}`,
  );
}

export async function resumeSchedule(dag: string, flags: ClientFlags): Promise<void> {
  const client = await connect(flags);
  const answer = await client.resumeSchedule(dag);
  if (flags.json) return printJson(answer);
  const { schedule } = await client.getDag(dag);
  print(`the schedule of ${answer.name} is active again; next: ${schedule?.nextAt ?? 'never'}`);
}
