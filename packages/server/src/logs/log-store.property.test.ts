/** Whatever comes, in whatever order, over restarts: each line is read once, in order, with the first text that was stored for it. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LogStore } from './log-store.ts';
import { PlaceColumns, SegmentIndex, writeIndex } from './segment-index.ts';

const piece = fc.record({
  run: fc.integer({ min: 1, max: 3 }),
  first: fc.integer({ min: 0, max: 60 }),
  count: fc.integer({ min: 1, max: 20 }),
});
const act = fc.oneof(
  { weight: 10, arbitrary: fc.array(piece, { minLength: 1, maxLength: 4 }) },
  { weight: 1, arbitrary: fc.constantFrom('close' as const, 'crash' as const) },
);

test('pieces that overlap, in any order, with closes and crashes between them', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(act, { maxLength: 25 }), fc.integer({ min: 1, max: 30 }), async (acts, limit) => {
      const folder = await mkdtemp(join(tmpdir(), 'signalbox-log-property-'));
      const options = { folder, bytesLimit: 2 ** 30, retentionDays: 30, tell: () => {}, segmentBytes: 700 };
      let store = await LogStore.open(options);
      const expected = new Map<number, Set<number>>();
      const opened = [store];
      try {
        for (const each of acts) {
          if (each === 'close') await store.close();
          if (typeof each === 'string') {
            store = await LogStore.open(options);
            opened.push(store);
            continue;
          }
          await store.append(
            each.map(({ run, first, count }) => ({
              attempt: { runId: run, taskNo: 0, attemptNo: 1, fence: 1 },
              firstLine: first,
              lines: Array.from({ length: count }, (_, i) => ({
                at: 1,
                stream: 'stdout',
                text: `${run}/${first + i}`,
              })),
            })),
          );
          for (const { run, first, count } of each) {
            const lines = expected.get(run) ?? new Set();
            expected.set(run, lines);
            for (let no = first; no < first + count; no++) lines.add(no);
          }
        }
        for (const [run, lines] of expected) {
          const read: string[] = [];
          for (let from = 0, hasMore = true; hasMore; ) {
            const attempt = { runId: run, taskNo: 0, attemptNo: 1, fence: 1 };
            const page = await store.read({ attempt, since: 0, until: null, from, limit });
            read.push(...page.lines.map(({ text }) => text));
            from = (page.lines.at(-1)?.no ?? from) + 1;
            hasMore = page.hasMore;
          }
          expect(read).toEqual([...lines].sort((a, b) => a - b).map((no) => `${run}/${no}`));
        }
      } finally {
        for (const one of opened) await one.close().catch(() => undefined);
        await rm(folder, { recursive: true, force: true });
      }
    }),
    { numRuns: 60 },
  );
});

test('places of a closed segment are found as those of an open one, and cover all lines up to where they say', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'signalbox-index-property-'));
  await fc.assert(
    fc.asyncProperty(
      fc.array(piece, { maxLength: 60 }),
      fc.integer({ min: 0, max: 90 }),
      fc.integer({ min: 1, max: 10 }),
      async (pieces, from, limit) => {
        const columns = new PlaceColumns();
        pieces.forEach(({ run, first, count }, offset) =>
          columns.add({
            attempt: { runId: run, taskNo: 0, attemptNo: 1, fence: 1 },
            firstLine: first,
            lineCount: count,
            offset,
            bytes: 1,
          }),
        );
        const file = join(folder, 'index');
        await writeIndex(file, columns, { createdAt: 1, lastAt: 2, bytes: 3 });
        const index = await SegmentIndex.load(file);
        const attempt = { runId: 2, taskNo: 0, attemptNo: 1, fence: 1 };
        const inside = pieces.filter(({ run }) => run === 2);
        for (const found of [columns.find(attempt, from, limit), index?.find(attempt, from, limit)]) {
          const covered = new Set<number>();
          for (const { firstLine, lineCount } of found?.places ?? []) {
            for (let no = firstLine; no < firstLine + lineCount; no++) covered.add(no);
          }
          const until = found?.completeUntil ?? Number.POSITIVE_INFINITY;
          for (const { first, count } of inside) {
            for (let no = first; no < first + count; no++) {
              if (no >= from && no < until) expect(covered.has(no)).toBe(true);
            }
          }
          // Who reads up to there comes on.
          expect(until).toBeGreaterThan(from);
        }
      },
    ),
    { numRuns: 400 },
  );
  await rm(folder, { recursive: true, force: true });
});
