/** `signalbox breakers`. */
import { type ClientFlags, connect } from '../connection.ts';
import { coloured, print, printJson, short, table } from '../output.ts';

export interface BreakerFlags extends ClientFlags {
  readonly dag?: string;
  readonly fingerprint?: string;
}

export async function listBreakers(flags: BreakerFlags): Promise<void> {
  const page = await (await connect(flags)).listBreakers(flags.dag === undefined ? {} : { dag: flags.dag });
  if (flags.json) return printJson(page);
  if (page.items.length === 0) return print('no breaker holds anything back');
  const rows = page.items.map((breaker) => [
    breaker.dag,
    breaker.fingerprint ?? 'the dag itself',
    coloured(breaker.state),
    breaker.openedAt,
    breaker.probeAt ?? '',
    short(breaker.error ?? '', 60),
  ]);
  print(table(['dag', 'holds', 'state', 'since', 'next probe', 'error'], rows));
}

export async function resetBreaker(dag: string, flags: BreakerFlags): Promise<void> {
  const answer = await (await connect(flags)).resetBreaker({ dag, fingerprint: flags.fingerprint ?? null });
  if (flags.json) return printJson(answer);
  print(
    `what the breaker of ${answer.dag}${answer.fingerprint === null ? '' : ` for ${answer.fingerprint}`} held is let go`,
  );
}
