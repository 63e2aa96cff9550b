/** Compiles a folder of files into dags that can be deployed, and problems. A broken file never stops the others. */
import { availableParallelism } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { keptOr } from './cache.ts';
import {
  type Compiled,
  type CompiledDag,
  type CompileProblem,
  type FileResult,
  NOWHERE,
  type SourceFile,
} from './compiled.ts';
import { compileDefinition } from './definition/compile-definition.ts';
import { attachFiles } from './files/attach-files.ts';
import { findFiles, kindOf } from './find-files.ts';
import { compileModule } from './module/compile-module.ts';

const DEFAULT_TIME_LIMIT_MS = 10_000;

interface CompileOptions {
  /** How long one file may take to load; 10 s unless told. */
  readonly timeLimitMs?: number;
}

/** @example const { dags, problems } = await compileFolder({ folder: 'dags' }); */
export async function compileFolder({
  folder,
  timeLimitMs = DEFAULT_TIME_LIMIT_MS,
}: CompileOptions & { readonly folder: string }): Promise<Compiled> {
  const root = resolve(folder);
  const found = await findFiles(root);
  const files = found.files.map(
    (path): SourceFile => ({
      path: join(root, path),
      folder: root,
      shown: join(folder, path),
      isNamed: false,
      timeLimitMs,
    }),
  );
  const unread = found.unreadable.map(({ path, why }): Compiled => {
    const remedy = 'Check that it exists and is readable.';
    const problem = { file: join(folder, path), ...NOWHERE, message: `the folder can't be read: ${why}`, remedy };
    return { dags: [], problems: [problem] };
  });
  return joinResults([...unread, ...(await inParallel(files, compileAny))]);
}

/** One file, which must hold a dag. Its folder bounds what it may name, and is the one that it lies in unless told. */
export async function compileFile({
  file,
  folder = dirname(file),
  timeLimitMs = DEFAULT_TIME_LIMIT_MS,
}: CompileOptions & { readonly file: string; readonly folder?: string }): Promise<Compiled> {
  const path = resolve(file);
  return joinResults([await compileAny({ path, folder: resolve(folder), shown: file, isNamed: true, timeLimitMs })]);
}

/** Files are looked for each time, also where the rest is kept: one may have come that a pattern matches. */
async function compileAny(file: SourceFile): Promise<Compiled> {
  const { dags, problems } = await compileDraft(file);
  const finished = await Promise.all(dags.map((dag) => attachFiles(dag, file)));
  return {
    dags: finished.flatMap(({ dag }) => dag ?? []),
    problems: [...problems, ...finished.flatMap((each) => each.problems)],
  };
}

async function compileDraft(file: SourceFile): Promise<FileResult> {
  const kind = kindOf(file.path);
  try {
    if (kind === 'code') return await keptOr(file, () => compileModule(file));
    if (kind === 'definition') return await keptOr(file, () => compileDefinition(file));
    return failed(
      file,
      'the file is neither code nor YAML nor JSON',
      'Give a file that ends in .ts, .js, .yaml or .json.',
    );
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    return failed(file, `the file can't be read: ${message}`, 'Check that it exists and is readable.');
  }
}

const failed = ({ shown: file }: SourceFile, message: string, remedy: string): FileResult => ({
  dags: [],
  problems: [{ file, ...NOWHERE, message, remedy }],
  madeOf: null,
});

async function inParallel<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = new Array<R>(items.length);
  let next = 0;
  const lane = async (): Promise<void> => {
    for (let no = next++; no < items.length; no = next++) results[no] = await work(items[no] as T);
  };
  await Promise.all(Array.from({ length: Math.max(2, availableParallelism()) }, lane));
  return results;
}

/** A name that two files use is refused in both, so chance never decides which of them is deployed. */
function joinResults(results: readonly Compiled[]): Compiled {
  const byName = group(results);
  const problems = new Map<string, CompileProblem>();
  // Two dags that import one broken file have the same problem.
  for (const problem of results.flatMap((result) => result.problems)) problems.set(JSON.stringify(problem), problem);
  const dags: CompiledDag[] = [];
  for (const [name, same] of byName) {
    const [first] = same;
    if (first !== undefined && same.length === 1) dags.push(first);
    else {
      for (const { file } of same) {
        const others = same.filter((dag) => dag.file !== file).map((dag) => dag.file);
        const where = others.length === 0 ? 'twice in this file' : `in ${others.join(' and ')} too`;
        const problem = {
          file,
          ...NOWHERE,
          message: `dag ${name} is ${where}`,
          remedy: 'Give each dag a unique name.',
        };
        problems.set(JSON.stringify(problem), problem);
      }
    }
  }
  return { dags, problems: [...problems.values()] };
}

function group(results: readonly Compiled[]): Map<string, CompiledDag[]> {
  const byName = new Map<string, CompiledDag[]>();
  for (const dag of results.flatMap(({ dags }) => dags)) {
    byName.set(dag.name, [...(byName.get(dag.name) ?? []), dag]);
  }
  return byName;
}
