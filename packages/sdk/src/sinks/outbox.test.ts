/** How it behaves against a real PostgreSQL, with kills between: `e2e/src/kills/effects.test.ts`. */
import { expect, test } from 'vitest';
import { AttemptStopped } from '../handler.ts';
import { createOutbox, type OutboxClient, once, withOutbox } from './outbox.ts';

const context = (more: object = {}) => ({
  effectKey: 'run/charge',
  fence: 3,
  assertOwned: async () => undefined,
  ...more,
});

/** Remembers what it was told, and knows one row. */
function fakeClient(row: { result: string | null } | null = null) {
  const said: string[] = [];
  const client: OutboxClient = {
    query: async (text, values) => {
      said.push(
        `${text.trim().split(/\s+/).slice(0, 3).join(' ')}${values === undefined ? '' : ` ${JSON.stringify(values)}`}`,
      );
      if (text.startsWith('insert')) return { rows: row === null ? [{ key: 'k' }] : [] };
      return { rows: text.startsWith('select') && row !== null ? [row] : [] };
    },
  };
  return { client, said };
}

test('the first time it is done, with its row in the same transaction', async () => {
  const { client, said } = fakeClient();
  expect(await withOutbox(context(), client, async () => ({ id: 7 }), { step: 'pay' })).toEqual({ id: 7 });
  expect(said).toEqual([
    'begin',
    'insert into signalbox_effect ["run/charge:pay",3]',
    'update signalbox_effect set ["run/charge:pay","{\\"id\\":7}"]',
    'commit',
  ]);
});

test('the second time nothing is done, and what was stored comes back', async () => {
  const { client, said } = fakeClient({ result: '{"id":7}' });
  const effect = () => Promise.reject(new Error('must not run'));
  expect(await withOutbox(context(), client, effect)).toEqual({ id: 7 });
  expect(said.at(-1)).toBe('commit');
  expect(await withOutbox(context(), fakeClient({ result: null }).client, effect)).toBeUndefined();
});

test('what it throws undoes all of it', async () => {
  const { client, said } = fakeClient();
  const failing = withOutbox(context(), client, async () => {
    throw new Error('no');
  });
  await expect(failing).rejects.toThrow('no');
  expect(said.at(-1)).toBe('rollback');
});

test('within your own transaction it neither begins nor ends one', async () => {
  const { client, said } = fakeClient();
  await once(context(), client, async () => undefined, { table: 'app.effects' });
  expect(said).toEqual(['insert into app.effects ["run/charge",3]', 'update app.effects set ["run/charge",null]']);
});

test.each(['x; drop table y', '', 'a.b.c', 'a"b'])('%j is no name of a table (I69)', async (table) => {
  await expect(createOutbox(fakeClient().client, { table })).rejects.toThrow('is not a valid table name');
});

test('a pool is refused, and so is who does not hold the task any more', async () => {
  const { client, said } = fakeClient();
  const pool = Object.assign(client, { totalCount: 1, idleCount: 0 });
  await expect(withOutbox(context(), pool, async () => 1)).rejects.toThrow('not a pool');
  const lost = context({ assertOwned: () => Promise.reject(new AttemptStopped('stale', 'gone')) });
  const other = fakeClient();
  await expect(withOutbox(lost, other.client, async () => 1, { assertOwned: true })).rejects.toMatchObject({
    reason: 'stale',
  });
  expect(said).toEqual([]);
  expect(other.said).toEqual(['begin', 'rollback']);
});
