/**
 * A plugin of the build: writes `licences.txt` beside the site, with the licence of every library whose code or font is in it. Their
 * licences ask for that, and minified files have lost their comments. A library without a licence text stops the build.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const require = createRequire(import.meta.url);
const IN_PACKAGE = /^(.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+)[\\/]/;

/** The folder of the package that a file belongs to; null for our own. Vite adds a small helper of its own. */
function packageOf(id) {
  if (id.startsWith('\0vite/')) return dirname(require.resolve('vite/package.json'));
  return IN_PACKAGE.exec(id.replace(/^\0/, ''))?.[1] ?? null;
}

function licenceOf(folder) {
  const { name, version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const file = readdirSync(folder).find((entry) => /^(licen[cs]e|copying)/i.test(entry));
  if (file === undefined) throw new Error(`${name} is in the site, and its package has no licence text.`);
  const text = readFileSync(join(folder, file), 'utf8').replaceAll('\r\n', '\n').trim();
  return { name, text: `${name} ${version}\n\n${text}\n` };
}

export const licencesOf = {
  name: 'licences',
  generateBundle(_options, bundle) {
    const files = Object.values(bundle).flatMap((part) =>
      part.type === 'chunk'
        ? Object.keys(part.modules)
        : part.originalFileNames.map((name) => join(import.meta.dirname, name)),
    );
    const folders = new Set(files.map(packageOf).filter((folder) => folder !== null && existsSync(folder)));
    const licences = [...folders].map(licenceOf).sort((a, b) => (a.name < b.name ? -1 : 1));
    const source = licences.map(({ text }) => text).join(`\n${'-'.repeat(80)}\n\n`);
    this.emitFile({ type: 'asset', fileName: 'licences.txt', source });
  },
};
