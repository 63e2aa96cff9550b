import { chmod, chown, mkdir, mkdtemp, readdir, readlink, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { chooseAccount } from './account.ts';
import { findBinaries, postgresVersion } from './binaries.ts';

const isRoot = process.getuid?.() === 0;
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sb-bin-'));
  await chmod(folder, 0o755);
});
afterEach(() => rm(folder, { recursive: true }));

/** A package as it is published: without symbolic links. */
async function somePackage(): Promise<string> {
  const packageDir = join(folder, 'package');
  for (const name of ['bin', 'lib']) await mkdir(join(packageDir, 'native', name), { recursive: true });
  await writeFile(join(packageDir, 'package.json'), '{ "version": "18.0.0" }');
  await writeFile(join(packageDir, 'native/bin/postgres'), '#!/bin/sh\necho 18', { mode: 0o700 });
  await writeFile(join(packageDir, 'native/lib/libpq.so.5.18'), '', { mode: 0o600 });
  await writeFile(
    join(packageDir, 'native/pg-symlinks.json'),
    '[{ "source": "native/lib/libpq.so.5.18", "target": "native/lib/libpq.so.5" }]',
  );
  return packageDir;
}

test('links of shared libraries are made where no install script has run, and only once', async () => {
  const packageDir = await somePackage();
  const account = chooseAccount({});
  await chown(join(packageDir, 'native/bin/postgres'), account.uid, -1);
  const found = await Promise.all([1, 2, 3].map(() => findBinaries(account, { packageDir, home: folder })));
  expect(found[0]?.postgres).toBe(join(packageDir, 'native/bin/postgres'));
  expect(await readlink(join(packageDir, 'native/lib/libpq.so.5'))).toBe('libpq.so.5.18');
});

test.runIf(isRoot)('programs that the account cannot reach are copied once, readable for it', async () => {
  const packageDir = await somePackage();
  await chmod(packageDir, 0o700);
  const found = await Promise.all(
    [1, 2, 3].map(() => findBinaries(chooseAccount({}), { packageDir, home: join(folder, 'home') })),
  );
  const copy = join(folder, 'home/pgbin-18.0.0');
  expect(found.map(({ postgres }) => postgres)).toEqual(Array(3).fill(join(copy, 'native/bin/postgres')));
  expect(await readlink(join(copy, 'native/lib/libpq.so.5'))).toBe('libpq.so.5.18');
  expect(await readdir(join(folder, 'home'))).toEqual(['pgbin-18.0.0']);
});

test.runIf(isRoot)('programs that do not run even as a copy are reported with what they said', async () => {
  const packageDir = await somePackage();
  await writeFile(join(packageDir, 'native/bin/postgres'), '#!/bin/sh\necho no such library; exit 127');
  const found = findBinaries(chooseAccount({}), { packageDir, home: join(folder, 'home') });
  await expect(found).rejects.toThrow(/cannot be run as .*no such library.*DATABASE_URL/);
});

test.each([
  ['18.4.0-beta.17', '18.4'],
  ['18.0.0', '18.0'],
  ['17.10.2', '17.10'],
  ['next', 'next'],
])('the package %s has PostgreSQL %s', (packageVersion, expected) => {
  expect(postgresVersion(packageVersion)).toBe(expected);
});
