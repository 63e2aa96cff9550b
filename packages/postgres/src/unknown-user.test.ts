import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { chooseAccount } from './account.ts';
import { startPostgres } from './start.ts';
import { ownFolder } from './testing/template.ts';

const isRoot = process.getuid?.() === 0;

test.runIf(isRoot)('a user without a name is told what initdb would not explain', async () => {
  // For good: each test file has a process of its own.
  process.setgroups?.([]);
  process.setgid?.(54321);
  process.setuid?.(54321);
  const folder = await ownFolder(chooseAccount({}));
  const refused = expect(startPostgres({ dataDir: join(folder, 'pg18') })).rejects;
  await refused.toThrow(/uid 54321, which has no name.*useradd --uid 54321/);
  await rm(folder, { recursive: true });
});
