import { expect, test } from 'vitest';
import { importAll } from './import-all.ts';

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
  );
  expect(requests.sort((a, b) => b - a)).toEqual([5_000, 5_000, 2_001]);
  expect(most).toBe(2);
  expect(imported).toEqual({ created: 12_000, refused: 1, errors: [{ line: 7_001, lines: 1, error }] });
});

test('a request that fails ends it; nothing more is sent', async () => {
  let sent = 0;
  const items = Array.from({ length: 50_000 }, (_, no) => no);
  const failed = importAll(items, () => {
    sent += 1;
    return Promise.reject(new Error('no answer'));
  });
  await expect(failed).rejects.toThrow('no answer');
  expect(sent).toBeLessThanOrEqual(2);
});

test('lines that a busy server did not get to are sent again, some times', async () => {
  const busy = (retryable: boolean) => ({ line: 1, lines: 1, error: { code: 'OVERLOADED', retryable } as never });
  const answers = [[busy(true)], [busy(true), busy(false)], [busy(false)]];
  let sent = 0;
  const imported = await importAll([1], async () => {
    const errors = answers[sent++] ?? [];
    return { created: 1 - errors.length, refused: errors.length, errors };
  });
  expect([sent, imported.errors]).toEqual([3, [busy(false)]]);
  sent = 0;
  await importAll([1], async () => {
    sent += 1;
    return { created: 0, refused: 1, errors: [busy(true)] };
  });
  expect(sent).toBe(5);
});
