/** `signalbox workers list`. */
import { shownAmount, shownQueues, type WorkerView } from '@signalbox/protocol';
import { type ClientFlags, connect } from '../connection.ts';
import { coloured, colours, print, printJson, short, spanText, table } from '../output.ts';
import { next } from '../program-name.ts';

export async function listWorkers(flags: ClientFlags): Promise<void> {
  const page = await (await connect(flags)).listWorkers();
  if (flags.json) return printJson(page);
  const rows = page.items.map((worker) => [
    short(worker.name, 40),
    worker.id,
    `${worker.running} of ${worker.slots}`,
    short(shownQueues(worker), 40),
    short(offersText(worker), 60),
    short(worker.version ?? 'unknown'),
    stateText(worker),
    `${spanText(worker.silentMs)} ago`,
  ]);
  if (rows.length > 0) print(table(['worker', 'id', 'runs', 'queues', 'free', 'version', 'state', 'heard'], rows));
  else print(`no worker is connected, so tasks wait. Start one with: ${next('worker')}`);
  if (page.missing.length > 0)
    print(colours.yellow(`servers ${page.missing.join(', ')} did not answer in time; their workers are not shown`));
}

function stateText({ draining, cordoned, reserved }: WorkerView): string {
  if (draining) return coloured('draining');
  if (cordoned === true) return colours.yellow('cordoned');
  return reserved === true ? 'reserved' : 'working';
}

/** What is free of its resources, and its labels: `3.5 cpu, 12 GiB of memory, disk=ssd`. */
function offersText({ resources = {}, free = {}, labels = {} }: WorkerView): string {
  const amounts = Object.keys(resources).map((name) => shownAmount(name, Math.max(0, free[name] ?? 0)));
  return [...amounts, ...Object.entries(labels).map(([name, value]) => `${name}=${value}`)].join(', ');
}
