import { describe, expect, test } from 'vitest';
import type { TaskNo } from '../../model/ids.ts';
import { childUid } from '../../model/run/child-uid.ts';
import { CallLines } from '../../testing/call-lines.ts';
import { accepted, scenario, TENANT } from '../../testing/scenario.ts';
import { chain, dag, job, type TaskOptions, task } from '../../testing/specs.ts';
import { MAX_DEPTH } from './park-calls.ts';

const call = (options: TaskOptions = {}) => task('call', [], { child: { dag: 'other', wait: true }, ...options });
const NO_ANSWER = { op: 'lt', left: { op: 'params', fact: 0 }, right: { op: 'value', value: 1 } } as const;
const stale = { ok: false, code: 'STALE_TOKEN' };

/** A run that calls `other`, a job, and goes on after it. */
function calling(options: TaskOptions = {}, more: Parameters<typeof dag>[1] = {}) {
  const box = scenario();
  const other = box.deploy(job(), 'other');
  box.dagId = box.deploy(dag([call(options), task('after', [0])], more), 'parent');
  box.submit();
  return { box, lines: new CallLines(box, { other }), parent: box.lastRun() };
}

describe('a task that runs another dag', () => {
  test('waits without worker and slot, and is done when that run is (I54)', () => {
    const { box, lines, parent } = calling();
    expect(box.task('call', parent).state).toBe('waiting');
    expect(box.tryClaim()).toBeNull();
    lines.deliver();
    expect(lines.children()).toHaveLength(1);
    expect(box.changes('RunCreated').at(-1)).toMatchObject({ cause: 'parent', parent: { runId: parent, depth: 1 } });
    const work = box.claim('job');
    lines.deliver();
    expect(box.task('call', parent).state).toBe('waiting');
    box.report(work, 'succeeded', { output: '1' });
    lines.deliver();
    expect(box.task('call', parent)).toMatchObject({ state: 'succeeded', attemptCount: 1 });
    expect(box.report(box.claim('after'), 'succeeded')).toEqual(accepted);
    expect(box.run(parent)).toMatchObject({ phase: 'ended', outcome: 'succeeded' });
  });

  test('takes the priority of its run along, and tells which leaves left something', () => {
    const { box, lines } = calling();
    box.submit({ priority: 'high' });
    lines.deliver();
    expect(box.changes('RunCreated').at(-1)).toMatchObject({ priority: 'high' });
    box.report(box.claim('job'), 'succeeded');
    expect(lines.take().at(-1)).toMatchObject({ kind: 'TellParent', outputs: [{ name: 'job' }], end: 'succeeded' });
  });

  test('is one run however often the call arrives, whoever is the owner (I11)', () => {
    const { box, lines, parent } = calling();
    const [first] = lines.take();
    if (first?.kind !== 'SendCall') throw new Error('There was no call.');
    for (let i = 0; i < 3; i++) lines.call(first);
    box.killOwner();
    lines.call(first);
    box.advance('30s');
    lines.deliver();
    box.report(box.claim('job'), 'succeeded');
    box.killOwner();
    lines.call(first);
    expect(lines.children()).toHaveLength(1);
    lines.deliver();
    lines.call(first);
    lines.deliver();
    expect(lines.children()).toHaveLength(1);
    expect(box.task('call', parent)).toMatchObject({ state: 'succeeded', attemptCount: 1 });
  });

  test('is sent again until it has arrived, also by the next owner (I72)', () => {
    const { box, lines, parent } = calling();
    lines.take();
    box.advance('21s');
    expect(lines.take()).toMatchObject([{ kind: 'SendCall', step: 'ask' }]);
    box.killOwner().advance('2s');
    lines.deliver();
    expect(lines.children()).toHaveLength(1);
    expect(box.task('call', parent).state).toBe('waiting');
  });

  test('learns of the end though word of it was lost, once (I51)', () => {
    const { box, lines, parent } = calling();
    lines.deliver();
    box.report(box.claim('job'), 'succeeded');
    const [lost] = lines.take();
    box.killOwner().advance('2s');
    lines.deliver();
    expect(box.task('call', parent).state).toBe('succeeded');
    if (lost?.kind !== 'TellParent') throw new Error('There was no word.');
    expect(lines.tell(lost)).toMatchObject(stale);
  });

  test('whose run has failed fails', () => {
    const { box, lines, parent } = calling();
    lines.deliver();
    box.report(box.claim('job'), 'permanent');
    lines.deliver();
    expect(box.changes('AttemptEnded').at(-1)).toMatchObject({
      runId: parent,
      outcome: 'transient',
      taskState: 'failed',
      error: 'failed job',
    });
    expect(box.run(parent)).toMatchObject({ outcome: 'failed' });
  });

  test('makes a new run for each attempt, and no older one speaks for it (I21)', () => {
    const { box, lines, parent } = calling({ retry: { maxAttempts: 2, baseMs: 0 } });
    lines.deliver();
    box.report(box.claim('job'), 'permanent');
    const [old] = lines.take();
    if (old?.kind !== 'TellParent') throw new Error('There was no word.');
    lines.tell(old);
    lines.deliver();
    expect(lines.children()).toHaveLength(2);
    expect(lines.tell(old)).toMatchObject(stale);
    box.report(box.claim('job'), 'succeeded');
    lines.deliver();
    expect(box.task('call', parent)).toMatchObject({ state: 'succeeded', attemptCount: 2, fence: 2 });
  });

  test('whose run somebody cancelled has failed for good', () => {
    const { box, lines } = calling({ retry: { maxAttempts: 3, baseMs: 0 } });
    lines.deliver();
    box.cancel(lines.children()[0]);
    lines.deliver();
    expect(box.changes('AttemptEnded').at(-1)).toMatchObject({ outcome: 'permanent', taskState: 'failed' });
  });

  test('retried by hand makes a new run; what becomes of the old one by hand does not matter', () => {
    const { box, lines, parent } = calling();
    lines.deliver();
    const [child] = lines.children();
    box.report(box.claim('job'), 'permanent');
    lines.deliver();
    expect(box.retry('job', child)).toMatchObject({ ok: true });
    box.report(box.claim('job'), 'succeeded');
    lines.deliver();
    expect(box.run(parent)).toMatchObject({ phase: 'ended', outcome: 'failed' });
    expect(box.retry('call', parent)).toMatchObject({ ok: true });
    lines.deliver();
    expect(lines.children()).toHaveLength(2);
    box.report(box.claim('job'), 'succeeded');
    lines.deliver();
    expect(box.task('call', parent).state).toBe('succeeded');
  });

  test('of a dag that is not there, or is retired, has failed for good', () => {
    const { box, lines } = calling();
    box.retire(lines.dags['other']);
    lines.deliver();
    expect(box.changes('AttemptEnded')).toMatchObject([{ outcome: 'permanent', taskState: 'failed' }]);
    // What is left is a run that never began, so that the same call finds nothing to begin when it comes once more.
    expect(lines.children().map((child) => box.run(child))).toMatchObject([{ phase: 'ended', outcome: 'cancelled' }]);
    expect(box.tryClaim()).toBeNull();
  });

  test('waits for room like any run of the dag that it calls (I7)', () => {
    const { box, lines, parent } = calling();
    lines.deliver();
    const other = box.deploy(job({ maxActiveRuns: 1 }), 'other');
    expect(other).toBe(lines.dags['other']);
    box.submit();
    lines.deliver();
    expect(box.run(lines.children()[1])).toMatchObject({ admitted: false });
    box.report(box.claim('job'), 'succeeded');
    lines.deliver();
    expect(box.run(lines.children()[1])).toMatchObject({ admitted: true });
    expect(box.task('call', parent).state).toBe('succeeded');
  });

  test('that waits for nothing has succeeded with the run that it made, which goes its own way', () => {
    const { box, lines, parent } = calling({ child: { dag: 'other', wait: false } });
    lines.deliver();
    expect(box.task('call', parent).state).toBe('succeeded');
    box.cancel(parent);
    lines.deliver();
    box.report(box.claim('job'), 'succeeded');
    expect(lines.take()).toEqual([]);
    expect(box.run(lines.children()[0])).toMatchObject({ outcome: 'succeeded' });
  });

  test('comes to an end when a dag calls itself', () => {
    const box = scenario();
    box.dagId = box.deploy(dag([task('call', [], { child: { dag: 'self', wait: true } })]), 'self');
    box.submit();
    const lines = new CallLines(box, { self: box.dagId }).deliver();
    expect(lines.children()).toHaveLength(MAX_DEPTH);
    expect(box.run(box.runIds[0])).toMatchObject({ phase: 'ended', outcome: 'failed' });
    expect(box.changes('AttemptEnded')[0]).toMatchObject({ outcome: 'permanent' });
  });
});

describe('what ends a call ends its run (I42)', () => {
  test('a cancel of the parent, which ends when the child has', () => {
    const { box, lines, parent } = calling();
    lines.deliver();
    const work = box.claim('job');
    expect(box.cancel(parent)).toMatchObject({ ok: true });
    lines.deliver();
    expect(box.run(parent)).toMatchObject({ phase: 'closing', outcome: 'cancelled' });
    expect(work.worker.killed).toMatchObject([{ reason: 'cancelled' }]);
    box.report(work, 'cancelled');
    lines.deliver();
    expect(box.run(parent)).toMatchObject({ phase: 'ended', outcome: 'cancelled' });
    expect(box.run(lines.children()[0])).toMatchObject({ phase: 'ended', outcome: 'cancelled' });
  });

  test('also where the cancel was lost, over a change of owners', () => {
    const { box, lines, parent } = calling();
    lines.deliver();
    box.cancel(parent);
    lines.take();
    box.killOwner().advance('2s');
    lines.deliver();
    expect(box.run(parent)).toMatchObject({ phase: 'ended', outcome: 'cancelled' });
    expect(box.run(lines.children()[0])).toMatchObject({ phase: 'ended', outcome: 'cancelled' });
  });

  test('also where the call comes after the cancel: there is a run, which never began', () => {
    const { box, lines, parent } = calling();
    const [late] = lines.take();
    if (late?.kind !== 'SendCall') throw new Error('There was no call.');
    box.cancel(parent);
    lines.deliver();
    expect(box.run(parent)).toMatchObject({ phase: 'ended', outcome: 'cancelled' });
    lines.call(late);
    lines.deliver();
    expect(lines.children()).toHaveLength(1);
    expect(box.run(lines.children()[0])).toMatchObject({ phase: 'ended', outcome: 'cancelled' });
    expect(box.tryClaim()).toBeNull();
  });

  test('also where the dag is retired meanwhile, and revived before the call comes (I11)', () => {
    const { box, lines, parent } = calling();
    const [late] = lines.take();
    if (late?.kind !== 'SendCall') throw new Error('There was no call.');
    box.retire(lines.dags['other']);
    box.cancel(parent);
    lines.deliver();
    expect(box.run(parent)).toMatchObject({ phase: 'ended', outcome: 'cancelled' });
    box.deploy(job(), 'other');
    lines.call(late);
    expect(lines.children()).toHaveLength(1);
    expect(box.run(lines.children()[0])).toMatchObject({ phase: 'ended', outcome: 'cancelled' });
    expect(box.tryClaim()).toBeNull();
  });

  test('also where it was refused, and comes once more when the dag is back (I42)', () => {
    const { box, lines, parent } = calling();
    const [late] = lines.take();
    if (late?.kind !== 'SendCall') throw new Error('There was no call.');
    box.retire(lines.dags['other']);
    lines.call(late);
    lines.deliver();
    expect(box.changes('AttemptEnded')).toMatchObject([{ outcome: 'permanent', code: 'child:refused' }]);
    expect(box.run(parent)).toMatchObject({ phase: 'ended', outcome: 'failed' });
    box.deploy(job(), 'other');
    lines.call(late);
    expect(box.tryClaim()).toBeNull();
  });

  test.each([
    ['runs no hook', { hook: { of: null, on: 'after' } }],
    ['is cancelled, though without params it could not but fail', { when: { text: '…', expression: NO_ANSWER } }],
  ] as const)('and what is left of a call that was refused %s', (_, options) => {
    const { box, lines } = calling();
    box.deploy(
      dag([task('job'), task('after', [], options)], { onFailure: 'fail_fast', paramFacts: [['n']] }),
      'other',
    );
    box.retire(lines.dags['other']);
    lines.deliver();
    expect(lines.children().map((child) => box.run(child))).toMatchObject([{ phase: 'ended', outcome: 'cancelled' }]);
    expect(box.tryClaim()).toBeNull();
  });

  test('a failure elsewhere, where the run must not outlive it', () => {
    const box = scenario();
    const other = box.deploy(job(), 'other');
    box.dagId = box.deploy(dag([call(), task('fails')], { onFailure: 'fail_fast' }), 'parent');
    box.submit();
    const parent = box.lastRun();
    const work = box.claim('fails');
    const lines = new CallLines(box, { other }).deliver();
    box.report(work, 'permanent');
    lines.deliver();
    expect(box.run(lines.children()[0])).toMatchObject({ phase: 'ended', outcome: 'cancelled' });
    expect(box.run(parent)).toMatchObject({ phase: 'ended', outcome: 'failed' });
  });

  test('the time of the whole task, also when that of the attempt is over before the run has ended (I41)', () => {
    const retry = { maxAttempts: 5, baseMs: 0 };
    const { box, lines, parent } = calling({ totalTimeoutMs: 50_000, timeoutMs: 60_000, retry });
    lines.deliver();
    const work = box.claim('job');
    box.advance('50s', [work.worker]);
    lines.deliver();
    box.advance('11s', [work.worker]);
    lines.deliver();
    box.report(work, 'cancelled');
    lines.deliver();
    expect(box.task('call', parent)).toMatchObject({ state: 'failed', attemptCount: 1 });
  });

  test.each([false, true])('its timeout, which counts from the call (I41); another owner meanwhile: %s', (isKilled) => {
    const { box, lines, parent } = calling({ timeoutMs: 60_000 });
    lines.deliver();
    const work = box.claim('job');
    if (isKilled) box.advance('30s', [work.worker]).killOwner().heartbeat(work.worker).advance('30s', [work.worker]);
    else box.advance('60s', [work.worker]);
    lines.deliver();
    expect(work.worker.killed).toMatchObject([{ reason: 'cancelled' }]);
    expect(box.task('call', parent).state).toBe('waiting');
    box.report(work, 'cancelled');
    lines.deliver();
    expect(box.changes('AttemptEnded').at(-1)).toMatchObject({
      runId: parent,
      outcome: 'timeout',
      taskState: 'failed',
    });
  });

  test('the whole time of the task, though its child fails by itself before it is stopped (I41)', () => {
    const retry = { maxAttempts: 5, minMs: 0, maxMs: 0 };
    const { box, lines } = calling({ totalTimeoutMs: 60_000, retry });
    lines.deliver();
    const work = box.claim('job');
    box.advance('60s', [work.worker]);
    box.report(work, 'permanent');
    lines.deliver();
    const end = { outcome: 'timeout', code: 'timeout:total', taskState: 'failed' };
    expect(box.changes('AttemptEnded').at(-1)).toMatchObject(end);
  });

  test('and a child that was quicker than the stop has its result', () => {
    const { box, lines, parent } = calling({ timeoutMs: 60_000 });
    lines.deliver();
    box.report(box.claim('job'), 'succeeded');
    const [word] = lines.take();
    if (word?.kind !== 'TellParent') throw new Error('There was no word.');
    box.advance('60s');
    lines.tell(word);
    expect(box.task('call', parent).state).toBe('succeeded');
  });

  test('but one that it does not wait for has begun, and goes its own way', () => {
    const { box, lines, parent } = calling({ child: { dag: 'other', wait: false } });
    const [begin] = lines.take();
    if (begin?.kind !== 'SendCall') throw new Error('There was no call.');
    // It has arrived, and that it has was lost.
    const { claim, version, claimedAt, priority, runUid, depth } = begin;
    const parentRef = { ...claim, uid: runUid, task: 'call', depth, waits: false };
    const to = { shard: box.shard, tenantId: version.dag.tenantId, dagId: lines.dags['other']!, priority };
    const uid = childUid(box.shard, claim, claimedAt);
    box.feed({ kind: 'BeginChild', ...to, uid, parent: parentRef, params: null });
    box.cancel(parent);
    lines.deliver();
    expect(box.run(parent)).toMatchObject({ phase: 'ended', outcome: 'cancelled' });
    box.report(box.claim('job'), 'succeeded');
    expect(box.run(lines.children()[0])).toMatchObject({ outcome: 'succeeded' });
  });

  test('a child that is being set aside is told of as such, before that is stored', () => {
    const { box, lines } = calling();
    lines.deliver();
    box.advance('21s');
    const asked = lines.take().find(({ kind }) => kind === 'SendCall');
    if (asked?.kind !== 'SendCall') throw new Error('Nobody asked.');
    box.hold().strike(lines.children()[0], true);
    lines.call(asked);
    box.settle();
    expect(lines.take()).toMatchObject([{ kind: 'TellParent', end: 'set_aside' }]);
  });

  test('a child that was set aside fails the task: nothing else will end it (I57)', () => {
    const { box, lines, parent } = calling();
    lines.deliver();
    box.strike(lines.children()[0], true);
    box.advance('21s');
    lines.deliver();
    expect(box.changes('AttemptEnded').at(-1)).toMatchObject({
      runId: parent,
      outcome: 'permanent',
      taskState: 'failed',
    });
  });
});

describe('with what else a dag may have', () => {
  test('a mapped call makes a run for each item, and a run that ends in a map has a list as its output (I34)', () => {
    const box = scenario();
    const map = { over: [{ from: 'list', length: 2 } as const], mode: 'product' as const };
    const groups = [{ name: 'call', parent: null, map }];
    const other = box.deploy(job(), 'other');
    const middle = box.deploy(dag([call({ group: 0 })], { groups }), 'middle');
    const parent = dag([task('call', [], { child: { dag: 'middle', wait: true } })]);
    box.dagId = box.deploy(parent, 'parent');
    box.submit();
    const lines = new CallLines(box, { other, middle }).deliver();
    expect(lines.children()).toHaveLength(3);
    box.report(box.claim('job'), 'succeeded');
    lines.deliver();
    box.killOwner().advance('2s');
    lines.deliver();
    box.report(box.claim('job'), 'succeeded');
    for (const word of lines.take()) if (word.kind === 'TellParent') lines.tell(word);
    expect(lines.take().filter(({ kind }) => kind === 'TellParent')).toMatchObject([
      { dag: 'middle', outputs: [{ name: 'call', at: { of: 'instances', ranges: [{ count: 2 }], except: [] } }] },
    ]);
    expect(lines.children()).toHaveLength(3);
  });

  test('a call of an item whose map is removed in the same step is not made', () => {
    const box = scenario();
    const other = box.deploy(job(), 'other');
    const map = { over: [{ from: 'task', task: 0, fact: 0 } as const], mode: 'product' as const };
    const tasks = [task('list', [], { facts: [[]] }), call({ group: 0 })];
    box.dagId = box.deploy(dag(tasks, { groups: [{ name: 'call', parent: null, map }] }), 'parent');
    box.submit();
    const runId = box.lastRun();
    const work = box.claim('list');
    box.setPaused(null, true, runId);
    box.report(work, 'succeeded', { output: '[1,2]' });
    const who = { tenantId: TENANT, runId, actor: box.actor };
    const select = { tasks: [0 as TaskNo], states: null, downstream: false, upstream: false };
    const { answers } = box.node.decide([
      { kind: 'SetPaused', ...who, taskNo: null, paused: false },
      { kind: 'ClearTasks', ...who, select, force: false, dryRun: false },
    ]);
    expect(answers).toMatchObject([{ ok: true }, { ok: true }]);
    box.node.work();
    expect(new CallLines(box, { other }).deliver().children()).toEqual([]);
    expect(box.task('call', runId).state).toBe('blocked');
  });

  test('a teardown may be a call: a cancelled run waits for it, and only force stops it (I33)', () => {
    for (const force of [false, true]) {
      const box = scenario();
      const other = box.deploy(job(), 'other');
      const drop = { ...call({ teardown: [0] }), needs: [0, 1] };
      box.dagId = box.deploy(dag([task('make', [], { setup: true }), task('use', [0]), drop]), 'parent');
      box.submit();
      const parent = box.lastRun();
      const lines = new CallLines(box, { other });
      box.report(box.claim('make'), 'succeeded');
      box.cancel(parent);
      lines.deliver();
      expect(lines.children()).toHaveLength(1);
      box.cancel(parent);
      lines.deliver();
      expect(box.run(parent)).toMatchObject({ phase: 'closing', outcome: 'cancelled' });
      if (force) box.feed({ kind: 'CancelRun', tenantId: TENANT, runId: parent, force: true, actor: box.actor });
      else box.report(box.claim('job'), 'succeeded');
      lines.deliver();
      expect(box.run(parent)).toMatchObject({ phase: 'ended', outcome: 'cancelled' });
      expect(box.run(lines.children()[0])).toMatchObject({ outcome: force ? 'cancelled' : 'succeeded' });
    }
  });

  test('force is passed on: a child that is closing is ended, too (I42)', () => {
    const box = scenario();
    const tasks = [task('make', [], { setup: true }), task('drop', [0], { teardown: [0] })];
    const other = box.deploy(dag(tasks), 'other');
    box.dagId = box.deploy(dag([call()]), 'parent');
    box.submit();
    const parent = box.lastRun();
    const lines = new CallLines(box, { other }).deliver();
    box.report(box.claim('make'), 'succeeded');
    const drop = box.claim('drop');
    box.cancel(parent);
    lines.deliver();
    expect(drop.worker.killed).toEqual([]);
    box.feed({ kind: 'CancelRun', tenantId: TENANT, runId: parent, force: true, actor: box.actor });
    lines.deliver();
    // It has no ordinary task left, so its outcome is its own; what closes it is stopped all the same.
    expect(drop.worker.killed).toMatchObject([{ reason: 'cancelled' }]);
    box.report(drop, 'cancelled');
    lines.deliver();
    expect(box.run(lines.children()[0])).toMatchObject({ phase: 'ended' });
    expect(box.run(parent)).toMatchObject({ phase: 'ended', outcome: 'cancelled' });
  });

  test('what a run is for is what its leaves leave; a task that another needs is not told of', () => {
    const box = scenario();
    const other = box.deploy(chain('first', 'last'), 'other');
    box.dagId = box.deploy(dag([call()]), 'parent');
    box.submit();
    const lines = new CallLines(box, { other }).deliver();
    for (const name of ['first', 'last']) box.report(box.claim(name), 'succeeded');
    expect(lines.take()).toMatchObject([{ outputs: [{ name: 'last', at: { of: 'task', no: 1 } }] }]);
  });

  test('a call that goes on after a pause waits for the breaker that has opened meanwhile (I44)', () => {
    const causeBreaker = { tasks: 2, withinMs: 60_000, pauseMs: 20_000, maxPauseMs: 20_000 };
    const retry = { maxAttempts: 50, minMs: 1_000, baseMs: 1_000, maxMs: 1_000 };
    const box = scenario({ settings: { causeBreaker } });
    const other = box.deploy(job(), 'other');
    box.dagId = box.deploy(dag([call({ timeoutMs: 1_000, retry })]), 'parent');
    const lines = new CallLines(box, { other });
    const callAndFail = () => {
      box.submit();
      const runId = box.lastRun();
      lines.deliver();
      box.advance('1s');
      lines.deliver();
      return runId;
    };
    const paused = callAndFail();
    box.setPaused(null, true, paused);
    box.advance('1s');
    expect(box.task('call', paused)).toMatchObject({ state: 'ready', attemptCount: 1 });
    callAndFail();
    expect(box.changes('BreakerSet').map(({ state }) => state)).toEqual(['open']);
    box.setPaused(null, false, paused);
    box.advance('1s');
    expect(box.task('call', paused)).toMatchObject({ state: 'retrying', attemptCount: 1 });
  });
});
