/** A test of the types: what must compile does, and what must not is refused at the line that is wrong. */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const folder = fileURLToPath(new URL('../../type-tests/', import.meta.url));
const tsc = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc');

/** `wrong.ts:11 TS2322`, for each error that the compiler finds. */
function findErrors(): Promise<string[]> {
  return new Promise((resolve) => {
    const args = [tsc, '--project', folder, '--pretty', 'false'];
    execFile(process.execPath, args, { cwd: folder }, (_, stdout) => {
      const errors = stdout.matchAll(/^(\S+)\((\d+),\d+\): error (TS\d+)/gm);
      resolve(Array.from(errors, ([, file, line, code]) => `${file}:${line} ${code}`));
    });
  });
}

async function marked(file: string): Promise<string[]> {
  const lines = (await readFile(join(folder, file), 'utf8')).split('\n');
  return lines.flatMap((line, i) => {
    const code = / \/\/ (TS\d+)$/.exec(line)?.[1];
    return code === undefined ? [] : [`${file}:${i + 1} ${code}`];
  });
}

test('a wrong wire does not compile, at its own line; a right one does', async () => {
  const expected = await marked('wrong.ts');
  expect(expected.length).toBeGreaterThan(15);
  expect((await findErrors()).sort()).toEqual(expected.sort());
});
