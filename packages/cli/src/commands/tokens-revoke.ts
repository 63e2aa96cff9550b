/** `signalbox tokens revoke`. */
import { type ClientFlags, connect } from '../connection.ts';
import { print, printJson } from '../output.ts';

export async function revokeToken(name: string, flags: ClientFlags): Promise<void> {
  const answer = await (await connect(flags)).revokeToken(name);
  if (flags.json) printJson(answer);
  else print(`token ${answer.name} is revoked; it and its browser sessions stop working within seconds`);
}
