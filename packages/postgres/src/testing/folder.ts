import { join } from 'node:path';
import { type Account, chooseAccount } from '../account.ts';
import { findBinaries } from '../binaries.ts';
import { ownFolder, throwAwayParent, unpackTemplate } from './template.ts';
import { watch } from './watchdog.ts';

/** A place for a server that a test starts itself. Whatever works in `dataDir` is ended and removed by `remove`, or with the process. */
export type TestFolder = { account: Account; folder: string; dataDir: string; remove(): Promise<void> };

export async function testFolder(): Promise<TestFolder> {
  const account = chooseAccount({});
  const folder = await ownFolder(account, await throwAwayParent());
  const dataDir = join(folder, 'data');
  const watchdog = await watch(dataDir, [folder]);
  return { account, folder, dataDir, remove: () => watchdog.release() };
}

/** With a fresh cluster in it, which takes less time than a first start. */
export async function filledTestFolder(): Promise<TestFolder> {
  const place = await testFolder();
  await unpackTemplate({ into: place.dataDir, account: place.account, binaries: await findBinaries(place.account) });
  return place;
}
