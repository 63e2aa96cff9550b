// `npm run pack [-- folder]`: one tarball for each package that users install, in `tarballs/` unless told otherwise.
//
// Into a tarball goes what is reached from the entries of its package: so no tests, nothing that only tests use, and no
// left-overs of files that were renamed. Source maps stay out, because their sources do. package.json loses the parts that
// only this repository needs. An import that would not be found where the package is installed stops the packing.
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** Entries for the tests of this repository. `testing` of engine and sdk is for users, who test their dags with it. */
const FOR_OUR_TESTS = [
  '@signalbox/cli/testing',
  '@signalbox/postgres/testing',
  '@signalbox/server/testing',
  '@signalbox/store/conformance',
];
/** Folders of a tarball that come from the root of the repository. */
const FROM_ROOT = ['examples'];
const ONLY_HERE = ['private', 'scripts', 'devDependencies', 'files'];

const read = (path) => readFileSync(path, 'utf8');
const packageOf = (path) =>
  path
    .split('/')
    .slice(0, path.startsWith('@') ? 2 : 1)
    .join('/');

/** All packages have the version of the root, and depend on each other in exactly that. */
function packagesToPack() {
  const { version } = JSON.parse(read(join(ROOT, 'package.json')));
  const all = readdirSync(join(ROOT, 'packages')).map((name) => {
    const folder = join(ROOT, 'packages', name);
    return { folder, manifest: JSON.parse(read(join(folder, 'package.json'))) };
  });
  for (const { folder, manifest } of all) {
    const ours = Object.entries(manifest.dependencies ?? {}).filter(([name]) => name.startsWith('@signalbox/'));
    const other = [[manifest.name, manifest.version], ...ours].find(([, found]) => found !== version);
    if (other !== undefined) {
      const where = relative(ROOT, join(folder, 'package.json'));
      throw new Error(
        `${where} has ${other.join(' ')}; the version of the root is ${version}. Run: node scripts/set-version.mjs ${version}`,
      );
    }
  }
  return all.filter(({ manifest }) => manifest.private !== true);
}

/** For users: without the sources, and without the entries for our tests. */
function exportsOf({ name, exports }) {
  const open = Object.entries(exports).filter(([path]) => !FOR_OUR_TESTS.includes(join(name, path)));
  return Object.fromEntries(
    open.map(([path, entry]) => {
      if (typeof entry === 'string') return [path, entry];
      const { source: _, ...rest } = entry;
      return [path, rest];
    }),
  );
}

/** Imports as the compiler writes them: at the beginning of a line, or `import('…')`. And files that are run by their path. */
const IMPORTS = [
  /^(?:(?:import|export|\})[^'\n]*\bfrom |import )'([^'\n]+)'/gm,
  /\bimport\('([^'\n]+)'\)/g,
  /new URL\('([^'\n]+\.js)', import\.meta\.url\)/g,
];
const importsOf = (text) => IMPORTS.flatMap((form) => Array.from(text.matchAll(form), ([, target]) => target));

/** The files of the build that are reached from the entries, by their path in the package. */
function reachedFrom(entries, folder, { name, dependencies = {}, peerDependencies = {} }) {
  // Optional engines are peers: users install them beside it, and only who uses one loads it.
  const known = { ...dependencies, ...peerDependencies };
  const reached = new Set();
  const missing = [];
  const open = [...entries];
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    if (reached.has(file)) continue;
    reached.add(file);
    const isType = file.endsWith('.d.ts');
    if (file.endsWith('.js') && file.startsWith('dist/')) open.push(file.replace(/\.js$/, '.d.ts'));
    for (const target of importsOf(read(join(folder, file)))) {
      if (target.includes('${')) continue; // in a text that the program writes somewhere
      if (!target.startsWith('.')) {
        const isThere = isBuiltin(target) || packageOf(target) === name || packageOf(target) in known;
        // Types of other packages, such as @types/pg, are looked at in this repository only.
        if (!isThere && !isType) missing.push(`${file} imports ${target}`);
        continue;
      }
      const path = join(dirname(file), isType ? target.replace(/\.ts$/, '.d.ts') : target);
      if (existsSync(join(folder, path))) open.push(path);
      else missing.push(`${file} imports ${target}`);
    }
  }
  if (missing.length > 0) throw new Error(`${name} would not work where it is installed:\n${missing.join('\n')}`);
  return [...reached].filter((file) => file.startsWith('dist/'));
}

function stage({ folder, manifest }, to) {
  const exports = exportsOf(manifest);
  const programs = manifest.files.includes('bin') ? readdirSync(join(folder, 'bin')).map((file) => `bin/${file}`) : [];
  const modules = Object.values(exports).flatMap((entry) =>
    typeof entry === 'string' ? [] : [entry.default.slice(2)],
  );
  const entries = [...modules, ...programs];
  for (const file of reachedFrom(entries, folder, manifest)) {
    mkdirSync(dirname(join(to, file)), { recursive: true });
    writeFileSync(join(to, file), read(join(folder, file)).replace(/\n\/\/# sourceMappingURL=\S+\s*$/, '\n'));
  }
  for (const entry of manifest.files.filter((each) => each !== 'dist')) {
    const from = FROM_ROOT.includes(entry) ? join(ROOT, entry) : join(folder, entry);
    if (!existsSync(from)) throw new Error(`${relative(ROOT, from)} is missing. Run: npm run build`);
    cpSync(from, join(to, entry), {
      recursive: true,
      filter: (path) => !/(^|[\\/])(__pycache__|\.[^\\/]*)$/.test(path),
    });
  }
  cpSync(join(folder, 'README.md'), join(to, 'README.md'));
  cpSync(join(ROOT, 'LICENSE'), join(to, 'LICENSE'));
  const kept = Object.entries(manifest).filter(([key]) => !ONLY_HERE.includes(key));
  writeFileSync(join(to, 'package.json'), `${JSON.stringify({ ...Object.fromEntries(kept), exports }, null, 2)}\n`);
}

const to = resolve(process.argv[2] ?? join(ROOT, 'tarballs'));
mkdirSync(to, { recursive: true });
const work = mkdtempSync(join(tmpdir(), 'signalbox-pack-'));
try {
  const packages = packagesToPack();
  const staged = packages.map(({ folder, manifest }) => {
    const place = join(work, relative(join(ROOT, 'packages'), folder));
    mkdirSync(place);
    stage({ folder, manifest }, place);
    return place;
  });
  const options = ['--pack-destination', to, '--json', '--ignore-scripts', '--loglevel=error'];
  const packed = JSON.parse(execFileSync('npm', ['pack', ...staged, ...options], { encoding: 'utf8' }));
  for (const { filename, files, size } of packed) {
    console.log(`${join(to, filename)}  ${files.length} files, ${Math.ceil(size / 1024)} KiB`);
  }
} finally {
  rmSync(work, { recursive: true, force: true });
}
