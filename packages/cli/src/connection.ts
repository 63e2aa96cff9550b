/** Which server to ask, and with which token. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Client } from '@signalbox/sdk';
import { dataFolder } from '@signalbox/server/config';
import { CliError } from './problem.ts';

export interface ConnectionFlags {
  readonly url?: string;
  readonly data?: string;
}

const USUAL_URL = 'http://127.0.0.1:4500';
const RETRY_MS = 5_000;

export async function connect(flags: ConnectionFlags): Promise<Client> {
  const url = flags.url ?? process.env.SIGNALBOX_URL ?? USUAL_URL;
  const token = await findToken(flags);
  const { createClient } = await import('@signalbox/sdk');
  return createClient({ url, token, retryForMs: RETRY_MS });
}

/** From the environment, or from the file that the server made for its owner. */
export async function findToken({ data }: Pick<ConnectionFlags, 'data'>): Promise<string> {
  const { SIGNALBOX_TOKEN, SIGNALBOX_ADMIN_TOKEN, SIGNALBOX_TOKEN_FILE } = process.env;
  if (SIGNALBOX_TOKEN) return SIGNALBOX_TOKEN;
  if (SIGNALBOX_ADMIN_TOKEN) return SIGNALBOX_ADMIN_TOKEN;
  const folder = dataFolder(data === undefined ? process.env : { ...process.env, SIGNALBOX_DATA: data });
  const file = SIGNALBOX_TOKEN_FILE || join(folder, 'admin.token');
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch (error) {
    const why = (error as NodeJS.ErrnoException).code === 'EACCES' ? 'may not be read by you' : 'is not there';
    throw new CliError(
      `No token is known: the file ${file} ${why}.`,
      'Start a server here (npx signalbox start), or set SIGNALBOX_TOKEN to a token of the server that you ask.',
    );
  }
}
