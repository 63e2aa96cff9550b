/** `signalbox login`. */
import { type ClientFlags, connect, urlOf } from '../connection.ts';
import { colours, print, printJson } from '../output.ts';

export async function login(flags: ClientFlags): Promise<void> {
  const { path, expiresAt } = await (await connect(flags)).createLoginLink();
  const url = `${urlOf(flags)}${path}`;
  if (flags.json) return printJson({ url, expiresAt });
  print(url);
  process.stderr.write(`${colours.dim(`Open the link in a browser. It works once, until ${expiresAt}.`)}\n`);
}
