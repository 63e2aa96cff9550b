/** `signalbox queues list`. */

import type { QueueView } from '@signalbox/protocol';
import { counted } from '@signalbox/protocol';
import { type ClientFlags, connect } from '../connection.ts';
import { colours, print, printJson, short, spanText, table } from '../output.ts';
import { next } from '../program-name.ts';

export async function listQueues(flags: ClientFlags): Promise<void> {
  const page = await (await connect(flags)).listQueues();
  if (flags.json) return printJson(page);
  const heads = ['queue', 'waits', 'runs', 'oldest', 'starts', 'drained in', 'workers', 'wanted'];
  if (page.items.length > 0) print(table(heads, page.items.map(row)));
  else print(`no worker is connected and nothing waits. Start a worker with: ${next('worker')}`);
  if (page.missing.length > 0)
    print(colours.yellow(`servers ${page.missing.join(', ')} did not answer in time; the counts are too low`));
}

function row(queue: QueueView): string[] {
  const { name, waiting, held, running, oldestMs, startsPerMinute, drainMs, workers, slots, wantedWorkers } = queue;
  return [
    short(name, 40),
    held === 0 ? String(waiting) : `${waiting}, ${held} of them held by limits`,
    String(running),
    oldestMs === null ? '-' : spanText(oldestMs),
    `${startsPerMinute}/min`,
    drainMs === null ? 'unknown' : drainMs === 0 ? '-' : spanText(drainMs),
    workers === 0 ? colours.yellow('none') : `${workers} with ${counted(slots, 'slot')}`,
    wantedWorkers === null ? '-' : String(wantedWorkers),
  ];
}
