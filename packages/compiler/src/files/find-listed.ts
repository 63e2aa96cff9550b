/**
 * What one entry under `files` stands for: a file, a folder with all that is in it, or a pattern. Nothing outside the folder of
 * the dag's file is ever taken, also not by a link. Folders and patterns leave out what begins with a dot, such as
 * `.env` and `.git`, and what tools make.
 */
import { lstat, readdir, realpath, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { isSafePath } from '@signalbox/protocol';

export class FileFault extends Error {
  readonly remedy: string;
  constructor(message: string, remedy: string) {
    super(message);
    this.remedy = remedy;
  }
}

const MADE_BY_TOOLS = new Set(['node_modules', '__pycache__']);
/** Not even by its own name: what lies in an archive lies in the database. */
const SECRET = /^(?:\.env(?:\..*)?|\.git|\.ssh|\.netrc|\.pgpass)$/;
const MAX_ENTRIES = 20_000;

/** Paths within the folder, with `/` between their parts. */
export async function findListed(folder: string, written: string): Promise<string[]> {
  const path = normalized(written);
  const root = await realpath(folder);
  if (/[*?]/.test(path)) {
    const matches = matcherOf(path);
    const found = await walk(folder, root, fixedPart(path), matches);
    if (found.length === 0)
      throw new FileFault(`"${written}" matches no file`, 'Check the pattern. It is relative to this file.');
    return found;
  }
  const at = join(folder, path);
  const real = await realpath(at).catch(() => null);
  if (real === null)
    throw new FileFault(`there is no file "${written}"`, 'Check the path. It is relative to this file.');
  refuseOutside(real, root, written);
  const found = await stat(real);
  if (found.isFile()) return [path];
  if (!found.isDirectory())
    throw new FileFault(`"${written}" is neither a file nor a folder`, 'List files and folders only.');
  if ((await lstat(at)).isSymbolicLink()) throw linkToFolder(written);
  const all = await walk(folder, root, path, () => true);
  if (all.length === 0) throw new FileFault(`the folder "${written}" has no files`, 'Remove it, or put files into it.');
  return all;
}

function normalized(written: string): string {
  if (written.startsWith('/') || /^[A-Za-z]:[\\/]/.test(written)) {
    throw new FileFault(`"${written}" is an absolute path`, 'Use a path relative to the folder of this file.');
  }
  const path = written.replace(/^(?:\.\/)+/, '').replace(/\/+$/, '');
  if (path === '' || path === '.') return '';
  if (path.split('/').includes('..')) throw leaves(written);
  if (!isSafePath(path)) throw new FileFault(`"${written}" is not a path`, 'Write it with / between its parts.');
  refuseSecrets(path.split('/'), written);
  return path;
}

function refuseSecrets(parts: readonly string[], shown: string): void {
  const secret = parts.find((part) => SECRET.test(part));
  if (secret === undefined) return;
  const remedy = 'Put secrets on the workers, and list them under secrets.';
  throw new FileFault(`"${shown}" is refused: ${secret} usually holds secrets`, remedy);
}

const leaves = (written: string): FileFault =>
  new FileFault(`"${written}" leaves the folder of this file`, 'Move the file into it.');
const linkToFolder = (path: string): FileFault =>
  new FileFault(`"${path}" is a link to a folder`, 'List the folder that it leads to.');

function refuseOutside(real: string, root: string, shown: string): void {
  if (real !== root && !real.startsWith(root + sep)) throw leaves(shown);
  // A link may have a harmless name of its own.
  refuseSecrets(real.slice(root.length + 1).split(sep), shown);
}

/** The folders before the first part with a star: nothing else need be looked at. */
function fixedPart(pattern: string): string {
  const parts = pattern.split('/');
  return parts
    .slice(
      0,
      parts.findIndex((part) => /[*?]/.test(part)),
    )
    .join('/');
}

function matcherOf(pattern: string): (path: string) => boolean {
  const source = pattern
    .split('/')
    .map((part) =>
      part === '**'
        ? '**'
        : part
            .replace(/[.+^${}()|[\]\\]/g, '\\$&')
            .replace(/\*+/g, '[^/]*')
            .replace(/\?/g, '[^/]'),
    )
    .join('/')
    .replace(/\*\*\//g, '(?:[^/]+/)*')
    .replace(/\*\*/g, '.+');
  const regex = new RegExp(`^${source}$`);
  return (path) => regex.test(path);
}

async function walk(folder: string, root: string, within: string, wants: (path: string) => boolean): Promise<string[]> {
  const files: string[] = [];
  let seen = 0;
  const look = async (path: string): Promise<void> => {
    const entries = await readdir(join(folder, path), { withFileTypes: true }).catch(() => []);
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      if (++seen > MAX_ENTRIES) {
        throw new FileFault(`looks at more than ${MAX_ENTRIES} files`, 'List a smaller folder.');
      }
      if (entry.name.startsWith('.') || MADE_BY_TOOLS.has(entry.name)) continue;
      const inner = path === '' ? entry.name : `${path}/${entry.name}`;
      if (entry.isDirectory()) await look(inner);
      else if (!wants(inner)) continue;
      else if (entry.isFile()) files.push(inner);
      else if (entry.isSymbolicLink()) {
        const real = await realpath(join(folder, inner)).catch(() => null);
        if (real === null) throw new FileFault(`"${inner}" is a link that leads nowhere`, 'Remove the link.');
        refuseOutside(real, root, inner);
        if ((await stat(real)).isDirectory()) throw linkToFolder(inner);
        files.push(inner);
      }
    }
  };
  await look(within);
  return files;
}
