/**
 * Builds the web UI into `dist/site`, compressed copies included. Does nothing when no input has changed since the last build, so
 * that it can run before every start.
 */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { licencesOf } from './licences.mjs';

const root = fileURLToPath(new URL('.', import.meta.url));
const site = join(root, 'dist', 'site');
const stamp = join(site, '.inputs');
const COMPRESSED = new Set(['.html', '.js', '.css', '.svg']);

const filesIn = (folder) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();

/** Sources, and the versions of what they are built with. */
function hashOfInputs() {
  const hash = createHash('sha256');
  const own = ['index.html', 'package.json', 'licences.mjs'].map((name) => join(root, name));
  const inputs = [...filesIn(join(root, 'src')), ...own];
  for (const path of [...inputs, fileURLToPath(import.meta.url)]) {
    if (path.endsWith('.test.ts')) continue;
    hash.update(path.slice(root.length)).update('\0').update(readFileSync(path)).update('\0');
  }
  return hash.digest('hex');
}

/** Names a chunk for modules that the first page needs, and for others none. */
function ofFirstPage(name, isWanted) {
  let reached = null;
  return (id, graph) => {
    reached ??= reachOf(graph);
    return reached.has(id) && isWanted(id) ? name : null;
  };
}

/** All that the entry imports, and not what it loads later. */
function reachOf(graph) {
  const found = new Set();
  const walk = [join(root, 'index.html')];
  for (let id = walk.pop(); id !== undefined; id = walk.pop()) {
    if (found.has(id)) continue;
    found.add(id);
    walk.push(...(graph.getModuleInfo(id)?.importedIds ?? []));
  }
  return found;
}

const isLibrary = (id) => id.includes('/node_modules/');

/**
 * The first page loads two scripts, beside a few lines of the bundler: libraries, which browsers keep when only the pages change, and the
 * rest. What many other pages share is one more, so that a page is two requests and not ten small ones.
 */
const CHUNKS = [
  { debugName: 'libraries', name: ofFirstPage('libraries', isLibrary), priority: 3 },
  { debugName: 'first page', name: ofFirstPage('index', (id) => !isLibrary(id)), priority: 2 },
  { name: 'shared', minShareCount: 4, priority: 1 },
];

function compressAll() {
  for (const path of filesIn(site)) {
    if (!COMPRESSED.has(extname(path))) continue;
    const plain = readFileSync(path);
    const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: 10 } };
    writeFileSync(`${path}.br`, brotliCompressSync(plain, quality));
    writeFileSync(`${path}.gz`, gzipSync(plain, { level: 9 }));
  }
}

const inputs = hashOfInputs();
if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== inputs) {
  const { build, createLogger } = await import('vite');
  const quiet = createLogger('warn');
  const warn = quiet.warn.bind(quiet);
  // Libraries mark files for servers that render React, and there is none here; times depend on the machine.
  quiet.warn = (text, options) => /MODULE_LEVEL_DIRECTIVE|PLUGIN_TIMINGS/.test(text) || warn(text, options);
  await build({
    root,
    configFile: false,
    logLevel: 'warn',
    customLogger: quiet,
    // Tests and tools read sources by this condition; the site takes the few values that it needs from there too.
    resolve: { conditions: ['source', 'module', 'browser', 'production'] },
    plugins: [licencesOf],
    build: {
      outDir: 'dist/site',
      emptyOutDir: true,
      target: 'es2022',
      // A data: address would need a wider policy.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      rolldownOptions: { output: { codeSplitting: { groups: CHUNKS } } },
    },
  });
  compressAll();
  writeFileSync(stamp, inputs);
}
