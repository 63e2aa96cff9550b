/** The same hostile definitions as files, and files that only a file can be: each refused with its line, none a hang. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type CompileProblem, compileFile } from '@signalbox/compiler';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { HOSTILE_DEFINITIONS, HUGE_DEFINITIONS } from './definitions.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'signalbox-hostile-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function problemsOf(text: string, name = 'dag.yaml'): Promise<readonly CompileProblem[]> {
  const path = join(folder, name);
  await writeFile(path, text);
  const { dags, problems } = await compileFile({ folder, file: path });
  expect(dags).toEqual([]);
  return problems;
}

/** A schedule's own grammar is the server's to judge. */
const written = [...HOSTILE_DEFINITIONS, ...HUGE_DEFINITIONS].filter(({ place }) => place !== 'schedule');

describe('definitions', () => {
  // JSON is YAML: what the wire was given can stand in a file as it is.
  test.each(written.map((row) => [row.name, row] as const))('%s is refused with its line (I38)', async (_, row) => {
    const problems = await problemsOf(JSON.stringify(row.definition, null, 2));
    expect(problems.length).toBeGreaterThan(0);
    expect(problems[0]).toMatchObject({ file: expect.stringContaining('dag.yaml'), line: expect.any(Number) });
  });
});

const laughs = (depth: number) =>
  ['a0: &a0 [x, x, x, x, x, x, x, x, x, x]']
    .concat(
      Array.from({ length: depth }, (_, i) => `a${i + 1}: &a${i + 1} [${new Array(10).fill(`*a${i}`).join(', ')}]`),
    )
    .concat('name: hostile', 'tasks: []')
    .join('\n');

describe('files', () => {
  test.each([
    ['a billion laughs', laughs(9)],
    ['an alias of itself', 'name: hostile\ntasks: &a [*a]'],
    ['10,000 levels', `name: hostile\ntasks: ${'['.repeat(10_000)}${']'.repeat(10_000)}`],
    ['a key twice', 'name: hostile\nname: other\ntasks: [{ name: a, run: x }]'],
    ['a tag that makes an object', 'name: hostile\ntasks: !!js/function "function(){}"'],
    ['two documents', 'name: hostile\ntasks: [{ name: a, run: x }]\n---\nname: other\ntasks: []'],
    ['a tab', 'name: hostile\ntasks:\n\t- name: a'],
    ['zeros', 'name: hostile\0\ntasks: [{ name: a, run: x }]'],
    ['nothing but a key that is an object', '? { a: b }\n: c\ntasks: []'],
    ['a call beyond the folder', 'name: hostile\ntasks: [{ name: a, call: ../../../etc/passwd#x }]'],
    ['a call to an absolute path', 'name: hostile\ntasks: [{ name: a, call: /etc/passwd#x }]'],
    ['a call to nothing', 'name: hostile\ntasks: [{ name: a, call: ./missing.ts#x }]'],
    ['11 MiB', `name: hostile\ntasks: [{ name: a, run: "${'x'.repeat(11 * 1024 * 1024)}" }]`],
  ])('%s is refused, and says why', async (_, text) => {
    const [problem] = await problemsOf(text);
    expect(problem?.message).toMatch(/\S/);
  });

  test.each([
    ['code that never ends', 'while (true) {}', /did not load within/],
    ['code that ends the process', 'process.exit(0)', /ended|exit/],
    ['code that does not parse', 'export default dag(', /./],
    ['code that throws', 'throw new Error("no")', /no/],
    ['code that eats memory', 'const all = []; for (;;) all.push(new Array(1e6).fill(1));', /./],
  ])('%s is refused, and the compiler lives', async (_, text, says) => {
    const path = join(folder, 'hostile.ts');
    await writeFile(
      path,
      `import { dag } from '@signalbox/sdk';\n${text}\nexport default dag('d', ({ task }) => void task('t', () => 1));\n`,
    );
    const { dags, problems } = await compileFile({ folder, file: path, timeLimitMs: 3_000 });
    expect(dags).toEqual([]);
    expect(problems[0]?.message).toMatch(says);
  });
});
