import { expect, test } from 'vitest';
import { createClient } from './client.ts';
import { importAll, keyOfPart } from './import-all.ts';

const wait = () => Promise.resolve();
const error = { code: 'SCHEDULE_INVALID' } as never;

test('thousands go in a request, two requests at a time, and what became of them is added up by the lines of all', async () => {
  const requests: number[] = [];
  let [underWay, most] = [0, 0];
  let isSecond = () => {};
  const second = new Promise<void>((resolve) => {
    isSecond = resolve;
  });
  const imported = await importAll(
    Array.from({ length: 12_001 }, (_, no) => ({ no })),
    async (lines) => {
      const sent = lines.split('\n').map((line) => JSON.parse(line) as { no: number });
      most = Math.max(most, (underWay += 1));
      if (underWay === 2) isSecond();
      await second;
      underWay -= 1;
      requests.push(sent.length);
      const at = sent.findIndex(({ no }) => no === 7_000);
      const errors = at < 0 ? [] : [{ line: at + 1, lines: 1, error }];
      return { created: sent.length - errors.length, refused: errors.length, errors };
    },
    wait,
  );
  expect(requests.sort((a, b) => b - a)).toEqual([5_000, 5_000, 2_001]);
  expect(most).toBe(2);
  expect(imported).toEqual({ created: 12_000, refused: 1, errors: [{ line: 7_001, lines: 1, error }] });
});

test('a request that fails ends it; nothing more is sent', async () => {
  let sent = 0;
  const items = Array.from({ length: 50_000 }, (_, no) => no);
  const failed = importAll(
    items,
    () => {
      sent += 1;
      return Promise.reject(new Error('no answer'));
    },
    wait,
  );
  await expect(failed).rejects.toThrow('no answer');
  expect(sent).toBeLessThanOrEqual(2);
});

test('lines that a busy server did not get to are sent again, some times, and not sooner than it asks for', async () => {
  const busy = (retryable: boolean, retryAfterMs?: number) => ({
    ...{ line: 1, lines: 1 },
    error: { code: 'OVERLOADED', retryable, retryAfterMs } as never,
  });
  const answers = [[busy(true, 1_000), busy(true, 3_000), busy(false, 9_000)], [busy(true)], [busy(false)]];
  const did: unknown[] = [];
  const waitFor = async (...asked: unknown[]) => void did.push(asked);
  let sent = 0;
  const imported = await importAll(
    [1],
    async () => {
      did.push('sent');
      const errors = answers[sent++] ?? [];
      return { created: 1 - errors.length, refused: errors.length, errors };
    },
    waitFor,
  );
  expect(did).toEqual(['sent', [3_000, 1], 'sent', [0, 2], 'sent']);
  expect(imported.errors).toEqual([busy(false)]);
  did.length = 0;
  await importAll(
    [1],
    async () => {
      sent += 1;
      return { created: 0, refused: 1, errors: [busy(true, 7)] };
    },
    waitFor,
  );
  expect(sent).toBe(3 + 5);
  expect(did).toEqual([1, 2, 3, 4].map((tries) => [7, tries]));
});

test('a request has at most 8 MiB, or one line', async () => {
  const long = (megabytes: number) => 'é'.repeat(megabytes * 500_000);
  const items = [...Array.from({ length: 10 }, () => long(1)), long(9), long(1)];
  const requests: [first: number, lines: number][] = [];
  await importAll(
    items,
    async (lines, first) => {
      const created = lines.split('\n').length;
      requests.push([first, created]);
      return { created, refused: 0, errors: [] };
    },
    wait,
  );
  expect(requests).toEqual([
    [1, 8],
    [9, 2],
    [11, 1],
    [12, 1],
  ]);
});

test('each request has a key of its own, which is valid whenever the key of all is', () => {
  expect(keyOfPart('night', 5_001)).toBe('night:5001');
  const long = 'k'.repeat(254);
  const keys = [keyOfPart(long, 1), keyOfPart(long, 5_001), keyOfPart(`${long}k`, 1), keyOfPart('k'.repeat(250), 1)];
  expect(new Set(keys).size).toBe(4);
  for (const key of keys) expect(key).toMatch(/^[!-~]{1,255}$/);
  expect(keyOfPart(long, 1)).toBe(keys[0]);
  // One that is too long stays so: the server says it.
  expect(keyOfPart('k'.repeat(256), 1).length).toBeGreaterThan(255);
});

test('the client sends jobs under such a key', async () => {
  const keys: (string | null)[] = [];
  const client = createClient({
    ...{ url: 'http://127.0.0.1:1', token: 'any' },
    fetch: async (_, init) => {
      keys.push(new Headers(init?.headers).get('idempotency-key'));
      return Response.json({ created: 1, refused: 0, errors: [] });
    },
  });
  const idempotencyKey = 'k'.repeat(254);
  await client.importJobs([{ run: 'true' }], { idempotencyKey });
  expect(keys).toEqual([keyOfPart(idempotencyKey, 1)]);
});
