/**
 * The first credential. It is set from outside, or created at the first start and written to a file that only its owner can
 * read. The CLI and a worker on the same machine find it there (D13).
 */
import { randomBytes } from 'node:crypto';
import { mkdir, open, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { TenantId } from '@signalbox/engine';
import type { ApiToken, NewApiToken } from '@signalbox/store';
import { hashOf } from './bearer.ts';

interface TokenStore {
  findToken(sha256: Buffer): Promise<ApiToken | null>;
  createToken(token: NewApiToken): Promise<boolean>;
}

const DEFAULT_TENANT = 1 as TenantId;

export async function ensureAdminToken(
  store: TokenStore,
  { adminToken, tokenFile }: { readonly adminToken: string | null; readonly tokenFile: string },
): Promise<void> {
  const token = adminToken ?? (await readOrMake(tokenFile));
  const sha256 = hashOf(token);
  const found = await store.findToken(sha256);
  if (found?.role === 'admin') return;
  const from = adminToken === null ? `the file ${tokenFile}` : 'SIGNALBOX_ADMIN_TOKEN';
  if (found !== null) throw new Error(`The token in ${from} has the role ${found.role}: give one of an admin.`);
  // Nodes with data folders of their own bring tokens of their own.
  const names = ['admin', `admin-${sha256.toString('hex').slice(0, 8)}`];
  for (const name of names) {
    if (await store.createToken({ tenantId: DEFAULT_TENANT, name, role: 'admin', sha256 })) return;
  }
  if ((await store.findToken(sha256)) !== null) return; // another node was quicker with the same one
  throw new Error(`The token in ${from} has been revoked: give another one, or delete the file to have one made.`);
}

async function readOrMake(file: string): Promise<string> {
  const made = `sbx_${randomBytes(32).toString('base64url')}`;
  await mkdir(dirname(file), { recursive: true });
  try {
    const handle = await open(file, 'wx', 0o600);
    try {
      await handle.writeFile(`${made}\n`);
    } finally {
      await handle.close();
    }
    return made;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  const token = (await readFile(file, 'utf8')).trim();
  if (!/^[\x21-\x7e]{20,400}$/.test(token)) {
    throw new Error(`The file ${file} holds no token: delete it, and the next start makes one.`);
  }
  return token;
}
