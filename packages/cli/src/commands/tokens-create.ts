/** `signalbox tokens create`. */
import type { NewToken } from '@signalbox/protocol';
import { type ClientFlags, connect } from '../connection.ts';
import { EXIT } from '../exit-codes.ts';
import { colours, print, printJson } from '../output.ts';
import { CliError } from '../problem.ts';

export interface CreateTokenFlags extends ClientFlags {
  readonly role: NewToken['role'];
  /** Milliseconds. */
  readonly expires?: number;
  /** Separated by commas. */
  readonly queues?: string;
  readonly slots?: number;
  readonly tenant?: string;
  /** Separated by commas. */
  readonly serves?: string;
}

export async function createToken(name: string, flags: CreateTokenFlags): Promise<void> {
  const { role, expires, queues, slots, tenant, serves } = flags;
  if (role !== 'worker' && (queues !== undefined || slots !== undefined || serves !== undefined)) {
    throw new CliError(
      '--queues, --slots and --serves are for workers only.',
      'Remove them, or pass --role worker.',
      EXIT.usage,
    );
  }
  const made = await (await connect(flags)).createToken({
    name,
    role,
    ...(expires === undefined ? {} : { expiresIn: `${expires}ms` }),
    ...(queues === undefined ? {} : { queues: queues.split(',').map((queue) => queue.trim()) }),
    ...(slots === undefined ? {} : { slots }),
    ...(tenant === undefined ? {} : { tenant }),
    ...(serves === undefined ? {} : { serves: serves.split(',').map((name) => name.trim()) }),
  });
  if (flags.json) return printJson(made);
  // The token alone on standard output, so that it can be caught: TOKEN=$(signalbox tokens create …)
  process.stderr.write(
    `token ${made.name}, role ${made.role}, valid ${made.expiresAt === null ? 'until it is revoked' : `until ${made.expiresAt}`}\n`,
  );
  process.stderr.write(`${colours.yellow('Copy the token now. It is shown only once:')}\n`);
  print(made.token);
}
