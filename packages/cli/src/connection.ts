/** Which server to call, and with which token. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Client } from '@signalbox/sdk';
import { dataFolder } from '@signalbox/server/config';
import { EXIT } from './exit-codes.ts';
import { CliError } from './problem.ts';

export interface ConnectionFlags {
  readonly url?: string;
  readonly data?: string;
}

/** The same with the flag that all of them have. */
export interface ClientFlags extends ConnectionFlags {
  readonly json?: boolean;
}

export interface PageFlags extends ClientFlags {
  readonly limit: number;
  readonly cursor?: string;
}

const USUAL_URL = 'http://127.0.0.1:4500';
const RETRY_MS = 2_000;

export async function connect(flags: ConnectionFlags, { retryForMs = RETRY_MS } = {}): Promise<Client> {
  const token = await findToken(flags);
  const { createClient } = await import('@signalbox/sdk');
  last = createClient({ url: urlOf(flags), token, retryForMs });
  return last;
}

let last: Client | null = null;

/** The client of the command that is running, if it has asked a server. */
export const lastClient = (): Client | null => last;

export function urlOf(flags: Pick<ConnectionFlags, 'url'>): string {
  const url = flags.url ?? (process.env.SIGNALBOX_URL || USUAL_URL);
  if (/^https?:\/\/[^/\s]+\/?$/.test(url)) return url.replace(/\/$/, '');
  throw new CliError(`"${url}" is not a valid server URL.`, `Use a URL such as ${USUAL_URL}.`, EXIT.usage);
}

function dataFolderOf({ data }: Pick<ConnectionFlags, 'data'>): string {
  return dataFolder(data === undefined ? process.env : { ...process.env, SIGNALBOX_DATA: data });
}

export function tokenFileOf(flags: Pick<ConnectionFlags, 'data'>): string {
  return process.env.SIGNALBOX_TOKEN_FILE || join(dataFolderOf(flags), 'admin.token');
}

/** From the environment, or from the file that the server made for its owner. */
export async function findToken(flags: Pick<ConnectionFlags, 'data'>): Promise<string> {
  const { SIGNALBOX_TOKEN, SIGNALBOX_ADMIN_TOKEN } = process.env;
  if (SIGNALBOX_TOKEN) return SIGNALBOX_TOKEN;
  if (SIGNALBOX_ADMIN_TOKEN) return SIGNALBOX_ADMIN_TOKEN;
  const file = tokenFileOf(flags);
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch (error) {
    const why = (error as NodeJS.ErrnoException).code === 'EACCES' ? 'is not readable' : 'does not exist';
    throw new CliError(
      `No token found: the file ${file} ${why}.`,
      'Start a server here (npx signalbox start), or set SIGNALBOX_TOKEN to a token of your server.',
      EXIT.refused,
    );
  }
}
