/** `signalbox callbacks …`: calls of ended runs. */
import { type ClientFlags, connect } from '../connection.ts';
import { coloured, print, printJson, short, table } from '../output.ts';

export interface CallbacksFlags extends ClientFlags {
  readonly state?: 'waiting' | 'done' | 'given_up';
  readonly limit: number;
}

export async function listCallbacks(flags: CallbacksFlags): Promise<void> {
  const filter = { limit: flags.limit, ...(flags.state === undefined ? {} : { state: flags.state }) };
  const page = await (await connect(flags)).listCallbacks(filter);
  if (flags.json) return printJson(page);
  const rows = page.items.map(({ run, dag, outcome, state, attempts, nextAt, lastStatus, lastError, url }) => [
    run,
    short(dag),
    coloured(outcome),
    state === 'waiting' ? `waiting, next ${nextAt}` : state,
    String(attempts),
    lastStatus === null ? '' : String(lastStatus),
    short(lastError ?? url),
  ]);
  print(table(['run', 'dag', 'outcome', 'call', 'tries', 'status', 'error or address'], rows));
}

export async function showSecret(flags: ClientFlags): Promise<void> {
  const { header, secret } = await (await connect(flags)).getCallbackSecret();
  if (flags.json) return printJson({ header, secret });
  process.stderr.write(
    `Receivers check the header ${header}: t=<seconds>,v1=<hex of HMAC-SHA256 over "<seconds>.<body>">\n`,
  );
  // The secret alone on standard output, so that it can be captured: SECRET=$(signalbox callbacks secret)
  print(secret);
}

export async function repeatCallbacks(run: string, flags: ClientFlags): Promise<void> {
  const answer = await (await connect(flags)).repeatCallbacks(run);
  if (flags.json) return printJson(answer);
  print(`${answer.repeated} ${answer.repeated === 1 ? 'callback is' : 'callbacks are'} sent again`);
}
