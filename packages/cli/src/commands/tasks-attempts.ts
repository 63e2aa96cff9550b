/** `signalbox tasks attempts`. */
import type { PricedAttempt } from '@signalbox/protocol';
import { type ClientFlags, connect } from '../connection.ts';
import { print, printJson, short, spanBetween, spanText, table } from '../output.ts';
import { resolveRun } from '../run-id.ts';

const MIB = 1_048_576;

export async function listAttempts(given: string, task: string, flags: ClientFlags): Promise<void> {
  const client = await connect(flags);
  const page = await client.listAttempts(await resolveRun(client, given), task);
  if (flags.json) return printJson(page);
  if (page.items.length === 0) return print('no attempts yet');
  print(table(['attempt', 'outcome', 'claimed', 'took', 'cpu', 'memory', 'cost', 'worker'], page.items.map(rowOf)));
}

function rowOf({
  attempt,
  outcome,
  claimedAt,
  endedAt,
  cpuMs,
  peakMemoryBytes,
  cost,
  worker,
}: PricedAttempt): string[] {
  return [
    String(attempt),
    outcome ?? 'running',
    claimedAt ?? '',
    claimedAt === null || endedAt === null ? '' : spanBetween(claimedAt, endedAt),
    cpuMs === null ? '' : spanText(cpuMs),
    peakMemoryBytes === null ? '' : `${Math.ceil(peakMemoryBytes / MIB)} MiB`,
    cost === null ? '' : `${cost.amount} ${cost.currency}`,
    short(worker ?? ''),
  ];
}
