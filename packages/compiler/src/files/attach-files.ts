/** The files that are deployed with a dag: those listed under `files`, and those that a `run` names. */
import { createHash } from 'node:crypto';
import { readFile, realpath, stat } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import { type ArchivedFile, MAX_FILES, MAX_FILES_BYTES, packFiles, worksIn } from '@signalbox/protocol';
import type { CompiledDag, CompileProblem, DraftDag, SourceFile } from '../compiled.ts';
import { FileFault, findListed } from './find-listed.ts';
import { wordsOfRun } from './words-of-run.ts';

const MAX_LISTED = 100;

export interface Finished {
  readonly dag: CompiledDag | null;
  readonly problems: readonly CompileProblem[];
}

export async function attachFiles({ wanted, ...dag }: DraftDag, file: SourceFile): Promise<Finished> {
  const folder = dirname(file.path);
  const problems: CompileProblem[] = [];
  const fault = (no: number | null, message: string, remedy: string): void => {
    problems.push({ file: file.shown, ...wanted.spotOf(no), message, remedy });
  };
  const found = new Set<string>();
  const listed = listOf(wanted.listed);
  if (listed === null)
    fault(null, `files must be a list of at most ${MAX_LISTED} paths`, 'Write it as files: [load.sh, sql/].');
  for (const [no, pattern] of (listed ?? []).entries()) {
    try {
      for (const path of await findListed(folder, pattern)) found.add(path);
    } catch (error) {
      if (!(error instanceof FileFault)) throw error;
      fault(no, `files[${no}] ${error.message}`, error.remedy);
    }
  }
  for (const path of await namedIn(dag.definition, folder)) found.add(path);
  if (problems.length === 0 && found.size > 0) {
    const read = await readAll(folder, [...found].sort());
    if ('message' in read) fault(null, read.message, read.remedy);
    else {
      const archive = packFiles(read.files);
      const hash = createHash('sha256').update(archive).digest('hex');
      const files = { hash, archive, paths: read.files.map(({ path }) => path) };
      return { dag: { ...dag, definition: { ...dag.definition, files: hash }, files }, problems };
    }
  }
  return { dag: problems.length === 0 ? { ...dag, files: null } : null, problems };
}

function listOf(listed: unknown): readonly string[] | null {
  if (listed === undefined || listed === null) return [];
  if (!Array.isArray(listed) || listed.length > MAX_LISTED) return null;
  return listed.every((each) => typeof each === 'string') ? listed : null;
}

/**
 * Words of command lines that are the path of a file beside the dag. A task with a working folder of its own does not
 * look for its files here. Files whose path has a part that begins with a dot must be listed.
 */
async function namedIn(definition: CompiledDag['definition'], folder: string): Promise<string[]> {
  const root = await realpath(folder);
  const named: string[] = [];
  const words = new Set<string>();
  for (const work of worksIn(definition) as { readonly run?: unknown; readonly cwd?: unknown }[]) {
    if (work.cwd === undefined) for (const word of wordsOfRun(work.run)) words.add(word);
  }
  for (const word of words) {
    const real = await realpath(join(folder, word)).catch(() => null);
    if (real === null || !real.startsWith(root + sep) || real.slice(root.length).includes(`${sep}.`)) continue;
    if ((await stat(real)).isFile()) named.push(word);
  }
  return named;
}

type Read = { readonly files: ArchivedFile[] } | { readonly message: string; readonly remedy: string };

async function readAll(folder: string, paths: readonly string[]): Promise<Read> {
  if (paths.length > MAX_FILES) {
    const message = `files has ${paths.length} files; the limit is ${MAX_FILES}`;
    return { message, remedy: 'List only what the processes need.' };
  }
  const sizes = await Promise.all(paths.map(async (path) => ({ path, size: (await stat(join(folder, path))).size })));
  const total = sizes.reduce((sum, { size }) => sum + size, 0);
  if (total > MAX_FILES_BYTES) {
    const largest = sizes.sort((a, b) => b.size - a.size).slice(0, 3);
    const shown = largest.map(({ path, size }) => `${path} (${size} bytes)`).join(', ');
    const message = `files has ${total} bytes; the limit is ${MAX_FILES_BYTES}. The largest: ${shown}`;
    return { message, remedy: 'Keep data in a store that workers can reach, and list only code and small files.' };
  }
  const files = paths.map(async (path): Promise<ArchivedFile> => {
    const at = join(folder, path);
    return { path, isExecutable: ((await stat(at)).mode & 0o111) !== 0, content: await readFile(at) };
  });
  return { files: await Promise.all(files) };
}
