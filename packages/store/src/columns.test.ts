import { startTestPostgres, type TestPostgres } from '@signalbox/postgres/testing';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bigints, booleans, integers, smallints, uuids } from './columns.ts';

let server: TestPostgres;
let client: pg.Client;

beforeAll(async () => {
  server = await startTestPostgres();
  client = new pg.Client({ connectionString: server.url });
  await client.connect();
});
afterAll(async () => {
  await client.end();
  await server.stop();
});

const uuid = '0190a5f3-7b1c-7def-8a00-00ffee01badd';

test.each([
  [
    'bigint',
    bigints([0, 1, -1, null, 2 ** 32, -(2 ** 32) - 1, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER]),
    '{0,1,-1,NULL,4294967296,-4294967297,9007199254740991,-9007199254740991}',
  ],
  ['integer', integers([0, -5, null, 2_147_483_647, -2_147_483_648]), '{0,-5,NULL,2147483647,-2147483648}'],
  ['smallint', smallints([0, 63, null, -32_768]), '{0,63,NULL,-32768}'],
  ['boolean', booleans([true, false, null]), '{t,f,NULL}'],
  ['uuid', uuids([uuid, null, uuid.toUpperCase()]), `{${uuid},NULL,${uuid}}`],
] as const)('the server reads a column of %s as it was', async (type, bytes, text) => {
  const { rows } = await client.query(`select ($1::${type}[])::text as text`, [bytes]);
  expect(rows).toEqual([{ text }]);
});

test('a column without any value is null in each row that others have', async () => {
  expect(bigints([null, null])).toBeNull();
  const { rows } = await client.query('select unnest($1::integer[]) as a, unnest($2::bigint[]) as b', [
    integers([1, 2]),
    bigints([null, null]),
  ]);
  expect(rows).toEqual([
    { a: 1, b: null },
    { a: 2, b: null },
  ]);
});

test('a column of no rows is an empty array', async () => {
  const { rows } = await client.query('select cardinality($1::bigint[]) as count', [bigints([])]);
  expect(rows).toEqual([{ count: 0 }]);
});

test.each([
  ['a fraction', () => bigints([1.5])],
  ['no number', () => integers([Number.NaN])],
  ['more than an integer', () => integers([2 ** 31])],
  ['more than a small integer', () => smallints([40_000])],
  ['more than is exact', () => bigints([2 ** 53])],
  ['a UUID that is too short', () => uuids(['0190a5f3'])],
  ['a UUID with another letter', () => uuids([uuid.replace('f', 'g')])],
  ['a UUID with a letter beyond Latin', () => uuids([uuid.replace('f', 'Ā')])],
])('%s is refused', (_, make) => {
  expect(make).toThrow();
});
