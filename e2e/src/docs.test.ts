/**
 * The documents and the code agree: every cited number (D.., I..) is defined, every file and heading that a document names is
 * there, and each promise is held by files that cite it.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const SKIPPED = new Set(['node_modules', 'dist', '.git']);
const CITING = /\.(ts|tsx|mjs|js|sql|md|proto|yml|yaml)$/;
/** `I42`, `D5`; not a part of a longer word, such as a hash or `I18n`. */
const NUMBER = /(?<![\w-])[DI]\d{1,3}(?![\w-])/g;

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

function filesBelow(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    if (SKIPPED.has(entry.name)) return [];
    const path = join(folder, entry.name);
    return entry.isDirectory() ? filesBelow(path) : [path];
  });
}

const FILES = filesBelow('.');
const DOCUMENTS = FILES.filter((path) => path.endsWith('.md'));

const decisions = new Set(Array.from(read('docs/design.md').matchAll(/^### (D\d+):/gm), ([, no]) => no));
const promises = new Map(
  Array.from(
    read('docs/invariants.md').matchAll(/^\| \*\*(I\d+)\*\* \|.*\| (.*) \|$/gm),
    ([, no = '', heldBy = '']) => [no, heldBy],
  ),
);

test('decisions and promises have numbers without a gap', () => {
  expect([...decisions]).toEqual(Array.from({ length: decisions.size }, (_, at) => `D${at + 1}`));
  expect([...promises.keys()]).toEqual(Array.from({ length: promises.size }, (_, at) => `I${at + 1}`));
  expect(decisions.size).toBeGreaterThan(10);
  expect(promises.size).toBeGreaterThan(70);
});

test('every number that code, tests or documents cite is defined in docs/design.md or docs/invariants.md', () => {
  const unknown = FILES.filter((path) => CITING.test(path)).flatMap((path) =>
    [...new Set(read(path).match(NUMBER))]
      .filter((no) => !decisions.has(no) && !promises.has(no))
      .map((no) => `${path} cites ${no}, which is not defined`),
  );
  expect(unknown).toEqual([]);
});

/** As GitHub makes the anchor of a heading. */
function anchorOf(heading: string): string {
  return heading
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_ -]/gu, '')
    .replaceAll(' ', '-');
}

const withoutCode = (text: string): string => text.replace(/^```[\s\S]*?^```$/gm, '').replace(/`[^`\n]*`/g, '');

function brokenLinks(path: string): string[] {
  return Array.from(withoutCode(read(path)).matchAll(/\]\(([^)\s]+)\)/g)).flatMap(([, target = '']) => {
    if (/^[a-z]+:/.test(target)) return [];
    const [file = '', anchor] = target.split('#');
    const to = file === '' ? path : join(dirname(path), file);
    if (!existsSync(join(ROOT, to))) return [`${path} links to ${target}, which does not exist`];
    if (anchor === undefined || !to.endsWith('.md')) return [];
    const anchors = Array.from(read(to).matchAll(/^#+ (.*)$/gm), ([, heading = '']) => anchorOf(heading));
    return anchors.includes(anchor) ? [] : [`${path} links to ${target}: ${to} has no such heading`];
  });
}

test('every relative link in a document leads to a file, and its anchor to a heading', () => {
  expect(DOCUMENTS.length).toBeGreaterThan(50);
  expect(DOCUMENTS.flatMap(brokenLinks)).toEqual([]);
});

test('each promise names files that cite it, or says that nothing holds it yet', () => {
  const wrong = [...promises].flatMap(([no, heldBy]) => {
    if (heldBy === 'none yet') return [];
    const files = Array.from(heldBy.matchAll(/\]\(\.\.\/([^)]+)\)/g), ([, file = '']) => file);
    if (files.length === 0) return [`${no} names no file: say "none yet" if nothing holds it`];
    const cites = new RegExp(`\\b${no}\\b`);
    return files
      .filter((file) => existsSync(join(ROOT, file)) && !cites.test(read(file)))
      .map((file) => `${file} does not cite ${no}`);
  });
  expect(wrong).toEqual([]);
});

test('docs/invariants.md names each checker that can report a promise as broken', () => {
  const folder = 'packages/simulator/src/checkers';
  const missing = FILES.filter((path) => path.startsWith(folder) && !path.endsWith('.test.ts')).flatMap((path) => {
    const reported = new Set(Array.from(read(path).matchAll(/fail\(\s*'(I\d+)'/g), ([, no = '']) => no));
    return [...reported]
      .filter((no) => !promises.get(no)?.includes(path))
      .map((no) => `${path} reports ${no}; its row in docs/invariants.md does not name it`);
  });
  expect(missing).toEqual([]);
});

test('the walk names its files by path, and all of them exist', () => {
  const text = read('docs/guides/the-walk.md');
  const named = Array.from(text.matchAll(/`([\w./-]+\.(?:ts|sql))`/g), ([, path = '']) => path);
  expect(named.length).toBeGreaterThan(40);
  expect(named.filter((path) => !existsSync(join(ROOT, 'packages', path)))).toEqual([]);
});

test('files and folders that CONTRIBUTING and the design name exist', () => {
  const named = ['CONTRIBUTING.md', 'docs/design.md'].flatMap((document) =>
    Array.from(
      read(document).matchAll(/(?:packages|e2e|docs|bench|scripts)\/[\w./*-]*[\w*]/g),
      ([path]) => `${document} ${path}`,
    ),
  );
  expect(named.length).toBeGreaterThan(40);
  const isMissing = (path: string) => !path.includes('*') && !existsSync(join(ROOT, path));
  expect(named.filter((both) => isMissing(both.split(' ')[1]!))).toEqual([]);
});

test('the index of decisions lists every note', () => {
  const index = read('docs/decisions/README.md');
  const notes = FILES.filter((path) => /^docs\/decisions\/\d{4}-/.test(path)).map((path) =>
    path.slice('docs/decisions/'.length),
  );
  expect(notes.length).toBeGreaterThan(30);
  expect(notes.filter((note) => !index.includes(`](${note})`))).toEqual([]);
});
