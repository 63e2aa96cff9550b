/** `signalbox tasks decisions`. */
import { type DecisionFacts, type DecisionView, shownAmount } from '@signalbox/protocol';
import { type ClientFlags, connect } from '../connection.ts';
import { colours, plain, print, printJson, short, table } from '../output.ts';
import { resolveRun } from '../run-id.ts';

export async function listDecisions(given: string, task: string, flags: ClientFlags): Promise<void> {
  const client = await connect(flags);
  const page = await client.listDecisions(await resolveRun(client, given), task);
  if (flags.json) return printJson(page);
  if (page.items.length === 0) return print('not claimed yet. Why it waits: signalbox why');
  for (const decision of page.items) show(decision);
}

function show({ attempt, claimedAt, message, known }: DecisionView): void {
  print(colours.bold(`attempt ${attempt}${claimedAt === null ? '' : `, claimed at ${claimedAt}`}`));
  print(`  ${plain(message)}`);
  if (known === null || known.candidates.length < 2) return;
  const rows = known.candidates.map(rowOf);
  for (const line of table(['worker', 'score', 'free slots', 'free'], rows).split('\n')) print(`  ${line}`);
}

function rowOf({ name, score, slots, room }: DecisionFacts['candidates'][number]): string[] {
  const free = Object.entries(room).map(([resource, amount]) => shownAmount(resource, amount));
  return [
    short(name ?? 'of the fleet', 40),
    score === null ? 'its turn' : String(score),
    String(slots),
    free.join(', '),
  ];
}
