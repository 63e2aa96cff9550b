/** Files in, dags and problems out: what `deploy` and `validate` have in common. */
import { stat } from 'node:fs/promises';
import type { Compiled, CompileProblem } from '@signalbox/compiler';
import { EXIT } from '../exit-codes.ts';
import { colours, plain, plainLines, print } from '../output.ts';
import { CliError } from '../problem.ts';
import { next } from '../program-name.ts';

const USUAL_FOLDER = 'dags';

/** Folders and files as they were given; `dags` when none was. */
export async function compilePaths(given: readonly string[]): Promise<Compiled> {
  const { compileFile, compileFolder } = await import('@signalbox/compiler');
  const paths = given.length === 0 ? [USUAL_FOLDER] : given;
  const compiled: Compiled = { dags: [], problems: [] };
  for (const path of paths) {
    const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
      throw notThere(path, error.code, given.length === 0);
    });
    const { dags, problems } = found.isDirectory()
      ? await compileFolder({ folder: path })
      : await compileFile({ file: path });
    compiled.dags.push(...dags);
    compiled.problems.push(...problems);
  }
  return compiled;
}

function notThere(path: string, code: string | undefined, isUsual: boolean): CliError {
  const why = code === 'ENOENT' ? 'does not exist' : `cannot be read (${code})`;
  const remedy = isUsual
    ? `Pass a folder or files, or write a first dag: ${next('init')}`
    : 'Pass the path of a folder of dags, or of a file.';
  return new CliError(`${plain(path)} ${why}.`, remedy, EXIT.usage);
}

/** `file:line:column`, as editors and CI know it. */
export function printProblems(problems: readonly CompileProblem[]): void {
  for (const { file, line, column, message, remedy } of problems) {
    const place = [file, ...(line === null ? [] : [line, ...(column === null ? [] : [column])])].join(':');
    print(`${colours.bold(plain(place))} ${colours.red(plainLines(message))}`);
    if (remedy !== null) print(`    ${plainLines(remedy)}`);
  }
}
