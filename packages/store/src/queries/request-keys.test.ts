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

test('what was cut off lives for a day too, with what it told of the part that was made (I11)', async () => {
  const { queries, store } = await fixtures.open();
  const key = newKey();
  await queries.beginRequest(key, request);
  await queries.releaseRequest(key, { missing: [2] });
  await store.dropOldRequests();
  const rest = { state: 'begun', again: true, partly: { missing: [2] } };
  expect(await queries.beginRequest(key, request)).toEqual(rest);
  await queries.releaseRequest(key);
  expect(await queries.beginRequest(key, request)).toEqual(rest);
  await queries.answerRequest(key, { status: 200, answer: {} });
  expect(await queries.beginRequest(key, request)).toEqual({ state: 'answered', status: 200, answer: {} });
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
  await queries.createLoginCode({ ...linkBy('named'), sha256: hashOf('c') });
  await box.sql(`update login_code set expires_at = expires_at - interval '2 hours'`);
  await store.dropOldRequests();
  expect((await queries.beginRequest(old, request)).state).toBe('begun');
  expect((await queries.beginRequest(young, request)).state).toBe('answered');
  expect((await queries.listTokens(OURS)).map(({ name }) => name).sort()).toEqual(['browser-new', 'named']);
  expect(await box.sql('select 1 from login_code')).toEqual([]);
});

const HERE = { actor: 'token:boss', origin: '10.0.0.1' };
const linkBy = (maker: string) => ({
  tenantId: OURS,
  sha256: hashOf('code'),
  role: 'viewer',
  actor: `token:${maker}`,
  validMs: 60_000,
  openedBy: hashOf(maker),
  origin: '10.0.0.1',
});
const sessionOf = (name: string, code = 'code') => ({
  code: hashOf(code),
  name,
  sha256: hashOf(name),
  validMs: 60_000,
  origin: '10.0.0.2',
});
const tokenOf = (name: string, validMs: number | null = null) => ({
  tenantId: OURS,
  name,
  role: 'admin',
  sha256: hashOf(name),
  validMs,
});

test('a login code opens one session, and none after its time', async () => {
  const box = await fixtures.open();
  const { queries } = box;
  await queries.createToken(tokenOf('maker'));
  await queries.createLoginCode(linkBy('maker'));
  const opened = await Promise.all(
    Array.from({ length: 10 }, (_, no) => queries.openSession(sessionOf(`browser-${no}`))),
  );
  expect(opened.filter((isOpen) => isOpen)).toHaveLength(1);
  await queries.createLoginCode(linkBy('maker'));
  await box.sql(`update login_code set expires_at = clock_timestamp() - interval '1 second'`);
  expect(await queries.openSession(sessionOf('browser-late'))).toBe(false);
});

test('a revoked token takes its sessions, theirs, and unused links with it (I66)', async () => {
  const { queries } = await fixtures.open();
  await queries.createToken(tokenOf('maker'));
  await queries.createToken(tokenOf('other'));
  await queries.createLoginCode(linkBy('maker'));
  expect(await queries.openSession(sessionOf('browser-1'))).toBe(true);
  await queries.createLoginCode({ ...linkBy('browser-1'), sha256: hashOf('second') });
  expect(await queries.openSession(sessionOf('browser-2', 'second'))).toBe(true);
  await queries.createLoginCode({ ...linkBy('browser-2'), sha256: hashOf('unused') });
  await queries.createLoginCode({ ...linkBy('other'), sha256: hashOf('of another') });
  expect(await queries.revokeToken(OURS, 'maker', HERE)).toBe(true);
  for (const name of ['maker', 'browser-1', 'browser-2']) expect(await queries.findToken(hashOf(name))).toBeNull();
  expect(await queries.openSession(sessionOf('browser-3', 'unused'))).toBe(false);
  expect(await queries.openSession(sessionOf('browser-4', 'of another'))).toBe(true);
  // A link that a revoked token makes while it is still believed opens nothing.
  await queries.createLoginCode({ ...linkBy('maker'), sha256: hashOf('too late') });
  expect(await queries.openSession(sessionOf('browser-5', 'too late'))).toBe(false);
  expect(await queries.revokeToken(OURS, 'maker', HERE)).toBe(false);
});

test('whoever logs in while the token is revoked is in no session afterwards', async () => {
  const box = await fixtures.open();
  const { queries } = box;
  for (let round = 0; round < 20; round++) {
    const maker = `maker-${round}`;
    await queries.createToken(tokenOf(maker));
    await queries.createLoginCode(linkBy(maker));
    await Promise.all([
      queries.openSession(sessionOf(`browser-${round}`)),
      queries.revokeToken(OURS, maker, HERE),
      queries.openSession(sessionOf(`browser-other-${round}`)),
    ]);
  }
  expect(await box.sql('select name from api_token where revoked_at is null')).toEqual([]);
});

test('a session lasts no longer than the token behind it', async () => {
  const { queries } = await fixtures.open();
  await queries.createToken(tokenOf('brief', 1_000));
  await queries.createLoginCode(linkBy('brief'));
  await queries.openSession(sessionOf('browser-brief'));
  expect((await queries.findToken(hashOf('browser-brief')))?.leftMs).toBeLessThanOrEqual(1_000);
});

test('what happens to credentials is recorded: who, what, when, from where, the outcome (I71)', async () => {
  const box = await fixtures.open();
  const { queries } = box;
  await queries.createToken({ ...tokenOf('maker'), createdBy: 'token:boss', origin: '10.0.0.1' });
  await queries.createToken({ ...tokenOf('maker'), createdBy: 'token:boss', origin: '10.0.0.1' });
  await queries.createLoginCode(linkBy('maker'));
  await queries.openSession(sessionOf('browser-1'));
  await queries.revokeToken(OURS, 'maker', HERE);
  const refusal = { action: 'credential.refused', origin: '10.0.0.9', outcome: 'UNAUTHENTICATED' };
  await queries.recordRefusal({ ...refusal, sha256: hashOf('maker'), count: 1 });
  await queries.recordRefusal({ ...refusal, sha256: hashOf('nobody'), count: 7 });
  const all = await queries.listAudit(OURS, { before: Number.MAX_SAFE_INTEGER, action: null, limit: 100 });
  expect(all.map(({ actor, action, target, origin, outcome }) => [actor, action, target, origin, outcome])).toEqual([
    ['', 'credential.refused', '', '10.0.0.9', 'UNAUTHENTICATED'],
    ['token:maker', 'credential.refused', 'maker', '10.0.0.9', 'UNAUTHENTICATED'],
    ['token:boss', 'session.end', 'browser-1', '10.0.0.1', 'done'],
    ['token:boss', 'token.revoke', 'maker', '10.0.0.1', 'done'],
    ['token:maker', 'login', 'browser-1', '10.0.0.2', 'done'],
    ['token:maker', 'login_link.create', '', '10.0.0.1', 'done'],
    ['token:boss', 'token.create', 'maker', '10.0.0.1', 'done'],
  ]);
  expect(all[0]?.details).toEqual({ count: 7 });
  const [, second] = all;
  const older = await queries.listAudit(OURS, { before: second?.id ?? 0, action: 'token.create', limit: 5 });
  expect(older).toHaveLength(1);
  // Of another tenant nothing is seen, and of nobody's credentials neither (I65).
  const theirs = await queries.ensureTenant('theirs');
  expect(await queries.listAudit(theirs, { before: Number.MAX_SAFE_INTEGER, action: null, limit: 100 })).toEqual([]);
});

test('audit events are only ever added, until they are too old', async () => {
  const box = await fixtures.open();
  const { queries, store } = box;
  await queries.createToken(tokenOf('maker'));
  for (const change of [`update audit_event set actor = 'x'`, 'delete from audit_event', 'truncate audit_event'])
    await expect(box.sql(change)).rejects.toThrow('only ever added');
  await box.sql(`insert into audit_event (at, actor, action, target, origin, outcome)
    values (clock_timestamp() - interval '500 days', '', 'old', '', '', 'done')`);
  await store.dropOldRequests();
  expect(await box.sql('select action from audit_event')).toEqual([{ action: 'token.create' }]);
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
