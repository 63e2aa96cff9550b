import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { chooseAccount } from './account.ts';
import { startPostgres } from './start.ts';
import { ask } from './testing/ask.ts';
import { startTestPostgres } from './testing/index.ts';
import { ownFolder, throwAwayParent } from './testing/template.ts';
import { watch } from './testing/watchdog.ts';

// Each test file has a process of its own, so this one can give up being root for good. As a normal user it has nothing to give up.
if (process.getuid?.() === 0) {
  process.setgroups?.([]);
  process.setgid?.(65534);
  process.setuid?.('nobody');
}

test('a normal user gets a server of their own, below XDG_DATA_HOME', async () => {
  const account = chooseAccount({});
  expect(account).toEqual({ name: account.name, uid: process.getuid?.() });
  const home = await ownFolder(account, await throwAwayParent());
  const watchdog = await watch(join(home, 'signalbox', 'pg18'), [home]);
  process.env['XDG_DATA_HOME'] = home;
  try {
    const server = await startPostgres();
    expect(server.dataDir).toBe(join(home, 'signalbox', 'pg18'));
    expect(await ask(server.url, 'select 1 as one')).toEqual([{ one: 1 }]);
    expect(await startPostgres()).toMatchObject({ adopted: true });
    await server.stop();
    expect(existsSync(join(server.dataDir, 'postmaster.pid'))).toBe(false);
  } finally {
    await watchdog.release();
  }
});

test('a normal user cannot choose whom it runs as', async () => {
  await expect(startPostgres({ user: 'daemon' })).rejects.toThrow(/Only root.*Leave out the user/);
});

test('a normal user gets test servers too', async () => {
  const server = await startTestPostgres();
  expect(await ask(server.url, 'select 1 as one').finally(() => server.stop())).toEqual([{ one: 1 }]);
});
