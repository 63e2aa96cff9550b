/**
 * Puts the files of a dag where a process finds them. They are fetched and cached like code, and written again for each
 * attempt.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { unpackFiles } from '@signalbox/protocol';
import { PermanentError } from '@signalbox/sdk';
import type { Bundles } from '../bundles/bundles.ts';

interface Place {
  readonly tenant: string;
  /** Of the archive. */
  readonly hash: string;
  readonly folder: string;
}

/** Each attempt has its own: what one does to its files is not seen by the next. */
export async function placeFiles(bundles: Bundles, { tenant, hash, folder }: Place): Promise<void> {
  const files = unpack(await archiveOf(bundles, tenant, hash));
  const folders = new Set(files.map(({ path }) => dirname(path)));
  for (const each of folders) await mkdir(join(folder, each), { recursive: true });
  for (const { path, isExecutable, content } of files) {
    await writeFile(join(folder, path), content, { mode: isExecutable ? 0o755 : 0o644 });
  }
}

async function archiveOf(bundles: Bundles, tenant: string, hash: string): Promise<Buffer> {
  const { path } = await bundles.get(tenant, hash);
  try {
    return await readFile(path);
  } catch {
    // Another worker with the same cache has removed it since it was looked at.
    bundles.forget(tenant, hash);
    return readFile((await bundles.get(tenant, hash)).path);
  }
}

function unpack(archive: Buffer): ReturnType<typeof unpackFiles> {
  try {
    return unpackFiles(archive);
  } catch (error) {
    throw new PermanentError(`${(error as Error).message} Deploy the dag again.`);
  }
}
