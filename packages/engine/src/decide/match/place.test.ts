import { describe, expect, test, vi } from 'vitest';
import type { NodeId, TenantId } from '../../model/ids.ts';
import type { Amounts, PlacementSpec, WorkerTraits } from '../../model/placement.ts';
import { Offer } from '../../tables/worker/worker-table.ts';
import { type Scenario, scenario } from '../../testing/scenario.ts';
import { dag, task } from '../../testing/specs.ts';
import { demandOf } from './demand.ts';

const GIB = 2 ** 30;
const traits = (resources: Amounts = {}, labels: Record<string, string> = {}, slots = 4): WorkerTraits => ({
  slots,
  resources,
  labels,
});

/** Lends all that a worker has, until recalled. */
function lendAll(box: Scenario, name: string, has: WorkerTraits): void {
  box.lend(box.worker(name), has.slots, true, 0, { traits: has, room: has.resources, isWhole: true });
}

const one = (placement: PlacementSpec, priority: 'critical' | 'normal' = 'normal') =>
  dag([task('job', [], { placement })], { priority });

const runsOn = (box: Scenario) =>
  box.effects.flatMap((effect) => (effect.kind === 'SendAssignment' ? [String(effect.workerId)] : []));

describe('requests', () => {
  test('a task goes only to a worker that offers its labels and its zone (I24)', () => {
    const box = scenario({
      dag: one({ labels: { disk: 'ssd', zone: 'eu-1' } }),
      workers: ['plain', 'slow', 'far', 'right'],
    });
    lendAll(box, 'plain', traits());
    lendAll(box, 'slow', traits({}, { disk: 'hdd', zone: 'eu-1' }));
    lendAll(box, 'far', traits({}, { disk: 'ssd', zone: 'us-1' }));
    expect(runsOn(box)).toEqual([]);
    lendAll(box, 'right', traits({}, { disk: 'ssd', zone: 'eu-1' }));
    expect(runsOn(box)).toEqual(['right']);
  });

  test('no more is claimed for a worker than it has, and the rest goes as attempts end (I24, I45)', () => {
    const box = scenario({ dag: one({ resources: { memory: 2 * GIB } }), runs: 5 });
    const has = traits({ memory: 5 * GIB });
    lendAll(box, 'w1', has);
    expect(runsOn(box)).toHaveLength(2);
    const [first] = box.worker().assigned;
    expect(first?.booking).toEqual({ slots: 1, resources: { memory: 2 * GIB }, exclusive: false });
    // The gateway lends what the end has freed.
    box.report(box.attemptOf(first!), 'succeeded');
    box.lend(box.worker(), 1, true, 0, { traits: has, room: { memory: 2 * GIB } });
    expect(runsOn(box)).toHaveLength(3);
  });

  test('a slot without the resources runs what asks for none, and holds it back no longer (I47)', () => {
    const box = scenario({ dag: one({ resources: { gpu: 1 } }), runs: 3 });
    box.dagId = box.deploy(dag([task('plain')]), 'other');
    box.submit();
    box.lend(box.worker(), 2, true, 0, { traits: traits({ gpu: 1 }) });
    expect(box.worker().assigned.map(({ version }) => version.dag.name)).toEqual(['other']);
    box.lend(box.worker(), 1, true, 0, { traits: traits({ gpu: 1 }), room: { gpu: 1 } });
    expect(box.worker().assigned.map(({ version }) => version.dag.name)).toEqual(['other', 'etl']);
  });

  test('what a loan for one decision does not use goes back, slots and resources', () => {
    const box = scenario({ dag: one({ resources: { cpu: 1_000 } }) });
    box.lend(box.worker(), 2, false, 0, { traits: traits({ cpu: 4_000 }), room: { cpu: 4_000 } });
    expect(box.worker().assigned).toHaveLength(1);
    expect(box.worker().returned).toBe(1);
    expect(box.worker().roomReturned).toEqual({ cpu: 3_000 });
  });

  test('a recall brings all resources back, also where no slot is free', () => {
    const box = scenario({ dag: one({ resources: { cpu: 1_000 } }) });
    box.lend(box.worker(), 1, true, 0, { traits: traits({ cpu: 4_000 }), room: { cpu: 4_000 } });
    const { gateway, id: workerId } = box.worker();
    box.feed({ kind: 'RecallSlots', gateway, workerId, count: 0, withRoom: true });
    expect(box.worker().roomReturned).toEqual({ cpu: 3_000 });
  });

  test('resources that another gateway lent before go back to it', () => {
    const box = scenario({ dag: one({ resources: { cpu: 9_000 } }) });
    lendAll(box, 'w1', traits({ cpu: 4_000 }));
    box.worker().gateway = 'other' as NodeId;
    box.lend(box.worker(), 1, true, 0, { traits: traits({ cpu: 4_000 }) });
    expect(box.worker().roomReturned).toEqual({ cpu: 4_000 });
  });

  test('after a takeover nothing is lent: the next owner gets it from the gateway anew (I17, I24)', () => {
    const box = scenario({ dag: one({ resources: { cpu: 3_000 } }), runs: 2 });
    lendAll(box, 'w1', traits({ cpu: 4_000 }));
    box.killOwner();
    box.heartbeat();
    box.lend(box.worker(), 3, true, 0, { traits: traits({ cpu: 4_000 }), room: { cpu: 1_000 } });
    expect(runsOn(box)).toHaveLength(1);
    box.lend(box.worker(), 0, true, 0, { traits: traits({ cpu: 4_000 }), room: { cpu: 3_000 } });
    expect(runsOn(box)).toHaveLength(2);
  });

  test('a refused claim goes back to ready, keeps its place, and may go elsewhere (I26)', () => {
    const box = scenario({ dag: one({ resources: { cpu: 1_000 } }), workers: ['w1', 'w2'] });
    lendAll(box, 'w1', traits({ cpu: 1_000 }));
    box.refuse(box.attemptOf(box.worker('w1').assigned[0]!));
    expect(box.task('job')).toMatchObject({ state: 'ready', attemptCount: 0 });
    lendAll(box, 'w2', traits({ cpu: 1_000 }));
    expect(runsOn(box)).toEqual(['w1', 'w2']);
  });

  test('demand tells what is asked for, one entry for each request', () => {
    const box = scenario({ dag: one({ resources: { gpu: 1 }, labels: { zone: 'a' } }), runs: 2 });
    box.dagId = box.deploy(dag([task('plain')]), 'other');
    box.submit();
    expect(demandOf(box.state)).toEqual([
      {
        tenantId: 1,
        queue: 'default',
        counts: [0, 0, 2, 0],
        request: { resources: { gpu: 1 }, labels: { zone: 'a' }, exclusive: false, noSpot: false },
      },
      { tenantId: 1, queue: 'default', counts: [0, 0, 1, 0] },
    ]);
  });

  test('tenants that share workers take turns by weight with requests, too (I48)', () => {
    const box = scenario({ dag: one({ resources: { cpu: 1_000 } }), runs: 6 });
    const rich = { tenantId: 1 as TenantId, weight: 1, isSuspended: false };
    box.feed({ kind: 'SetTenants', tenants: [rich] });
    box.worker().tenants = null;
    lendAll(box, 'w1', traits({ cpu: 3_000 }));
    expect(runsOn(box)).toHaveLength(3);
  });
});

describe('exclusive use', () => {
  test('needs a worker with nothing to do, takes all its slots, and nothing runs beside it (I24)', () => {
    const box = scenario({ dag: dag([task('plain')]), runs: 1, workers: ['w1'] });
    const has = traits({}, {}, 3);
    box.lend(box.worker(), 1, true, 0, { traits: has, isWhole: false });
    const plain = box.attemptOf(box.worker().assigned[0]!);
    box.dagId = box.deploy(one({ exclusive: true }), 'alone');
    box.submit();
    box.lend(box.worker(), 2, true, 0, { traits: has, isWhole: false });
    expect(runsOn(box)).toHaveLength(1);
    box.report(plain, 'succeeded');
    box.lend(box.worker(), 1, true, 0, { traits: has, isWhole: true });
    expect(runsOn(box)).toHaveLength(2);
    expect(box.worker().assigned[1]?.booking).toEqual({ slots: 3, resources: {}, exclusive: true });
    box.dagId = box.deploy(dag([task('more')]), 'more');
    box.submit();
    expect(runsOn(box)).toHaveLength(2);
  });

  test('what this engine has just claimed counts, though the gateway does not know of it yet', () => {
    const box = scenario({ dag: dag([task('plain')]), runs: 1, workers: ['w1'] });
    box.lend(box.worker(), 1, true, 0, { traits: traits({}, {}, 2), isWhole: false });
    box.dagId = box.deploy(one({ exclusive: true }), 'alone');
    box.submit();
    box.lend(box.worker(), 2, true, 0, { traits: traits({}, {}, 2), isWhole: true });
    expect(runsOn(box)).toHaveLength(1);
  });
});

describe('the best place', () => {
  test('is the tightest: large rooms stay for large tasks', () => {
    const box = scenario({ workers: ['large', 'small'] });
    lendAll(box, 'large', traits({ memory: 64 * GIB }));
    lendAll(box, 'small', traits({ memory: 8 * GIB }));
    box.dagId = box.deploy(one({ resources: { memory: 4 * GIB } }));
    box.submit({ count: 2 });
    expect(runsOn(box)).toEqual(['small', 'small']);
  });

  test('is not a worker whose scarce resource the task has no use for', () => {
    const box = scenario({ workers: ['with-gpu', 'without'] });
    lendAll(box, 'with-gpu', traits({ cpu: 4_000, gpu: 1 }));
    lendAll(box, 'without', traits({ cpu: 4_000 }));
    box.dagId = box.deploy(one({ resources: { cpu: 1_000 } }));
    box.submit({ count: 2 });
    expect(runsOn(box)).toEqual(['without', 'without']);
  });

  test('has the labels that the task prefers, if one has', () => {
    const box = scenario({ workers: ['cold', 'warm'] });
    lendAll(box, 'cold', traits({}, {}, 2));
    lendAll(box, 'warm', traits({}, { cache: 'orders' }, 1));
    box.dagId = box.deploy(one({ prefer: { cache: 'orders' } }));
    box.submit({ count: 2 });
    expect(runsOn(box)).toEqual(['warm', 'cold']);
  });

  test('is where the upstream task ran', () => {
    const box = scenario({ workers: ['w1', 'w2', 'w3'] });
    for (const name of ['w1', 'w2', 'w3']) lendAll(box, name, traits({}, {}, 4));
    box.dagId = box.deploy(dag([task('extract'), task('load', [0], { placement: { near: [0] } })]));
    for (let i = 0; i < 3; i++) box.submit();
    for (const effect of [...box.effects])
      if (effect.kind === 'SendAssignment') box.report(box.attemptOf(effect), 'succeeded');
    const [first, second] = [runsOn(box).slice(0, 3), runsOn(box).slice(3)];
    expect(second).toEqual(first);
  });

  test('is where fewest tasks of the run are running', () => {
    const box = scenario({ workers: ['w1', 'w2', 'w3'] });
    for (const name of ['w1', 'w2', 'w3']) lendAll(box, name, traits());
    const placement: PlacementSpec = { spread: { of: 'run' } };
    box.dagId = box.deploy(dag(['a', 'b', 'c'].map((name) => task(name, [], { placement }))));
    box.submit();
    expect(runsOn(box).sort()).toEqual(['w1', 'w2', 'w3']);
  });

  test('is in the zone where fewest tasks of the dag are running', () => {
    const box = scenario({ workers: ['a1', 'a2', 'b1'] });
    lendAll(box, 'a1', traits({}, { zone: 'a' }));
    lendAll(box, 'a2', traits({}, { zone: 'a' }));
    lendAll(box, 'b1', traits({}, { zone: 'b' }));
    box.dagId = box.deploy(one({ spread: { of: 'dag', over: 'zone' } }));
    box.submit({ count: 4 });
    const inA = runsOn(box).filter((name) => name.startsWith('a'));
    expect(inA).toHaveLength(2);
  });

  test('of a critical task is the best of the first few; any that fits is found', () => {
    const names = Array.from({ length: 30 }, (_, no) => `w${no}`);
    const box = scenario({ workers: names });
    names.forEach((name, no) => {
      lendAll(box, name, traits({ cpu: no === 29 ? 8_000 : 1_000 }));
    });
    box.dagId = box.deploy(one({ resources: { cpu: 8_000 } }, 'critical'));
    box.submit();
    expect(runsOn(box)).toEqual(['w29']);
  });
});

test('however many tasks and dags wait for room, a loan looks at its worker once for each request', () => {
  const looks = (dags: number, runs: number) => {
    const box = scenario({ workers: ['w1'] });
    for (let no = 0; no < dags; no++) {
      box.dagId = box.deploy(one({ resources: { cpu: 2_000 } }), `dag-${no}`);
      box.submit({ count: runs });
    }
    lendAll(box, 'w1', traits({ cpu: 1_000 }));
    const spy = vi.spyOn(Offer.prototype, 'hasRoomFor');
    box.lend(box.worker(), 1, true, 0, { traits: traits({ cpu: 1_000 }) });
    const count = spy.mock.calls.length;
    spy.mockRestore();
    return count;
  };
  expect(looks(5, 20)).toBe(looks(1, 1));
});
