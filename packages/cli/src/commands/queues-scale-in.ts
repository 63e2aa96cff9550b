/** `signalbox queues scale-in`. */
import { counted } from '@signalbox/protocol';
import { type ClientFlags, connect } from '../connection.ts';
import { print, printJson, short } from '../output.ts';

export interface ScaleInFlags extends ClientFlags {
  readonly to: number;
}

export async function scaleIn(queue: string, flags: ScaleInFlags): Promise<void> {
  const answer = await (await connect(flags)).scaleIn(queue, { to: flags.to });
  if (flags.json) return printJson(answer);
  for (const { name, running } of answer.drained)
    print(
      `${short(name)} ${running === 0 ? 'was idle and leaves' : `finishes ${counted(running, 'task')} and leaves`}`,
    );
  print(`${counted(answer.workers, 'worker stays', 'workers stay')} on ${short(queue)}`);
}
