import { createHash } from 'node:crypto';
import type { TenantId } from '@signalbox/engine';
import { afterAll, expect, test } from 'vitest';
import { deployed } from '../conformance/changes.ts';
import { Fixtures } from '../fixture.testing.ts';

const fixtures = new Fixtures();
afterAll(() => fixtures.stop());

const OURS = 1 as TenantId;
const bundleOf = (code: Buffer) => ({ hash: createHash('sha256').update(code).digest('hex'), code });
const everyByte = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));

test('a bundle comes back byte by byte, with its source map, and storing it again changes nothing', async () => {
  const { queries } = await fixtures.open();
  const { hash, code } = bundleOf(everyByte);
  expect(await queries.getBundle(OURS, hash)).toBeNull();
  expect(await queries.putSourceMap(OURS, { hash, sourceMap: code })).toBe(false);
  expect(await queries.putBundle(OURS, { hash, code })).toBe(true);
  expect(await queries.getBundle(OURS, hash)).toEqual({ code, sourceMap: null });
  expect(await queries.putSourceMap(OURS, { hash, sourceMap: everyByte })).toBe(true);
  expect(await queries.putBundle(OURS, { hash, code })).toBe(false);
  expect(await queries.getBundle(OURS, hash)).toEqual({ code, sourceMap: everyByte });
});

test('a bundle of another tenant is not there (I65)', async () => {
  const { queries } = await fixtures.open();
  const theirs = await queries.ensureTenant('other');
  const { hash, code } = bundleOf(Buffer.from('ours'));
  await queries.putBundle(OURS, { hash, code });
  expect(await queries.getBundle(theirs, hash)).toBeNull();
  expect(await queries.touchBundle(theirs, hash)).toBe(false);
  expect(await queries.putSourceMap(theirs, { hash, sourceMap: code })).toBe(false);
});

test('what no version of its own tenant names goes a day after it was last touched, and nothing else (I62)', async () => {
  const box = await fixtures.open();
  const { queries, store } = box;
  const theirs = await queries.ensureTenant('other');
  const named = ['named', 'unused', 'touched', 'fresh'] as const;
  const [used, unused, touched, fresh] = named.map((name) => bundleOf(Buffer.from(name))) as [
    ReturnType<typeof bundleOf>,
    ReturnType<typeof bundleOf>,
    ReturnType<typeof bundleOf>,
    ReturnType<typeof bundleOf>,
  ];
  const node = await box.node([5]);
  const dag = deployed(5, 1);
  await node.commit([{ ...dag, spec: { ...dag.spec, bundle: used.hash } }]);
  for (const bundle of [used, unused, touched]) await queries.putBundle(OURS, bundle);
  await queries.putBundle(theirs, used);
  await box.sql(`update bundle set touched_at = touched_at - interval '25 hours'`);
  await queries.putBundle(OURS, fresh);
  expect(await queries.touchBundle(OURS, touched.hash)).toBe(true);
  expect(await store.dropUnusedBundles()).toEqual({ dropped: 2, complete: true });
  const left = await Promise.all([used, unused, touched, fresh].map(({ hash }) => queries.getBundle(OURS, hash)));
  expect(left.map((found) => found !== null)).toEqual([true, false, true, true]);
  expect(await queries.getBundle(theirs, used.hash)).toBeNull();
});

test('many that are unused go in bounded steps', async () => {
  const box = await fixtures.open();
  for (let no = 0; no < 101; no++) await box.queries.putBundle(OURS, bundleOf(Buffer.from(`bundle ${no}`)));
  await box.sql(`update bundle set touched_at = touched_at - interval '25 hours'`);
  expect(await box.store.dropUnusedBundles()).toEqual({ dropped: 100, complete: false });
  expect(await box.store.dropUnusedBundles()).toEqual({ dropped: 1, complete: true });
});
