/** The files below a folder. Links are not followed: they could lead anywhere on the machine. */
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { WatchedFile } from '@signalbox/store';

const MAX_DEPTH = 8;

export interface Scan {
  readonly files: readonly WatchedFile[];
  /** There were more than the limit: the others are not looked at. */
  readonly isCut: boolean;
}

/** Hidden files and folders are left out: programs write to them before they rename. */
export async function scanFolder(folder: string, most: number): Promise<Scan> {
  const files: WatchedFile[] = [];
  const open: { readonly path: string; readonly depth: number }[] = [{ path: '', depth: 0 }];
  for (let next = open.shift(); next !== undefined; next = open.shift()) {
    const { path, depth } = next;
    const entries = await readdir(join(folder, path), { withFileTypes: true });
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      if (entry.name.startsWith('.')) continue;
      const below = path === '' ? entry.name : `${path}/${entry.name}`;
      if (entry.isDirectory() && depth + 1 < MAX_DEPTH) open.push({ path: below, depth: depth + 1 });
      if (!entry.isFile()) continue;
      if (files.length === most) return { files, isCut: true };
      const found = await lstat(join(folder, below)).catch(() => null);
      if (found !== null) files.push({ path: below, modifiedAt: Math.floor(found.mtimeMs), size: found.size });
    }
  }
  return { files, isCut: false };
}
