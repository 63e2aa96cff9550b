// Adds the entries of other platforms to the lockfile: a registry that serves only one platform makes npm leave them out,
// and `npm ci` then finds the lockfile out of step. Run after `npm install`.
import fs from 'node:fs';

const lock = JSON.parse(fs.readFileSync('package-lock.json', 'utf8'));
const P = lock.packages;
const added = [];
for (const [path, pkg] of Object.entries(P)) {
  for (const [name, range] of Object.entries(pkg.optionalDependencies ?? {})) {
    if (P[`${path}/node_modules/${name}`] || P[`node_modules/${name}`]) continue;
    const n = name;
    const os = /darwin/.test(n)
      ? 'darwin'
      : /win32|windows/.test(n)
        ? 'win32'
        : /android/.test(n)
          ? 'android'
          : /freebsd/.test(n)
            ? 'freebsd'
            : /openharmony/.test(n)
              ? 'openharmony'
              : /netbsd/.test(n)
                ? 'netbsd'
                : /openbsd/.test(n)
                  ? 'openbsd'
                  : /sunos/.test(n)
                    ? 'sunos'
                    : /aix/.test(n)
                      ? 'aix'
                      : /wasm/.test(n)
                        ? 'none'
                        : 'linux';
    const cpu = /wasm32|wasi/.test(n)
      ? 'wasm32'
      : /arm64|aarch64/.test(n)
        ? 'arm64'
        : /x64|x86_64/.test(n)
          ? 'x64'
          : /ia32|i686/.test(n)
            ? 'ia32'
            : /riscv64/.test(n)
              ? 'riscv64'
              : /s390x/.test(n)
                ? 's390x'
                : /ppc64/.test(n)
                  ? 'ppc64'
                  : /loong64/.test(n)
                    ? 'loong64'
                    : /mips64el/.test(n)
                      ? 'mips64el'
                      : /arm/.test(n)
                        ? 'arm'
                        : 'none';
    const version = String(range).replace(/^[\^~>=]*/, '');
    const e = { version, cpu: [cpu], ...(pkg.dev || path === '' ? { dev: true } : {}), optional: true, os: [os] };
    if (/musl/.test(n)) e.libc = ['musl'];
    else if (/gnu/.test(n)) e.libc = ['glibc'];
    P[`node_modules/${name}`] = e;
    added.push(`${name}@${version} ${os} ${cpu}`);
  }
}
const sorted = Object.fromEntries(Object.entries(P).sort(([a], [b]) => (a < b ? -1 : 1)));
lock.packages = sorted;
fs.writeFileSync('package-lock.json', JSON.stringify(lock, null, 2) + '\n');
console.log(added.join('\n'));
