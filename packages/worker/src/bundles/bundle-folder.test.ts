import { chmodSync, chownSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { testFolder } from '../test-rig.ts';
import { BundleFolder, hashOf } from './bundle-folder.ts';

const CODE = Buffer.from('export const functions = {};');

/** A cache in which a bundle lies already. */
function filledCache(): string {
  const cache = join(testFolder(), 'cache');
  mkdirSync(join(cache, hashOf(CODE)), { recursive: true });
  writeFileSync(join(cache, hashOf(CODE), 'bundle.mjs'), CODE);
  return cache;
}

test('a cache that others may write to is closed to them before anything of it is believed', async () => {
  const cache = filledCache();
  chmodSync(cache, 0o777);
  expect(await new BundleFolder(cache).find(hashOf(CODE))).toMatchObject({ hash: hashOf(CODE) });
  expect(statSync(cache).mode & 0o777).toBe(0o700);
});

test.runIf(process.getuid?.() === 0)('nothing of a cache that belongs to somebody else is run', async () => {
  const cache = filledCache();
  chownSync(cache, 12_345, 12_345);
  await expect(new BundleFolder(cache).find(hashOf(CODE))).rejects.toThrow('belongs to another user');
});
