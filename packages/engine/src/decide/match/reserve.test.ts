import { describe, expect, test } from 'vitest';
import { type PlacementSpec, type Request, requestOf } from '../../model/placement.ts';
import { type Scenario, scenario } from '../../testing/scenario.ts';
import { dag, task } from '../../testing/specs.ts';
import { demandOf } from './demand.ts';

const HAS = { slots: 4, resources: { cpu: 4_000 }, labels: {} };
const LARGE: PlacementSpec = { resources: { cpu: 4_000 } };
const asked = (placement: PlacementSpec): Request => requestOf(placement)!;

const one = (placement?: PlacementSpec, options = {}) =>
  dag([task('job', [], placement === undefined ? {} : { placement })], options);

/** A worker that has room for small tasks only, and one large task that waits. */
function crowded(large: PlacementSpec = LARGE, options = {}): Scenario {
  const box = scenario({ dag: one({ resources: { cpu: 1_000 } }), runs: 1 });
  box.lend(box.worker(), 4, true, 0, { traits: HAS, room: HAS.resources, isWhole: true });
  box.dagId = box.deploy(one(large, options), 'large');
  box.submit();
  return box;
}

const reserves = (box: Scenario) => demandOf(box.state).map(({ reserve }) => reserve ?? null);
const wait = (box: Scenario, span: `${number}s` = '63s') => box.advance(span, [box.worker()]);
const started = (box: Scenario) => box.worker().assigned.map(({ version }) => version.dag.name);

describe('a task that finds no room', () => {
  test.each([
    ['much', LARGE],
    ['a worker for itself', { exclusive: true }],
  ] as const)('and asks for %s wants a worker reserved after a while', (_, placement) => {
    const box = crowded(placement);
    wait(box, '51s');
    expect(reserves(box)).toEqual([null]);
    wait(box, '12s');
    expect(reserves(box)).toEqual([2]);
  });

  test('wants none any more once it has begun, and the next of its kind waits anew', () => {
    const box = crowded();
    box.submit();
    wait(box);
    box.lend(box.worker(), 1, false, 0, { traits: HAS, room: { cpu: 4_000 }, only: asked(LARGE) });
    expect(started(box)).toEqual(['etl', 'large']);
    expect(reserves(box)).toEqual([null]);
    wait(box);
    expect(reserves(box)).toEqual([2]);
  });

  test('leaves a reserved slot to a higher class that waits by the time the slot comes (I49)', () => {
    const box = crowded();
    wait(box);
    box.dagId = box.deploy(one(undefined, { priority: 'critical' }), 'urgent');
    box.lend(box.worker(), 0, true, 0, { traits: HAS, room: {} });
    for (let i = 0; i < 4; i++) box.submit();
    // Three slots were free: one of these still waits.
    expect(started(box)).toEqual(['etl', 'urgent', 'urgent', 'urgent']);
    box.lend(box.worker(), 1, false, 0, { traits: HAS, room: { cpu: 4_000 }, only: asked(LARGE) });
    expect(started(box).at(-1)).toBe('urgent');
    box.lend(box.worker(), 1, false, 0, { traits: HAS, room: { cpu: 4_000 }, only: asked(LARGE) });
    expect(started(box).at(-1)).toBe('large');
  });

  test.each([
    ['prefers a worker', { prefer: { cache: 'warm' } }],
    ['asks for a label', { labels: { disk: 'ssd' } }],
  ] as const)('and only %s wants none: it needs no more room than others', (_, placement) => {
    const box = crowded(placement);
    wait(box);
    expect(reserves(box).every((one) => one === null)).toBe(true);
  });

  test('wants none any more once it is cancelled', () => {
    const box = crowded();
    wait(box);
    box.cancel(box.runIds.at(-1));
    expect(demandOf(box.state)).toEqual([]);
    expect(box.state.longWaits.isEmpty).toBe(false);
    wait(box, '3s');
    expect(box.state.longWaits.isEmpty).toBe(true);
  });

  test('wants none while a limit holds it back, and its wait begins when that has room (I47)', () => {
    const box = crowded(LARGE, { maxActiveTasks: 1 });
    box.lend(box.worker('w1'), 1, false, 0, { traits: HAS, room: { cpu: 4_000 }, only: asked(LARGE) });
    const first = box.attemptOf(box.worker().assigned.at(-1)!);
    box.submit();
    wait(box);
    expect(reserves(box)).toEqual([]);
    box.report(first, 'succeeded');
    expect(reserves(box)).toEqual([null]);
    wait(box);
    expect(reserves(box)).toEqual([2]);
  });

  test('waits anew for it after a takeover (I17)', () => {
    const box = crowded();
    wait(box);
    box.killOwner();
    box.heartbeat();
    expect(reserves(box)).toEqual([null]);
    wait(box);
    expect(reserves(box)).toEqual([2]);
  });

  test('in a queue with many different requests: the two that have waited longest', () => {
    const box = crowded();
    for (const cpu of [3_900, 3_800, 3_700]) {
      wait(box, '3s');
      box.dagId = box.deploy(one({ resources: { cpu } }), `cpu-${cpu}`);
      box.submit();
    }
    wait(box, '90s');
    expect(reserves(box)).toEqual([2, 2, null, null]);
  });
});

describe('slots that are reserved for a request', () => {
  test('go to no other task, however old; what is not used goes back', () => {
    const box = crowded();
    box.dagId = box.deploy(one(), 'plain');
    box.lend(box.worker(), 4, true, 0, { traits: HAS });
    const before = started(box).length;
    box.submit({ count: 8 });
    const used = started(box).length - before;
    expect(used).toBeGreaterThan(0);
    box.lend(box.worker(), 3, false, 0, { traits: HAS, room: { cpu: 4_000 }, only: asked(LARGE) });
    expect(started(box).slice(before + used)).toEqual(['large']);
    expect(box.worker().returned).toBe(2);
  });
});
