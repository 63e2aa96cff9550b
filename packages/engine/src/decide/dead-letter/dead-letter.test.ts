import { describe, expect, test } from 'vitest';
import type { DeadLetterRef } from '../../model/dead-letter.ts';
import { type Scenario, scenario, TENANT } from '../../testing/scenario.ts';
import { chain, dag, job, task } from '../../testing/specs.ts';

const POISON = { count: 3, withinMs: 60_000, underMs: 1_000 };
const RETRY = { maxAttempts: 10, baseMs: 2_000, minMs: 2_000, maxMs: 2_000 };

const refOf = (box: Scenario): DeadLetterRef => {
  const { runId, taskNo, attemptNo } = box.changes('DeadLetterWritten').at(-1)!;
  return { runId, taskNo, attemptNo };
};
const replay = (box: Scenario, deadLetter = refOf(box), tenantId = TENANT) =>
  box.feed({ kind: 'ReplayDeadLetter', tenantId, deadLetter, actor: box.actor });
const discard = (box: Scenario, deadLetter = refOf(box)) =>
  box.feed({
    kind: 'CloseDeadLetters',
    shard: box.shard,
    tenantId: TENANT,
    deadLetters: [deadLetter],
    as: 'discarded',
    actor: box.actor,
  });
const statesOf = (box: Scenario) => [...box.node.store.deadLetters.values()].map(({ state }) => state);

/** Fails after so long, and its backoff passes. */
function fail(box: Scenario, tookMs = 0, error = 'broken') {
  const attempt = box.claim('job');
  box.advance(`${tookMs}ms`, [box.worker()]);
  box.report(attempt, 'transient', { error });
  box.advance('2s');
}

describe('what fails for good leaves one letter, in the commit of its end (I43)', () => {
  test.each([
    ['permanent', 'permanent', 1],
    ['transient', 'retries', 1],
    ['timeout', 'retries', 1],
    ['cancelled', 'retries', 1], // by its worker, which had to stop
  ] as const)('ended %s: %s', (outcome, reason, attemptNo) => {
    const box = scenario({ dag: job() });
    box.report(box.claim('job'), outcome, { error: 'row 7 is broken\n  at load' });
    const deadLetters = box.changes('DeadLetterWritten');
    expect(deadLetters).toHaveLength(1);
    expect(deadLetters[0]).toMatchObject({ reason, outcome, attemptNo, taskName: 'job', error: 'row 7 is broken' });
    const kinds = box.node.journal.map(({ kind }) => kind);
    expect(kinds.indexOf('DeadLetterWritten')).toBe(kinds.indexOf('AttemptEnded') + 1);
  });

  test('its retries used up: with the number of its last attempt', () => {
    const box = scenario({ dag: job({ retry: { maxAttempts: 2, baseMs: 1_000 } }) });
    fail(box);
    expect(box.changes('DeadLetterWritten')).toEqual([]);
    fail(box);
    expect(box.changes('DeadLetterWritten')).toMatchObject([{ reason: 'retries', attemptNo: 2 }]);
  });

  test('its limit of lost attempts reached (I28)', () => {
    const box = scenario({ dag: job({ retry: { maxLost: 2 } }) });
    for (let i = 0; i < 2; i++) {
      box.claim('job');
      box.heartbeat().advance('16s');
    }
    expect(box.changes('DeadLetterWritten')).toMatchObject([{ reason: 'lost', outcome: 'lost', attemptNo: 2 }]);
  });

  test('none for what never ran because of it, nor for tasks of a run that was cancelled', () => {
    const box = scenario({ dag: chain('a', 'b') });
    box.report(box.claim('a'), 'permanent');
    expect(box.changes('DeadLetterWritten')).toHaveLength(1);
    const other = scenario({ dag: job() });
    const attempt = other.claim('job');
    other.cancel();
    other.report(attempt, 'transient');
    expect(other.changes('DeadLetterWritten')).toEqual([]);
  });
});

describe('poison', () => {
  const poisonous = job({ retry: RETRY, poison: POISON });

  test('a task that fails at once three times within a minute ends, with retries left', () => {
    const box = scenario({ dag: poisonous });
    fail(box);
    fail(box);
    expect(box.task('job').attemptCount).toBe(2);
    fail(box);
    expect(box.run().outcome).toBe('failed');
    expect(box.changes('DeadLetterWritten')).toMatchObject([{ reason: 'poison', attemptNo: 3 }]);
  });

  test('the count survives a handover', () => {
    const box = scenario({ dag: poisonous });
    fail(box);
    box.killOwner();
    fail(box);
    box.killOwner();
    fail(box);
    expect(box.changes('DeadLetterWritten')).toMatchObject([{ reason: 'poison', attemptNo: 3 }]);
  });

  test.each<[string, (box: Scenario) => void]>([
    ['one took its time', (box) => [0, 0, 1_500, 0, 0].forEach((tookMs) => fail(box, tookMs))],
    ['they lie far apart', (box) => [0, 1, 2].forEach(() => (fail(box), box.advance('31s')))],
    [
      'others fail with the same',
      (box) => {
        box.submit();
        box.report(box.claim('job'), 'transient', { error: 'broken' });
        const other = box.claim('job');
        box.report(other, 'transient', { error: 'broken' });
        box.advance('2s');
        for (let i = 0; i < 3; i++) {
          fail(box);
          fail(box);
        }
      },
    ],
  ])('no poison when %s', (_, happen) => {
    const box = scenario({ dag: poisonous });
    happen(box);
    expect(box.changes('DeadLetterWritten')).toEqual([]);
  });

  test('no poison where the task does not ask for it', () => {
    const box = scenario({ dag: job({ retry: RETRY }) });
    for (let i = 0; i < 5; i++) fail(box);
    expect(box.task('job').attemptCount).toBe(5);
  });

  test('cleared by hand it begins anew', () => {
    const box = scenario({ dag: poisonous });
    fail(box);
    box.report(box.claim('job'), 'transient', { error: 'broken' });
    expect(box.retry('job')).toMatchObject({ ok: true });
    fail(box);
    fail(box);
    expect(box.changes('DeadLetterWritten')).toEqual([]);
    fail(box);
    expect(box.changes('DeadLetterWritten')).toMatchObject([{ reason: 'poison', attemptNo: 5 }]);
  });
});

describe('a letter is used once (I43)', () => {
  const failed = (): Scenario => {
    const box = scenario({ dag: job() });
    box.report(box.claim('job'), 'permanent', { error: 'x' });
    return box;
  };

  test('replayed, its task is tried again in its run, with fresh budgets; the second time is refused', () => {
    const box = failed();
    expect(replay(box)).toMatchObject({ ok: true });
    expect(box.task('job').state).toBe('ready');
    expect(statesOf(box)).toEqual(['replayed']);
    expect(replay(box)).toMatchObject({ ok: false, code: 'DEAD_LETTER_CLOSED' });
    box.report(box.claim('job'), 'succeeded');
    expect(box.run().outcome).toBe('succeeded');
    expect(box.changes('TaskCleared')).toHaveLength(1);
  });

  test('also when the first is not committed yet', () => {
    const box = failed();
    box.hold();
    expect(replay(box)).toMatchObject({ ok: true });
    expect(replay(box)).toMatchObject({ ok: false, code: 'DEAD_LETTER_CLOSED' });
    expect(discard(box)).toEqual({ ok: true, kind: 'closed', count: 0 });
    box.settle();
    expect(statesOf(box)).toEqual(['replayed']);
  });

  test('as a new run of the current version: one, whoever else asks', () => {
    const box = failed();
    const replays = refOf(box);
    box.deploy(job({ retry: { maxAttempts: 2 } }));
    box.hold();
    expect(box.feed(box.submission({ replays }))).toMatchObject({ ok: true });
    expect(box.feed(box.submission({ replays }))).toMatchObject({ ok: false, code: 'DEAD_LETTER_CLOSED' });
    expect(replay(box, replays)).toMatchObject({ ok: false, code: 'DEAD_LETTER_CLOSED' });
    box.settle();
    expect(box.feed(box.submission({ replays }))).toMatchObject({ ok: false, code: 'DEAD_LETTER_CLOSED' });
    expect(box.runIds).toHaveLength(2);
    expect(box.changes('DeadLetterClosed')).toMatchObject([{ as: 'replayed' }]);
  });

  test('tried again by hand its letter is closed by that, and a new failure writes a new one', () => {
    const box = failed();
    box.retry('job');
    expect(statesOf(box)).toEqual(['replayed']);
    box.report(box.claim('job'), 'permanent');
    expect(statesOf(box)).toEqual(['replayed', 'open']);
    expect(box.changes('DeadLetterWritten').map(({ attemptNo }) => attemptNo)).toEqual([1, 2]);
  });

  test('discarded it is neither replayed nor discarded again', () => {
    const box = failed();
    expect(discard(box)).toEqual({ ok: true, kind: 'closed', count: 1 });
    expect(discard(box)).toEqual({ ok: true, kind: 'closed', count: 0 });
    expect(replay(box)).toMatchObject({ ok: false, code: 'DEAD_LETTER_CLOSED', detail: 'discarded' });
  });

  test('one of another tenant is not there (I65)', () => {
    const box = failed();
    expect(replay(box, refOf(box), 2 as typeof TENANT)).toMatchObject({ ok: false, code: 'DEAD_LETTER_NOT_FOUND' });
    expect(replay(box, { ...refOf(box), attemptNo: 9 as DeadLetterRef['attemptNo'] })).toMatchObject({
      code: 'DEAD_LETTER_NOT_FOUND',
    });
  });
});

test('the letter of an instance has its name, and the fingerprint of all', () => {
  const map = { over: [{ from: 'task', task: 0, fact: 0 }], mode: 'product' } as const;
  const fanned = dag([task('list', [], { facts: [[]] }), task('work', [], { group: 0 })], {
    groups: [{ name: 'work', parent: null, map }],
  });
  const box = scenario({ dag: fanned });
  box.report(box.claim('list'), 'succeeded', { output: '["a","b"]' });
  for (const name of ['work[0]', 'work[1]']) box.report(box.claim(name), 'permanent', { error: 'no such row' });
  const deadLetters = box.changes('DeadLetterWritten');
  expect(deadLetters.map(({ taskName }) => taskName)).toEqual(['work[0]', 'work[1]']);
  expect(new Set(deadLetters.map(({ fingerprint }) => fingerprint)).size).toBe(1);
});
