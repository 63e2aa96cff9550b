import { expect, test } from 'vitest';
import type { Frozen } from '../../model/command.ts';
import { type Scenario, scenario, TENANT } from '../../testing/scenario.ts';
import { dag, task } from '../../testing/specs.ts';

const freeze = (box: Scenario, ...frozen: Partial<Frozen>[]) =>
  void box.feed({
    kind: 'SetFrozen',
    frozen: frozen.map((one) => ({ tenantId: TENANT, kind: 'cluster', name: '', ...one })),
  });
const begun = (box: Scenario) => box.effects.filter(({ kind }) => kind === 'SendAssignment').length;

test.each<Partial<Frozen>>([
  { kind: 'cluster' },
  { kind: 'tenant' },
  { kind: 'queue', name: 'default' },
  { kind: 'dag', name: 'etl' },
])('nothing of what is frozen begins, by %o; what runs goes on, and a thaw lets the rest go (I46)', (frozen) => {
  const box = scenario({ dag: dag([task('a'), task('b', [0])]), runs: 3 });
  const first = box.claim('a');
  freeze(box, frozen);
  box.lend(box.worker(), 10, true);
  expect(begun(box)).toBe(1);
  expect(box.report(first, 'succeeded')).toMatchObject({ ok: true });
  box.submit();
  expect(begun(box)).toBe(1);
  freeze(box);
  expect(begun(box)).toBe(5);
});

test.each<Partial<Frozen>>([
  { kind: 'tenant', tenantId: 9 as Frozen['tenantId'] },
  { kind: 'queue', name: 'gpu' },
  { kind: 'dag', name: 'other' },
  { kind: 'worker', name: 'w1' },
])('a freeze of something else holds nothing back, by %o (I47)', (frozen) => {
  const box = scenario({ dag: dag([task('a')]), runs: 2 });
  freeze(box, frozen);
  box.lend(box.worker(), 10, true);
  expect(begun(box)).toBe(2);
});

test('a dag that comes into memory later is frozen, too', () => {
  const box = scenario();
  freeze(box, { kind: 'dag', name: 'late' });
  const dagId = box.deploy(dag([task('a')]), 'late');
  box.submit({ dagId });
  box.lend(box.worker(), 10, true);
  expect(begun(box)).toBe(0);
  freeze(box);
  expect(begun(box)).toBe(1);
});
