/** `signalbox events`: a page of past events, or all events from now on. */

import type { EventKind } from '@signalbox/protocol';
import type { EventView } from '@signalbox/sdk';
import { type ClientFlags, connect } from '../connection.ts';
import { EXIT } from '../exit-codes.ts';
import { onInterrupt } from '../interrupt.ts';
import { coloured, colours, print, printJson, printJsonLine, short } from '../output.ts';
import { knownDag } from './known-dag.ts';

export interface EventsFlags extends ClientFlags {
  readonly follow?: boolean;
  readonly dag?: string;
  readonly run?: string;
  readonly kind?: string;
  readonly after?: string;
  readonly limit: number;
}

export async function events(flags: EventsFlags): Promise<void> {
  const { dag, run, kind, after, limit } = flags;
  const client = await connect(flags);
  const filter = {
    ...(dag === undefined ? {} : { dag }),
    ...(run === undefined ? {} : { run }),
    // Words that the server does not know are refused by it, with those that it does.
    ...(kind === undefined ? {} : { kinds: kind.split(',') as EventKind[] }),
    ...(after === undefined ? {} : { after }),
  };
  if (!flags.follow) {
    const page = await client.listEvents({ ...filter, ...(after === undefined ? { from: 'start' } : {}), limit });
    if (page.items.length === 0) await knownDag(client, dag);
    if (flags.json) return printJson(page);
    for (const event of page.items) print(lineOf(event));
    print(colours.dim(page.items.length === 0 ? 'no events' : `next page: --after ${page.cursor}`));
    return;
  }
  const { signal } = onInterrupt();
  try {
    for await (const event of client.followEvents(filter, { signal })) {
      if (flags.json) printJsonLine(event);
      else print(lineOf(event));
    }
  } catch (error) {
    if (!signal.aborted) throw error;
    process.exitCode = EXIT.interrupted;
  }
}

function lineOf({ at, kind, dag, run, task, details }: EventView): string {
  if (kind === 'events.skipped') {
    const why = details.reason === 'newer_format' ? 'a newer server wrote them' : 'their journal row is damaged';
    return `${colours.dim(at)} ${kind} the events of one commit are missing: ${why} (${JSON.stringify(details.commits)})`;
  }
  const outcome = typeof details.outcome === 'string' ? ` ${coloured(details.outcome)}` : '';
  const where = [short(dag ?? ''), run ?? '', short(task ?? '')].filter((part) => part !== '').join(' ');
  return `${colours.dim(at)} ${kind}${outcome} ${where}`;
}
