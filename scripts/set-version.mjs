// `node scripts/set-version.mjs 0.2.0`: the version of the root is that of every package, and of what they depend on of ours.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const [version] = process.argv.slice(2);
if (!/^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/.test(version ?? '')) {
  console.error('Give the new version, such as: node scripts/set-version.mjs 0.2.0');
  process.exit(2);
}

function update(path, change) {
  const manifest = JSON.parse(readFileSync(path, 'utf8'));
  change(manifest);
  writeFileSync(path, `${JSON.stringify(manifest, null, 2)}\n`);
}

function setVersion(manifest) {
  manifest.version = version;
  for (const field of ['dependencies', 'devDependencies']) {
    for (const name of Object.keys(manifest[field] ?? {})) {
      if (name.startsWith('@signalbox/')) manifest[field][name] = version;
    }
  }
}

const workspaces = [...readdirSync(`${ROOT}/packages`).map((name) => `packages/${name}`), 'e2e', 'bench'];
for (const folder of ['.', ...workspaces]) update(`${ROOT}/${folder}/package.json`, setVersion);
update(`${ROOT}/package-lock.json`, (lock) => {
  lock.version = version;
  for (const folder of ['', ...workspaces]) if (lock.packages[folder] !== undefined) setVersion(lock.packages[folder]);
});
