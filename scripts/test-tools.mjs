/**
 * What the tests need beyond npm packages, from Debian's packages where this machine has them and lets us: Chromium, for
 * what a web page may and may not do. Elsewhere the suite says what it skipped; in CI nothing may be skipped.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const isThere = () => process.env.SIGNALBOX_CHROMIUM !== undefined || CHROMIUM.some((path) => existsSync(path));
const isRoot = process.getuid?.() === 0;

if (isThere()) process.exit(0);
if (!isRoot || !existsSync('/usr/bin/apt-get')) {
  console.log(
    'Chromium is not here: the browser tests are skipped (apt-get install chromium, or set SIGNALBOX_CHROMIUM).',
  );
  process.exit(process.env.CI ? 1 : 0);
}
console.log('Installing Chromium for the browser tests …');
for (const args of [
  ['update', '-qq'],
  // Another installation may be under way on this machine: wait for it.
  ['install', '-y', '-qq', '--no-install-recommends', '-o', 'DPkg::Lock::Timeout=300', 'chromium'],
]) {
  const { status } = spawnSync('apt-get', args, {
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  if (status === 0) continue;
  console.error('Chromium could not be installed: the browser tests are skipped.');
  process.exit(process.env.CI ? 1 : 0);
}
