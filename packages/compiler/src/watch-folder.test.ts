import { chmod, mkdir, rename, rm, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { makeFolder, writeInto } from './folder.testing.ts';
import { type WatchTiming, watchFolder } from './watch-folder.ts';

/** Counts the calls; `next` resolves with the one after those that were seen. */
async function startWatch(folder: string, timing: WatchTiming) {
  let calls = 0;
  let wake: () => void = () => {};
  const watching = watchFolder(
    folder,
    () => {
      calls += 1;
      wake();
    },
    timing,
  );
  onTestFinished(() => watching.close());
  let seen = 0;
  const next = async (): Promise<void> => {
    if (calls === seen) await new Promise<void>((resolve) => (wake = resolve));
    seen = calls;
  };
  await watching.isReady;
  return { next, calls: () => calls - seen, watching };
}

test.each<[string, WatchTiming]>([
  ['watched', { debounceMs: 20 }],
  ['polled', { alwaysPoll: true, pollMs: 20 }],
])('when %s, whatever happens to a file is told', async (_, timing) => {
  const folder = await makeFolder({ 'a.ts': '1', 'sub/b.ts': '1' });
  const { next } = await startWatch(folder, timing);
  await writeFile(join(folder, 'a.ts'), '22');
  await next();
  await writeFile(join(folder, '.a.ts.tmp'), '333');
  await rename(join(folder, '.a.ts.tmp'), join(folder, 'a.ts')); // as editors do
  await next();
  await writeInto(folder, 'sub/b.ts', '22');
  await next();
  await writeInto(folder, 'new/deep/c.yaml', '1');
  await next();
  await chmod(join(folder, 'a.ts'), 0o755); // a script that may be executed now
  await next();
  await writeInto(folder, 'new/deep/c.yaml', '22');
  await next();
  await rm(join(folder, 'new'), { recursive: true });
  await next();
});

test('what is not a file of the author is not told', async () => {
  const folder = await makeFolder({ 'a.ts': '1', 'node_modules/x/index.js': '1', '.git/HEAD': '1' });
  const { next, calls } = await startWatch(folder, { debounceMs: 20 });
  await writeInto(folder, 'node_modules/x/index.js', '22');
  await writeInto(folder, '.git/HEAD', '22');
  await writeInto(folder, '.a.ts.swp', '22');
  await mkdir(join(folder, 'empty'));
  // Longer than it would take to tell; what is not told can't be waited for.
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(calls()).toBe(0);
  await writeFile(join(folder, 'a.ts'), '22');
  await next();
});

test('a folder that comes later is found, and nothing is told after the end', async () => {
  const folder = join(await makeFolder(), 'later');
  let calls = 0;
  const watching = watchFolder(folder, () => (calls += 1), { debounceMs: 10, pollMs: 20 });
  await watching.isReady;
  await writeInto(folder, 'a.ts', '1');
  await expect.poll(() => calls, { timeout: 20_000 }).toBeGreaterThan(0);
  await watching.close();
  const before = calls;
  await utimes(join(folder, 'a.ts'), 1, 1);
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(calls).toBe(before);
});
