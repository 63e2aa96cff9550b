import { createHash, randomUUID } from 'node:crypto';
import type { TenantId } from '@signalbox/engine';
import { afterAll, expect, test } from 'vitest';
import { Fixtures } from '../fixture.testing.ts';

const fixtures = new Fixtures();
afterAll(() => fixtures.stop());

const OURS = 1 as TenantId;
const newKey = () => ({ tenantId: OURS, operation: 'deleteDag', target: 'd', key: randomUUID() });
const request = { bodyHash: 'h', cutOffMs: 60_000 };
const hashOf = (text: string) => createHash('sha256').update(text).digest();

test('of many that begin with one key one begins, and the others get its answer (I11)', async () => {
  const { queries } = await fixtures.open();
  const key = newKey();
  const begun = await Promise.all(Array.from({ length: 20 }, () => queries.beginRequest(key, request)));
  expect(begun.filter(({ state }) => state === 'begun')).toEqual([{ state: 'begun', again: false }]);
  expect(begun.filter(({ state }) => state === 'under_way')).toHaveLength(19);
  await queries.answerRequest(key, { status: 200, answer: { a: 1 } });
  expect(await queries.beginRequest(key, request)).toEqual({ state: 'answered', status: 200, answer: { a: 1 } });
  expect(await queries.beginRequest(key, { ...request, bodyHash: 'x' })).toEqual({ state: 'conflict' });
  expect(await queries.beginRequest({ ...key, target: 'e' }, request)).toEqual({ state: 'begun', again: false });
});

test('what was cut off is taken over by one, with the same body only', async () => {
  const { queries } = await fixtures.open();
  const key = newKey();
  await queries.beginRequest(key, request);
  await queries.releaseRequest(key);
  expect(await queries.beginRequest(key, { ...request, bodyHash: 'x' })).toEqual({ state: 'conflict' });
  const begun = await Promise.all(Array.from({ length: 10 }, () => queries.beginRequest(key, request)));
  expect(begun.filter(({ state }) => state === 'begun')).toEqual([{ state: 'begun', again: true }]);
  await queries.forgetRequest(key);
  expect(await queries.beginRequest(key, request)).toEqual({ state: 'begun', again: false });
});

test('keys go after a day, sessions and login codes when they are over, and tokens that people named stay (I62)', async () => {
  const box = await fixtures.open();
  const { queries, store } = box;
  const [old, young] = [newKey(), newKey()];
  for (const key of [old, young]) {
    await queries.beginRequest(key, request);
    await queries.answerRequest(key, { status: 200, answer: {} });
  }
  await box.sql(`update request_key set at = at - interval '25 hours' where key = $1`, [old.key]);
  for (const name of ['browser-old', 'browser-new', 'named']) {
    const token = { tenantId: OURS, name, role: 'viewer', sha256: hashOf(name), validMs: 1_000 };
    await queries.createToken(token);
  }
  await box.sql(`update api_token set expires_at = clock_timestamp() - interval '2 days' where name <> 'browser-new'`);
  await queries.createLoginCode({ tenantId: OURS, sha256: hashOf('c'), role: 'viewer', actor: 'a', validMs: 1 });
  await box.sql(`update login_code set expires_at = expires_at - interval '2 hours'`);
  await store.dropOldRequests();
  expect((await queries.beginRequest(old, request)).state).toBe('begun');
  expect((await queries.beginRequest(young, request)).state).toBe('answered');
  expect((await queries.listTokens(OURS)).map(({ name }) => name).sort()).toEqual(['browser-new', 'named']);
  expect(await box.sql('select 1 from login_code')).toEqual([]);
});

test('a login code is taken once, and not after its time', async () => {
  const box = await fixtures.open();
  const { queries } = box;
  const code = { tenantId: OURS, sha256: hashOf('code'), role: 'viewer', actor: 'token:a', validMs: 60_000 };
  await queries.createLoginCode(code);
  const taken = await Promise.all(Array.from({ length: 10 }, () => queries.takeLoginCode(code.sha256)));
  expect(taken.filter((found) => found !== null)).toEqual([{ tenantId: OURS, role: 'viewer', actor: 'token:a' }]);
  await queries.createLoginCode(code);
  await box.sql(`update login_code set expires_at = clock_timestamp() - interval '1 second'`);
  expect(await queries.takeLoginCode(code.sha256)).toBeNull();
});

test('a token that has expired is not found, and lets go of its name', async () => {
  const box = await fixtures.open();
  const { queries } = box;
  const token = { tenantId: OURS, name: 't', role: 'viewer', sha256: hashOf('one'), validMs: 60_000, createdBy: 'me' };
  expect(await queries.createToken(token)).toBe(true);
  const found = await queries.findToken(token.sha256);
  expect([found?.name, (found?.leftMs ?? 0) > 50_000]).toEqual(['t', true]);
  expect(await queries.createToken({ ...token, sha256: hashOf('two') })).toBe(false);
  await box.sql(`update api_token set expires_at = clock_timestamp()`);
  expect(await queries.findToken(token.sha256)).toBeNull();
  expect(await queries.createToken({ ...token, sha256: hashOf('two') })).toBe(true);
});
