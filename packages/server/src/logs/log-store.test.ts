import { copyFile, mkdtemp, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LogLine } from '@signalbox/protocol/grpc';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { LogAttempt, LogLines } from './frame.ts';
import { LogStore, type LogStoreOptions } from './log-store.ts';

let folder: string;
const opened: LogStore[] = [];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'signalbox-logs-'));
});
afterEach(async () => {
  for (const store of opened.splice(0)) await store.close();
  await rm(folder, { recursive: true, force: true });
});

const NOW = 1_800_000_000_000;
const attempt = (runId: number, more: Partial<LogAttempt> = {}): LogAttempt => ({
  runId,
  taskNo: 0,
  attemptNo: 1,
  fence: 1,
  ...more,
});
const A = attempt(2 ** 52 + 1);
const text = (no: number) => `line ${no} ${'€'.repeat(no % 7)}`;
const line = (no: number): LogLine => ({ at: NOW + no, stream: no % 2 === 0 ? 'stdout' : 'stderr', text: text(no) });
const piece = (of: LogAttempt, firstLine: number, count: number): LogLines => ({
  attempt: of,
  firstLine,
  lines: Array.from({ length: count }, (_, i) => line(firstLine + i)),
});

async function openStore(options: Partial<LogStoreOptions> = {}): Promise<LogStore> {
  const store = await LogStore.open({
    folder,
    bytesLimit: 2 ** 30,
    retentionDays: 30,
    tell: () => {},
    now: () => NOW,
    ...options,
  });
  opened.push(store);
  return store;
}

const readAll = async (store: LogStore, of: LogAttempt, { from = 0, limit = 100 } = {}) => {
  const lines = [];
  for (let next = from; ; ) {
    const page = await store.read({ attempt: of, since: NOW, until: null, from: next, limit });
    lines.push(...page.lines);
    if (!page.hasMore) return lines;
    expect(page.lines.length).toBeGreaterThan(0);
    next = (page.lines.at(-1)?.no ?? 0) + 1;
  }
};
const numbers = async (store: LogStore, of: LogAttempt, options = {}) =>
  (await readAll(store, of, options)).map(({ no }) => no);
const upTo = (count: number, from = 0) => Array.from({ length: count }, (_, i) => from + i);
const segments = async () => (await readdir(folder)).filter((name) => name.endsWith('.log')).sort();

test('lines come back as they were, by attempt and number, page by page', async () => {
  const store = await openStore();
  const other = attempt(A.runId, { fence: 2 });
  for (let i = 0; i < 10; i++) await store.append([piece(A, i * 10, 10), piece(other, i, 1)]);
  const lines = await readAll(store, A, { limit: 7 });
  expect(lines).toEqual(upTo(100).map((no) => ({ no, ...line(no) })));
  expect(await numbers(store, A, { from: 95 })).toEqual(upTo(5, 95));
  expect(await numbers(store, other)).toEqual(upTo(10));
  expect(await numbers(store, attempt(7))).toEqual([]);
});

test('what was written is there after a close and after a crash, and again after the next', async () => {
  const first = await openStore();
  await first.append([piece(A, 0, 50)]);
  await first.close();
  const second = await openStore();
  await second.append([piece(A, 50, 50)]);
  // A crash: nothing is closed.
  const third = await openStore();
  await third.append([piece(A, 100, 50)]);
  expect(await numbers(third, A)).toEqual(upTo(150));
  expect((await readdir(folder)).filter((name) => name.endsWith('.idx'))).toHaveLength(2);
});

test('a last frame that was torn at any of its bytes is cut off, and nothing else', async () => {
  const store = await openStore();
  await store.append([piece(A, 0, 3)]);
  const [name = ''] = await segments();
  const whole = (await stat(join(folder, name))).size;
  await store.append([piece(A, 3, 2)]);
  const torn = await readFile(join(folder, name));
  for (let size = whole; size <= torn.length; size++) {
    const crashed = await mkdtemp(join(tmpdir(), 'signalbox-torn-'));
    await writeFile(join(crashed, name), torn.subarray(0, size));
    const again = await openStore({ folder: crashed });
    expect([size, await numbers(again, A)]).toEqual([size, upTo(size === torn.length ? 5 : 3)]);
    // What comes next is whole, too.
    await again.append([piece(A, 3, 4)]);
    expect(await numbers(again, A)).toEqual(upTo(7));
    await again.close();
    await rm(crashed, { recursive: true });
  }
});

test('a damaged frame ends what is recovered before it', async () => {
  const store = await openStore();
  await store.append([piece(A, 0, 3)]);
  const [name = ''] = await segments();
  const size = (await stat(join(folder, name))).size;
  await store.append([piece(A, 3, 3)]);
  const bytes = await readFile(join(folder, name));
  bytes[size + 60] = (bytes[size + 60] ?? 0) ^ 1;
  const crashed = await mkdtemp(join(tmpdir(), 'signalbox-torn-'));
  await writeFile(join(crashed, name), bytes);
  expect(await numbers(await openStore({ folder: crashed }), A)).toEqual(upTo(3));
  await rm(crashed, { recursive: true });
});

test.each([
  ['missing', (file: string) => rm(file)],
  ['torn', (file: string) => truncate(file, 100)],
  ['empty', (file: string) => truncate(file, 0)],
  [
    'half written under its first name',
    async (file: string) => {
      await copyFile(file, `${file}.new`);
      await rm(file);
    },
  ],
])('a closed segment whose index is %s gets it again', async (_, damage) => {
  const store = await openStore({ segmentBytes: 4_000 });
  for (let i = 0; i < 100; i++) await store.append([piece(A, i * 3, 3)]);
  await store.close();
  const names = await segments();
  expect(names.length).toBeGreaterThan(3);
  await damage(join(folder, (names[1] ?? '').replace('.log', '.idx')));
  const again = await openStore();
  expect(await numbers(again, A)).toEqual(upTo(300));
  expect((await readdir(folder)).filter((name) => name.endsWith('.new'))).toEqual([]);
});

test('an index that is damaged while the store runs is made again when it is asked for', async () => {
  const store = await openStore();
  await store.append([piece(A, 0, 300)]);
  await store.close();
  const [name = ''] = await segments();
  const index = join(folder, name.replace('.log', '.idx'));
  const again = await openStore();
  const bytes = await readFile(index);
  bytes[70] = (bytes[70] ?? 0) ^ 1;
  await writeFile(index, bytes);
  expect(await numbers(again, A)).toEqual(upTo(300));
});

test('lines that come twice, out of order, over two connections and a restart, are read once and in order', async () => {
  const store = await openStore();
  await store.append([piece(A, 5, 15)]);
  await store.append([piece(A, 0, 10)]);
  await Promise.all([store.append([piece(A, 30, 5)]), store.append([piece(A, 18, 14), piece(A, 18, 14)])]);
  const before = store.stats.bytes;
  await store.append([piece(A, 0, 35), piece(A, 7, 1)]);
  expect(store.stats.bytes).toBe(before);
  expect(await numbers(store, A, { limit: 4 })).toEqual(upTo(35));
  await store.close();
  // Nobody remembers what was stored: it is stored again, and still read once.
  const again = await openStore();
  await again.append([piece(A, 30, 10)]);
  await again.append([piece(A, 2, 3)]);
  await again.append([piece(A, 1, 39)]);
  for (const limit of [1, 3, 100]) expect(await numbers(again, A, { limit })).toEqual(upTo(40));
  expect((await readAll(again, A)).map(({ text: said }) => said)).toEqual(upTo(40).map(text));
});

test('a number that lacks is left out, not filled', async () => {
  const store = await openStore();
  await store.append([piece(A, 10, 5)]);
  await store.append([piece(A, 20, 5)]);
  expect(await numbers(store, A)).toEqual([...upTo(5, 10), ...upTo(5, 20)]);
});

test('segments roll by size, and the oldest go when all are too large', async () => {
  let now = NOW;
  const store = await openStore({ bytesLimit: 100_000, now: () => now++ });
  for (let i = 0; i < 3_000; i++) await store.append([piece(attempt(i + 1), 0, 3)]);
  const files = await readdir(folder);
  const sizes = await Promise.all(files.map(async (name) => (await stat(join(folder, name))).size));
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(100_000);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(25_000);
  expect(await numbers(store, attempt(3_000))).toEqual(upTo(3));
  expect(await numbers(store, attempt(1))).toEqual([]);
});

test('what is older than its days goes, the segment that grows included (I62)', async () => {
  let now = NOW - 40 * 86_400_000;
  const store = await openStore({ now: () => now });
  await store.append([piece(A, 0, 5)]);
  now = NOW - 20 * 86_400_000;
  await store.append([piece(A, 5, 5)]);
  expect(await store.dropExpired()).toBe(0);
  await store.append([piece(A, 10, 5)]);
  const all = { attempt: A, since: NOW - 60 * 86_400_000, until: null, from: 0, limit: 100 };
  expect((await store.read(all)).lines).toHaveLength(15);
  now = NOW + 15 * 86_400_000;
  expect(await store.dropExpired()).toBe(2);
  expect((await store.read(all)).lines).toEqual([]);
  expect(await segments()).toEqual([]);
});

test('a read looks only at segments of the time of its attempt', async () => {
  let now = NOW;
  const store = await openStore({ now: () => now, segmentBytes: 1_000 });
  await store.append([piece(A, 0, 20)]);
  now += 3 * 86_400_000;
  await store.append([piece(A, 20, 40)]);
  const read = (since: number, until: number | null) =>
    store.read({ attempt: A, since, until, from: 0, limit: 100 }).then(({ lines }) => lines.length);
  expect(await read(NOW, null)).toBe(60);
  expect(await read(NOW, NOW + 1)).toBe(20);
  expect(await read(now, now)).toBe(40);
});

test('who follows a run is told after its lines are stored, until it stops', async () => {
  const store = await openStore();
  const told: number[] = [];
  const stop = store.follow(A.runId, () => told.push(1));
  await store.append([piece(attempt(3), 0, 1)]);
  expect(told).toEqual([]);
  await store.append([piece(A, 0, 1)]);
  expect(told).toEqual([1]);
  stop();
  await store.append([piece(A, 1, 1)]);
  expect(told).toEqual([1]);
});

test('a disk that refuses is told to who appends, and lines that come again are stored', async () => {
  const store = await openStore({ segmentBytes: 2_000 });
  await store.append([piece(A, 0, 10)]);
  await rm(folder, { recursive: true });
  await expect(store.append([piece(A, 10, 500)])).rejects.toThrow('ENOENT');
  const { mkdir } = await import('node:fs/promises');
  await mkdir(folder);
  await store.append([piece(A, 10, 500)]);
  expect(await numbers(store, A, { from: 10 })).toEqual(upTo(500, 10));
});

test('after a close nothing is taken, and what was queued before is there', async () => {
  const store = await openStore();
  const appended = Promise.all(upTo(50).map((i) => store.append([piece(A, i, 1)])));
  await store.close();
  await appended;
  await expect(store.append([piece(A, 50, 1)])).rejects.toThrow('closed');
  expect(await numbers(await openStore(), A)).toEqual(upTo(50));
});

test('a million lines of many attempts go through in bounded memory, and each is found (I73)', async () => {
  const store = await openStore({ segmentBytes: 8 * 2 ** 20 });
  globalThis.gc?.();
  const before = process.memoryUsage().rss;
  let highest = 0;
  for (let round = 0; round < 100; round++) {
    await Promise.all(upTo(100).map((run) => store.append([piece(attempt(1_000 + run), round * 100, 100)])));
    highest = Math.max(highest, process.memoryUsage().rss - before);
  }
  expect(highest).toBeLessThan(300 * 2 ** 20);
  expect(store.stats.segments).toBeGreaterThan(2);
  for (const run of [0, 57, 99]) {
    const page = await store.read({ attempt: attempt(1_000 + run), since: NOW, until: null, from: 9_990, limit: 100 });
    expect(page.lines.map(({ no }) => no)).toEqual(upTo(10, 9_990));
  }
  await store.close();
  const again = await openStore();
  expect(await numbers(again, attempt(1_042), { limit: 1_000 })).toEqual(upTo(10_000));
}, 60_000);
