import { describe, expect, test } from 'vitest';
import type { Amounts, GangSpec, WorkerTraits } from '../../model/placement.ts';
import { findAttempt } from '../../tables/attempt/find-attempt.ts';
import { type Attempt, accepted, type Scenario, type ScenarioOptions, scenario } from '../../testing/scenario.ts';
import { dag, type TaskOptions, task } from '../../testing/specs.ts';

const traits = (name: string, slots: number, resources: Amounts = {}): WorkerTraits => ({
  ...{ slots, resources, labels: {} },
  host: `${name}.example`,
});

/** Lends all that a worker has, until recalled. */
function lendAll(box: Scenario, name: string, slots = 1, resources: Amounts = {}): void {
  const has = traits(name, slots, resources);
  box.lend(box.worker(name), slots, true, 0, { traits: has, room: resources, isWhole: true });
}

/** A gang of so many, and a task behind it. */
const gang = (size: number, options: TaskOptions = {}, more: Partial<GangSpec> = {}, ofDag = {}) =>
  dag([task('fit', [], { group: 0, placement: { gang: { size, ...more } }, ...options }), task('after', [0])], {
    groups: [{ name: 'fit', parent: null, map: { over: [{ from: 'list', length: size }], mode: 'product' } }],
    ...ofDag,
  });

const three = (options: TaskOptions = {}, more: Omit<ScenarioOptions, 'dag' | 'workers'> = {}) =>
  scenario({ dag: gang(3, options), workers: ['w1', 'w2', 'w3', 'w4'], ...more });

const running = (box: Scenario): Attempt[] =>
  [...box.workers.values()]
    .flatMap((worker) => worker.assigned.map((sent) => box.attemptOf(sent)))
    .filter(({ claim }) => findAttempt(box.state, claim) !== null);

/** The members that run, by name. */
const members = (box: Scenario) => [0, 1, 2].map((rank) => box.task(`fit[${rank}]`).state).join(' ');

function begin(options: TaskOptions = {}): { box: Scenario; attempts: Attempt[] } {
  const box = three(options);
  for (const name of ['w1', 'w2', 'w3']) lendAll(box, name);
  return { box, attempts: running(box) };
}

const RETRY = { retry: { maxAttempts: 3 } } as const;

describe('a gang', () => {
  test('begins when the last worker that it needs has room: all of its members in one step, each on a worker of its own', () => {
    const box = three();
    lendAll(box, 'w1', 4);
    lendAll(box, 'w2', 4);
    expect(members(box)).toBe('ready ready ready');
    lendAll(box, 'w3', 4);
    expect(members(box)).toBe('running running running');
    const claims = box.changes('AttemptClaimed');
    expect(new Set(claims.map(({ workerId }) => workerId)).size).toBe(3);
    expect(new Set(claims.map(({ at }) => at)).size).toBe(1);
  });

  test('is told its rank and where the others run', () => {
    const { box } = begin();
    const sent = box.effects.flatMap((effect) => (effect.kind === 'SendAssignment' ? [effect] : []));
    const hosts = sent.map(({ workerId }) => `${workerId}.example`);
    expect(sent.map(({ booking }) => booking?.gang)).toEqual([0, 1, 2].map((rank) => ({ rank, hosts })));
  });

  test('members may share a worker where the definition says so, and fill one after the other', () => {
    const box = scenario({ dag: gang(3, {}, { share: true }), workers: ['w1', 'w2'] });
    lendAll(box, 'w1', 2);
    expect(members(box)).toBe('ready ready ready');
    lendAll(box, 'w2', 2);
    expect(members(box)).toBe('running running running');
    expect(box.worker('w1').assigned.length + box.worker('w2').assigned.length).toBe(3);
  });

  test('asks for what each member needs, on each worker', () => {
    const placement = { gang: { size: 3 }, resources: { gpu: 1 } };
    const box = three({ placement });
    lendAll(box, 'w1', 2, { gpu: 2 });
    lendAll(box, 'w2', 2, { gpu: 1 });
    lendAll(box, 'w3', 2);
    expect(members(box)).toBe('ready ready ready');
    lendAll(box, 'w4', 2, { gpu: 1 });
    expect(members(box)).toBe('running running running');
  });

  test('holds back nobody else while it waits (I47)', () => {
    const box = three();
    box.dagId = box.deploy(dag([task('plain')]), 'other');
    box.submit();
    lendAll(box, 'w1', 1);
    expect(running(box).map(({ task: name }) => name)).toEqual(['plain']);
  });

  test.each([
    ['of its dag', {}, { maxActiveTasks: 3 }],
    ['of its task', { maxActive: 3 }, {}],
    ['of its run', {}, { maxActiveTasksPerRun: 3 }],
  ])('takes its slots of a limit %s together (I44)', (_, options, ofDag) => {
    const box = scenario({ dag: gang(3, options, {}, ofDag), workers: ['w1', 'w2', 'w3', 'w4'], runs: 2 });
    for (const name of box.workers.keys()) lendAll(box, name, 4);
    const isPerRun = 'maxActiveTasksPerRun' in ofDag;
    expect(running(box)).toHaveLength(isPerRun ? 6 : 3);
    if (isPerRun) return;
    const [first, second, third] = running(box);
    box.report(first!, 'succeeded');
    box.report(second!, 'succeeded');
    expect(running(box)).toHaveLength(1);
    box.report(third!, 'succeeded');
    // What comes after the first gang goes first, and takes a slot.
    box.report(running(box)[0]!, 'succeeded');
    expect(box.changes('AttemptClaimed').filter(({ taskNo }) => taskNo > 1)).toHaveLength(6);
  });

  test('has succeeded when all of its members have', () => {
    const { box, attempts } = begin();
    for (const attempt of attempts) {
      expect(box.task('after').state).toBe('blocked');
      expect(box.report(attempt, 'succeeded')).toEqual(accepted);
    }
    expect(box.task('fit').state).toBe('succeeded');
  });
});

describe('a try of a gang', () => {
  test('ends with the first member that fails: the others are stopped in the same commit, and all of them run again', () => {
    const { box, attempts } = begin(RETRY);
    box.report(attempts[1]!, 'transient');
    expect(members(box)).toBe('retrying retrying retrying');
    const ends = box.changes('AttemptEnded');
    expect(ends.map(({ outcome, code }) => [outcome, code])).toEqual([
      ['transient', null],
      ['lost', 'gang'],
      ['lost', 'gang'],
    ]);
    expect(box.report(attempts[0]!, 'succeeded')).toMatchObject({ ok: false, code: 'STALE_TOKEN' });
    box.advance('1m');
    for (const name of ['w1', 'w2', 'w3']) lendAll(box, name);
    expect(members(box)).toBe('running running running');
  });

  test('takes back the success of a member that was done before', () => {
    const { box, attempts } = begin(RETRY);
    box.report(attempts[0]!, 'succeeded');
    expect(members(box)).toBe('succeeded running running');
    box.report(attempts[1]!, 'transient');
    expect(members(box)).toBe('ready retrying retrying');
    lendAll(box, 'w4', 3);
    expect(members(box)).toBe('ready retrying retrying');
    box.advance('1m');
    for (const name of ['w1', 'w2', 'w3']) lendAll(box, name);
    expect(members(box)).toBe('running running running');
  });

  test('counts once, whichever member ended it (I39)', () => {
    const { box } = begin(RETRY);
    const fail = (rank: number) => {
      const attempt = running(box).find(({ task: name }) => name === `fit[${rank}]`)!;
      box.report(attempt, 'transient');
      if (rank === 2) return;
      box.advance('2m');
      for (const name of ['w1', 'w2', 'w3']) lendAll(box, name);
    };
    fail(0);
    expect(members(box)).toBe('running running running');
    fail(1);
    expect(members(box)).toBe('running running running');
    fail(2);
    expect(members(box)).toBe('cancelled cancelled failed');
    expect(box.changes('DeadLetterWritten')).toHaveLength(1);
    expect(box.run()).toMatchObject({ outcome: 'failed' });
  });

  test('that was the last one leaves one failed member, and cancels the others', () => {
    const { box, attempts } = begin();
    box.report(attempts[0]!, 'succeeded');
    box.report(attempts[2]!, 'permanent');
    expect(members(box)).toBe('succeeded cancelled failed');
    expect(box.task('after').state).toBe('upstream_failed');
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'failed' });
  });

  test('goes back as a whole when a worker refuses its member, at no cost (I26)', () => {
    const { box, attempts } = begin();
    box.feed({ kind: 'RefuseClaim', claim: attempts[1]!.claim, workerId: attempts[1]!.worker.id });
    expect(box.changes('AttemptEnded').map(({ code }) => code)).toEqual(['gang', 'gang']);
    for (const name of ['w1', 'w2', 'w3']) lendAll(box, name);
    expect(members(box)).toBe('running running running');
    for (const attempt of running(box)) box.report(attempt, 'succeeded');
    expect(box.task('fit').state).toBe('succeeded');
  });

  test('ends for all of its members when their run is retried, cleared or marked by hand', () => {
    const { box, attempts } = begin();
    box.report(attempts[0]!, 'succeeded');
    box.report(attempts[2]!, 'permanent');
    expect(box.retry('fit[2]')).toMatchObject({ ok: true });
    for (const name of ['w1', 'w2', 'w3']) lendAll(box, name);
    expect(members(box)).toBe('running running running');
    expect(box.mark('fit[0]', 'cancelled')).toMatchObject({ ok: true });
    expect(members(box)).toBe('cancelled cancelled cancelled');
  });

  test('survives a handover, and a new owner ends it as the old one would', () => {
    const { box, attempts } = begin(RETRY);
    box.killOwner().advance('6s');
    expect(members(box)).toBe('running running running');
    box.report(attempts[1]!, 'transient');
    expect(members(box)).toBe('retrying retrying retrying');
  });
});

test('a critical task that needs one of its workers stops all of its members', () => {
  const { box } = begin();
  box.dagId = box.deploy(dag([task('urgent')], { priority: 'critical' }), 'urgent');
  box.submit();
  const kills = [...box.workers.values()].flatMap(({ killed }) => killed.map(({ reason }) => reason));
  expect(kills).toEqual(['preempted', 'preempted', 'preempted']);
});

test('a run that is paused and resumed, or changes its priority, queues its gang once', () => {
  const box = three();
  const runId = box.lastRun();
  box.feed({ kind: 'SetPaused', tenantId: 1 as never, runId, taskNo: null, paused: true, actor: box.actor });
  for (const name of ['w1', 'w2', 'w3']) lendAll(box, name);
  expect(members(box)).toBe('ready ready ready');
  box.feed({ kind: 'SetPaused', tenantId: 1 as never, runId, taskNo: null, paused: false, actor: box.actor });
  expect(members(box)).toBe('running running running');
  expect(box.changes('AttemptClaimed')).toHaveLength(3);
});

describe('slots that are lent for one decision', () => {
  const lendOne = (box: Scenario, name: string) =>
    box.lend(box.worker(name), 1, false, 0, { traits: traits(name, 1), isWhole: true });

  test('are kept for a moment while a gang waits for more of them', () => {
    const box = three();
    lendOne(box, 'w1');
    lendOne(box, 'w2');
    expect(box.worker('w1').returned).toBe(0);
    lendOne(box, 'w3');
    expect(members(box)).toBe('running running running');
  });

  test('go back when too few of them come', () => {
    const box = three();
    lendOne(box, 'w1');
    lendOne(box, 'w2');
    box.advance('150ms');
    expect(box.worker('w1').returned).toBe(0);
    box.advance('100ms');
    expect([box.worker('w1').returned, box.worker('w2').returned]).toEqual([1, 1]);
    lendOne(box, 'w3');
    expect(members(box)).toBe('ready ready ready');
  });

  test('go back at once where no gang waits', () => {
    const box = scenario({ dag: dag([task('plain')]), workers: ['w1'] });
    box.lend(box.worker(), 2, false);
    expect(box.worker().returned).toBe(1);
  });
});
