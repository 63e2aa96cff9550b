/** `signalbox breakers`. */
import type { Client } from '@signalbox/sdk';
import { type ClientFlags, connect } from '../connection.ts';
import { EXIT } from '../exit-codes.ts';
import { coloured, print, printJson, short, table } from '../output.ts';
import { CliError } from '../problem.ts';
import { next } from '../program-name.ts';
import { knownDag } from './known-dag.ts';

export interface BreakerFlags extends ClientFlags {
  readonly dag?: string;
  readonly fingerprint?: string;
}

export async function listBreakers(flags: BreakerFlags): Promise<void> {
  const client = await connect(flags);
  const page = await client.listBreakers(flags.dag === undefined ? {} : { dag: flags.dag });
  if (page.items.length === 0) await knownDag(client, flags.dag);
  if (flags.json) return printJson(page);
  if (page.items.length === 0) return print('no open breakers');
  const rows = page.items.map((breaker) => [
    breaker.dag,
    breaker.fingerprint ?? 'the whole dag',
    coloured(breaker.state),
    breaker.openedAt,
    breaker.probeAt ?? '',
    short(breaker.error ?? '', 60),
  ]);
  print(table(['dag', 'holds', 'state', 'since', 'next probe', 'error'], rows));
}

/** Without a fingerprint: every breaker of the dag, its own and those of errors. A user who resets a dag wants its tasks to run. */
export async function resetBreaker(dag: string, flags: BreakerFlags): Promise<void> {
  const client = await connect(flags);
  const fingerprints = flags.fingerprint === undefined ? await heldBy(client, dag) : [flags.fingerprint];
  const reset = [];
  for (const fingerprint of fingerprints) {
    const answer = await client.resetBreaker({ dag, fingerprint }).catch(closedMeanwhile(flags));
    if (answer !== null) reset.push(answer);
  }
  if (flags.json) return printJson({ dag, reset });
  for (const { fingerprint } of reset) {
    print(
      `the breaker of ${dag}${fingerprint === null ? '' : ` for error ${fingerprint}`} is reset; the tasks that it held run again`,
    );
  }
}

async function heldBy(client: Client, dag: string): Promise<(string | null)[]> {
  const { items } = await client.listBreakers({ dag });
  if (items.length > 0) return items.map(({ fingerprint }) => fingerprint);
  await client.getDag(dag); // an unknown name is another error
  throw new CliError(`Dag ${dag} has no open breaker.`, `List all of them: ${next('breakers')}`, EXIT.refused);
}

/** One of several may close by itself between the list and the reset. */
function closedMeanwhile({ fingerprint }: BreakerFlags): (error: unknown) => null {
  return (error) => {
    if (fingerprint === undefined && (error as { code?: unknown }).code === 'BREAKER_NOT_FOUND') return null;
    throw error;
  };
}
