import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDatabase, startTestPostgres, type TestPostgres } from '@signalbox/postgres/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkDatabase, judge } from './database.ts';
import { checkFolder, checkNode, checkPrograms, checkTokenFile } from './machine.ts';
import { judgeClocks, judgeVersions } from './server.ts';

let folder: string;
let postgres: TestPostgres;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'signalbox-doctor-'));
  postgres = await startTestPostgres();
});
afterAll(async () => {
  await postgres.stop();
  await rm(folder, { recursive: true, force: true });
});

test.each([
  ['20.19.0', 'ok'],
  ['22.1.0', 'ok'],
  ['20.18.9', 'fail'],
  ['18.20.0', 'fail'],
])('Node.js %s is %s', (version, status) => {
  expect(checkNode(version).status).toBe(status);
});

test('the programs that come along run here', async () => {
  expect(await checkPrograms(true)).toMatchObject({ status: 'ok' });
});

test.each([
  [0o600, 'ok'],
  [0o640, 'fail'],
  [0o604, 'fail'],
])('a token file of mode %o is %s', async (mode, status) => {
  const file = join(folder, 'admin.token');
  await writeFile(file, 'x');
  await chmod(file, mode);
  expect(await checkTokenFile(file)).toMatchObject({ status });
});

test('a data folder that is not there yet is well when it can be made', async () => {
  expect(await checkFolder(join(folder, 'a', 'b'))).toMatchObject({ status: 'ok' });
  const file = join(folder, 'file');
  await writeFile(file, '');
  expect(await checkFolder(file)).toMatchObject({ status: 'fail' });
});

test('a real database is looked at from all sides', async () => {
  const findings = await checkDatabase(await createDatabase(postgres), folder);
  const byCheck = Object.fromEntries(findings.map(({ check, status }) => [check, status]));
  // Test servers do not wait for the disk, and it is told.
  expect(byCheck).toEqual({
    database: 'ok',
    rights: 'ok',
    fsync: 'warn',
    connections: 'ok',
    clock: 'ok',
    migrations: 'ok',
  });
});

test('a database that is away is told with what to do', async () => {
  const [finding] = await checkDatabase('postgresql://nobody@127.0.0.1:2/none', folder);
  expect(finding).toMatchObject({ check: 'database', status: 'fail', remedy: expect.stringContaining('DATABASE_URL') });
});

const well = {
  version: '18.4',
  versionNumber: 180_004,
  fsync: true,
  synchronousCommit: 'on',
  isReadOnly: false,
  maxConnections: 100,
  connections: 5,
  clockAheadMs: 3,
  applied: ['0001_init.sql'],
  known: ['0001_init.sql'],
  mayCreate: true,
};

test.each([
  ['database', 'fail', { versionNumber: 130_000 }],
  ['rights', 'fail', { isReadOnly: true }],
  ['rights', 'fail', { mayCreate: false, applied: [] }],
  ['fsync', 'warn', { fsync: false }],
  ['fsync', 'warn', { synchronousCommit: 'off' }],
  ['connections', 'warn', { connections: 95 }],
  ['clock', 'warn', { clockAheadMs: -900 }],
  ['clock', 'fail', { clockAheadMs: 60_000 }],
  ['migrations', 'fail', { applied: ['0001_init.sql', '0099_later.sql'] }],
])('%s is a %s with %j', (check, status, seen) => {
  const findings = judge({ ...well, ...seen });
  expect(findings.filter((finding) => finding.status !== 'ok')).toMatchObject([{ check, status }]);
  expect(findings.find((finding) => finding.status !== 'ok')?.remedy).toBeTruthy();
});

test.each([
  ['none has measured yet', [[null, null]], []],
  [
    'all agree',
    [
      [12, null],
      [-400, null],
    ],
    ['ok'],
  ],
  [
    'one is a second behind',
    [
      [12, null],
      [-1_000, null],
    ],
    ['warn'],
  ],
  [
    'one is unfit',
    [
      [3_600_000, 'This clock is wrong.'],
      [700, null],
    ],
    ['fail', 'warn'],
  ],
] as [string, [number | null, string | null][], string[]][])('clocks of servers: %s', (_, clocks, expected) => {
  const view = { id: 'a', address: 'a:1', dataAddress: '', version: '1.2.3', leaving: false, shards: 1 };
  const found = judgeClocks(clocks.map(([clockAheadMs, unfit]) => ({ ...view, clockAheadMs, unfit })));
  expect(found.map(({ status }) => status)).toEqual(expected);
  for (const { status, remedy } of found) expect(remedy === undefined).toBe(status === 'ok');
});

test.each([
  ['all the same', ['1.2.3', '1.2.3'], []],
  ['none at all', [], []],
  ['one newer', ['1.3.0', '1.2.3', '1.3.0'], ['Servers run different versions: 1.2.3, 1.3.0.']],
  ['one too old to tell', ['1.3.0', null], ['Servers run different versions: 1.3.0, unknown.']],
] as [string, (string | null)[], string[]][])('versions of servers: %s', (_, versions, expected) => {
  const view = { id: 'a', address: 'a:1', dataAddress: '', leaving: false, shards: 1, clockAheadMs: 0, unfit: null };
  expect(judgeVersions(versions.map((version) => ({ ...view, version }))).map(({ message }) => message)).toEqual(
    expected,
  );
});
