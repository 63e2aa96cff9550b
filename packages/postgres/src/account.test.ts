import { statSync } from 'node:fs';
import { chown, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { chooseAccount } from './account.ts';
import { startPostgres } from './start.ts';
import { type TestFolder, testFolder } from './testing/folder.ts';

// What a normal user gets is in normal-user.test.ts.
describe.runIf(process.getuid?.() === 0)('as root', () => {
  let place: TestFolder;
  beforeEach(async () => {
    place = await testFolder();
  });
  afterEach(() => place.remove());

  test('the server runs as another account, and data keeps its owner whatever would be chosen now', async () => {
    const { dataDir, folder } = place;
    await chown(folder, 65534, -1);
    const first = await startPostgres({ dataDir, user: 'nobody' });
    expect(statSync(`/proc/${first.pid}`).uid).toBe(65534);
    await first.stop();
    expect(chooseAccount({ dataDir })).toMatchObject({ name: 'nobody', uid: 65534 });
    const second = await startPostgres({ dataDir });
    expect(statSync(`/proc/${second.pid}`).uid).toBe(65534);
    await expect(startPostgres({ dataDir, user: 'daemon' })).rejects.toThrow(/belongs to nobody.*chown -R daemon/);
    await second.stop();
  });

  test.each([
    ['root', /that is root/],
    ['no-such-account', /no such account/],
  ])('the account %s is refused', (user, message) => {
    expect(() => chooseAccount({ user })).toThrow(message);
  });

  test('data of root is refused, with the command that gives it to somebody', async () => {
    await mkdir(place.dataDir);
    await writeFile(join(place.dataDir, 'PG_VERSION'), '18\n');
    expect(() => chooseAccount({ dataDir: place.dataDir })).toThrow(/belongs to root.*chown -R/);
  });

  test('a folder that the account cannot reach is refused, with what is in the way', async () => {
    await chown(place.folder, 0, 0); // and it has mode 0700
    await expect(startPostgres({ dataDir: place.dataDir })).rejects.toThrow(/ermission denied.*must be able to enter/s);
  });
});
