import { describe, expect, test } from 'vitest';
import type { TenantId } from '../../model/ids.ts';
import { START } from '../../testing/node.ts';
import { type Scenario, scenario, TENANT } from '../../testing/scenario.ts';
import { chain, every, job } from '../../testing/specs.ts';

const MINUTE = 60_000;
const minutely = job({ schedule: every('* * * * *') });

function firedMinutes(box: Scenario): number[] {
  return box.changes('RunCreated').flatMap(({ firesAt }) => (firesAt === null ? [] : [(firesAt - START) / MINUTE]));
}

/** Deploys this meaning again: the same hash. */
function redeploy(box: Scenario, hash: string, spec = minutely) {
  return box.tryDeploy(spec, 'etl', hash);
}

test('a retired dag takes no new runs; those that live go on to their end (I35)', () => {
  const box = scenario({ dag: chain('a', 'b') });
  const first = box.claim('a');
  expect(box.retire()).toEqual({ ok: true, kind: 'done' });
  expect(box.submit()).toMatchObject({ ok: false, code: 'DAG_NOT_FOUND' });
  box.killOwner().heartbeat();
  expect(box.submit()).toMatchObject({ ok: false, code: 'DAG_NOT_FOUND' });
  box.report(first, 'succeeded');
  box.report(box.claim('b'), 'succeeded');
  expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'succeeded' });
});

test('retiring twice is retiring once; another tenant has no such dag (I65)', () => {
  const box = scenario({ dag: job(), runs: 0 });
  expect(box.retire(box.dagId, 2 as TenantId)).toMatchObject({ ok: false, code: 'DAG_NOT_FOUND' });
  expect(box.changes('DagRetired')).toEqual([]);
  box.retire();
  box.killOwner();
  expect(box.retire()).toEqual({ ok: true, kind: 'done' });
  expect(box.changes('DagRetired')).toHaveLength(1);
});

test('a submission that was accepted before gets the same answer after it (I11)', () => {
  const box = scenario({ dag: job(), runs: 0 });
  const keyed = box.submission({ key: { key: 'k', bodyHash: 'b' } });
  expect(box.feed(keyed)).toMatchObject({ ok: true, repeated: false });
  box.retire();
  expect(box.feed({ ...keyed, uid: box.newUid() })).toMatchObject({ ok: true, repeated: true, uid: keyed.uid });
});

describe('windows of a retired dag never fire (I6)', () => {
  test('what was due by its schedule is decided first, nothing after it, also over a handover (I2)', () => {
    const box = scenario({ dag: minutely });
    box.advance('2.5m');
    box.retire();
    box.advance('3m').killOwner().advance('3m');
    expect(firedMinutes(box)).toEqual([1, 2]);
    expect(box.pause()).toMatchObject({ ok: false, code: 'DAG_NOT_FOUND' });
  });

  test.each(['hash-1', 'hash-new'])('deployed again as %s it is back, and its schedule begins anew', (hash) => {
    const box = scenario({ dag: minutely });
    box.advance('2.5m');
    box.retire();
    box.advance('2m').killOwner();
    const versionNo = hash === 'hash-1' ? 1 : 2;
    expect(redeploy(box, hash)).toMatchObject({ ok: true, dagId: box.dagId, versionNo, changed: true });
    expect(redeploy(box, hash)).toMatchObject({ ok: true, versionNo, changed: false });
    box.advance('1m');
    expect(firedMinutes(box)).toEqual([1, 2, 5]);
    expect(box.submit()).toMatchObject({ ok: true });
  });

  test('windows that were decided do not come again when the clock went back meanwhile (I1, I5)', () => {
    const spec = job({ schedule: every('* * * * *', { missed: 'skip' }) });
    const box = scenario({ dag: spec });
    // Decided without a run: nothing but the dag remembers them.
    box.pause();
    box.leap('10.5m').pause(false);
    box.retire();
    box.leap('-8m').killOwner();
    redeploy(box, 'hash-2', spec);
    box.advance('10m');
    const times = box.node.store.windows.map(({ firesAt, untilAt }) => [firesAt, untilAt]);
    for (let i = 1; i < times.length; i++) expect(times[i]![0]).toBeGreaterThan(times[i - 1]![1]!);
    expect(firedMinutes(box)).toEqual([11, 12]);
  });
});

test('retired, brought back and retired again in one batch', () => {
  const box = scenario({ dag: job(), runs: 0 });
  const { shard, dagId, actor } = box;
  const retire = { kind: 'RetireDag', shard, tenantId: TENANT, dagId, actor } as const;
  const deploy = { kind: 'DeployDag', shard, tenantId: TENANT, tenant: 'acme', name: 'etl', spec: job() } as const;
  box.node.decide([retire, { ...deploy, hash: 'hash-1', actor }, retire]);
  expect(box.changes('DagRetired')).toHaveLength(2);
  expect(box.submit()).toMatchObject({ ok: false, code: 'DAG_NOT_FOUND' });
});
