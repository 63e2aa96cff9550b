/** The files of a folder that can contain dags, sorted by name. */
import { readdir } from 'node:fs/promises';
import { basename, extname, join } from 'node:path';

const CODE = new Set(['.ts', '.mts', '.js', '.mjs']);
const DEFINITIONS = new Set(['.yaml', '.yml', '.json']);
const MAX_FILES = 10_000;
const MAX_DEPTH = 32;

type FileKind = 'code' | 'definition';

/** What a file can be by its name; null for what is never a dag. */
export function kindOf(path: string): FileKind | null {
  const name = basename(path);
  if (name.startsWith('.') || /\.(?:test|spec)\.[^.]+$|\.d\.m?ts$/.test(name)) return null;
  if (/^(?:tsconfig.*|package|package-lock)\.json$/.test(name)) return null;
  const end = extname(name);
  return CODE.has(end) ? 'code' : DEFINITIONS.has(end) ? 'definition' : null;
}

export const isPassedOver = (folder: string): boolean => folder.startsWith('.') || folder === 'node_modules';

interface FoundFiles {
  /** Paths within the folder. */
  readonly files: readonly string[];
  /** Folders that can't be read, by their paths within the folder, and why. */
  readonly unreadable: readonly { readonly path: string; readonly why: string }[];
}

/** Links to folders are not followed: they may lead around in circles. */
export async function findFiles(folder: string): Promise<FoundFiles> {
  const files: string[] = [];
  const unreadable: { path: string; why: string }[] = [];
  async function look(within: string, depth: number): Promise<void> {
    const entries = await readdir(join(folder, within), { withFileTypes: true }).catch((error: Error) => {
      unreadable.push({ path: within, why: error.message });
      return [];
    });
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const path = join(within, entry.name);
      if (entry.isDirectory()) {
        if (!isPassedOver(entry.name) && depth < MAX_DEPTH) await look(path, depth + 1);
      } else if (kindOf(path) !== null) {
        if (files.push(path) > MAX_FILES) {
          throw new Error(`There are more than ${MAX_FILES} files in ${folder}. Give a folder that holds only dags.`);
        }
      }
    }
  }
  await look('', 0);
  return { files, unreadable };
}
