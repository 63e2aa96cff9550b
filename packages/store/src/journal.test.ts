import { type Change, MARKS } from '@signalbox/engine';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  attemptOutcomes,
  breakerStates,
  causes,
  expiryReasons,
  letterReasons,
  letterStates,
  priorities,
  returnReasons,
  runOutcomes,
  skipReasons,
} from './codes.ts';
import { decodeChanges, encodeChanges, JOURNAL_FORMAT } from './journal.ts';

const text = fc.string({ unit: 'binary' });
const uint = fc.integer({ min: 0, max: 2 ** 31 });
const numbers = fc.array(uint, { maxLength: 4 });
const addedTasks = fc.array(
  fc.record({
    no: uint,
    by: uint,
    fence: uint,
    name: text,
    template: uint,
    needs: numbers,
    before: numbers,
    inputs: fc.option(text),
    isDropped: fc.boolean(),
  }),
  { maxLength: 3 },
);
const id = fc.oneof(uint, fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER }));
const instant = fc.integer({ min: 0, max: 4_102_444_800_000 });
const fingerprint = fc.integer({ min: 1, max: 2 ** 48 - 1 });
const flag = fc.boolean();
const uuid = fc.uuid();
const spec = fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value)) as unknown);
/** Absent or there. */
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const noText = fc.constantFrom(null, '');
const of = <T extends string>({ words }: { words: readonly T[] }) => fc.constantFrom(...words);
/** Of one of two attempts of a task. */
const ended = {
  runId: id,
  taskNo: uint,
  attemptNo: uint,
  fence: uint,
  workerId: uuid,
  outcome: of(attemptOutcomes),
  claimedAt: instant,
  startedAt: fc.option(instant),
  endedAt: instant,
  error: noText,
  code: fc.option(text),
  notes: text,
};

const fields: Record<Change['kind'], Record<string, fc.Arbitrary<unknown>>> = {
  DagDeployed: {
    shard: uint,
    tenantId: uint,
    dagId: id,
    name: text,
    versionNo: uint,
    hash: text,
    spec,
    actor: text,
    at: instant,
  },
  ScheduleSet: {
    shard: uint,
    dagId: id,
    revision: uint,
    spec,
    paused: flag,
    decidedUntil: instant,
    fault: fc.option(text),
    actor: text,
    at: instant,
  },
  DagRetired: { shard: uint, dagId: id, actor: text, at: instant },
  DagRevived: { shard: uint, tenantId: uint, dagId: id, event: fc.option(text), actor: text, at: instant },
  ScheduleRemoved: { shard: uint, dagId: id, decidedUntil: instant, actor: text, at: instant },
  WindowDecided: {
    shard: uint,
    dagId: id,
    firesAt: instant,
    wallTime: fc.option(text),
    runId: fc.option(id),
    skipped: fc.option(of(skipReasons)),
    count: uint,
    untilAt: instant,
    at: instant,
  },
  RunCreated: {
    runId: id,
    uid: uuid,
    tenantId: uint,
    dagId: id,
    versionNo: uint,
    priority: of(priorities),
    cause: of(causes),
    firesAt: fc.option(instant),
    admitted: flag,
    params: noText,
    facts: fc.option(text),
    parent: fc.option(
      spec.filter((value) => value !== null),
      { nil: undefined },
    ),
    actor: text,
    at: instant,
  },
  RunAdmitted: { runId: id, at: instant },
  KeyStored: {
    shard: uint,
    tenantId: uint,
    operation: text,
    target: id,
    key: text,
    bodyHash: text,
    runId: id,
    uid: uuid,
    at: instant,
  },
  AttemptClaimed: {
    runId: id,
    taskNo: uint,
    attemptNo: uint,
    fence: id,
    workerId: uuid,
    firstOfTask: flag,
    firstOfRun: flag,
    at: instant,
    notes: maybe(text),
  },
  ClaimReturned: { runId: id, taskNo: uint, fence: id, reason: of(returnReasons), at: instant },
  AttemptEnded: {
    runId: id,
    taskNo: uint,
    attemptNo: uint,
    fence: id,
    workerId: uuid,
    outcome: of(attemptOutcomes),
    taskState: fc.constantFrom('retrying', 'succeeded', 'failed', 'cancelled'),
    claimedAt: instant,
    startedAt: fc.option(instant),
    endedAt: instant,
    retryAt: fc.option(instant),
    lostCount: uint,
    output: noText,
    facts: fc.option(text),
    error: noText,
    code: fc.option(text),
    notes: maybe(text),
    fingerprint,
    quick: fc.option(fc.record({ count: uint, since: instant })),
    speculative: maybe(fc.constant(true)),
  },
  SecondClaimed: { runId: id, taskNo: uint, attemptNo: uint, fence: uint, workerId: uuid, notes: text, at: instant },
  SecondReturned: { runId: id, taskNo: uint, fence: uint, reason: of(returnReasons), notes: text, at: instant },
  SecondEnded: ended,
  SecondTookOver: {
    ...ended,
    speculative: maybe(fc.constant(true)),
    next: fc.record({ attemptNo: uint, fence: uint, workerId: uuid, claimedAt: instant }),
  },
  LetterWritten: {
    runId: id,
    taskNo: uint,
    attemptNo: uint,
    uid: uuid,
    taskName: text,
    tenantId: uint,
    dagId: id,
    versionNo: uint,
    reason: of(letterReasons),
    outcome: of(attemptOutcomes),
    code: fc.option(text),
    fingerprint,
    error: noText,
    at: instant,
  },
  LetterClosed: {
    runId: id,
    taskNo: uint,
    attemptNo: uint,
    as: of(letterStates),
    newUid: fc.option(uuid),
    actor: text,
    at: instant,
  },
  BreakerSet: {
    shard: uint,
    tenantId: uint,
    dagId: id,
    fingerprint: fc.option(fingerprint),
    state: of(breakerStates),
    pauseMs: uint,
    openedAt: instant,
    error: noText,
    actor: text,
    at: instant,
  },
  TaskCleared: {
    runId: id,
    taskNo: uint,
    attemptNo: uint,
    fence: id,
    from: fc.constantFrom('succeeded', 'failed', 'retrying', 'cancelled', 'skipped', 'stopped'),
    freshBudget: flag,
    more: flag,
    actor: text,
    at: instant,
    notes: maybe(text),
  },
  CheckpointSaved: { runId: id, taskNo: uint, fence: uint, no: id, value: fc.constant(''), at: instant },
  ClaimAsserted: { runId: id, taskNo: uint, fence: uint, at: instant },
  TasksAdded: { runId: id, taskNo: uint, fence: uint, tasks: addedTasks, at: instant },
  TasksDropped: { runId: id, taskNo: uint, fence: uint, tasks: addedTasks, at: instant },
  RunForced: { runId: id, actor: text, at: instant },
  MapExpanded: { runId: id, group: uint, scope: fc.option(uint), firstNo: uint, total: uint, at: instant },
  MapUnfolded: { runId: id, firstNo: uint, until: uint, at: instant },
  MapRemoved: { runId: id, firstNo: uint, actor: text, at: instant },
  TaskMarked: {
    runId: id,
    taskNo: uint,
    attemptNo: uint,
    fence: id,
    firstOfTask: flag,
    firstOfRun: flag,
    state: fc.constantFrom(...MARKS),
    output: fc.constantFrom(null, ''),
    facts: fc.option(text),
    reason: fc.option(text),
    actor: text,
    at: instant,
  },
  PauseSet: { runId: id, taskNo: fc.option(uint), paused: flag, until: fc.option(instant), actor: text, at: instant },
  TaskQueued: { runId: id, taskNo: uint, isNew: flag, notes: text, at: instant },
  TaskExpired: { runId: id, taskNo: uint, attemptNo: uint, reason: of(expiryReasons), notes: text, at: instant },
  TaskSlow: { runId: id, taskNo: uint, attemptNo: uint, fence: uint, notes: text, at: instant },
  AttemptExtended: {
    runId: id,
    taskNo: uint,
    attemptNo: uint,
    fence: uint,
    deadlineAt: instant,
    notes: text,
    at: instant,
  },
  RunSlow: { runId: id, notes: text, at: instant },
  RunTimedOut: { runId: id, notes: text, at: instant },
  RunReopened: {
    runId: id,
    admitted: flag,
    retryNo: uint,
    asClosing: fc.constant(true as const),
    notes: text,
    actor: text,
    at: instant,
  },
  RunClosing: { runId: id, outcome: of(runOutcomes), actor: text, at: instant },
  CallbackDue: {
    runId: id,
    uid: uuid,
    tenantId: uint,
    dagId: id,
    url: text,
    outcome: of(runOutcomes),
    at: instant,
  },
  RunEnded: { runId: id, outcome: of(runOutcomes), at: instant },
  RunStruck: { runId: id, strikes: uint, setAside: flag, reason: text, at: instant },
  WorkerSilenced: { shard: uint, workerId: uuid },
  WorkerHeardAgain: { shard: uint, workerId: uuid },
};

const anyChange = fc.oneof(
  ...Object.entries(fields).map(([kind, values]) => fc.record({ kind: fc.constant(kind), ...values })),
) as fc.Arbitrary<Change>;

test('changes of every kind come back from the journal as they went in (I19)', () => {
  fc.assert(
    fc.property(fc.array(anyChange, { maxLength: 40 }), (changes) => {
      expect(decodeChanges(JOURNAL_FORMAT, encodeChanges(changes))).toEqual(changes);
    }),
  );
});

test('texts of params, outputs and errors stay out of it; that there was one is kept', () => {
  const [change] = fc.sample(fc.record({ kind: fc.constant('RunCreated'), ...fields.RunCreated }), 1) as [Change];
  const bytes = encodeChanges([{ ...change, params: 'a secret of the user' } as Change]);
  expect(bytes.includes('secret')).toBe(false);
  expect(decodeChanges(JOURNAL_FORMAT, bytes)).toMatchObject([{ params: '' }]);
});

test('an unknown format, an unknown kind and a cut row are refused', () => {
  expect(() => decodeChanges(JOURNAL_FORMAT + 1, Buffer.alloc(0))).toThrow(`format ${JOURNAL_FORMAT + 1}`);
  expect(() => decodeChanges(JOURNAL_FORMAT, Buffer.from([99]))).toThrow('unknown kind 99');
  expect(() => decodeChanges(JOURNAL_FORMAT, Buffer.from([5]))).toThrow('ends in the middle');
});

test('a removed schedule of the first format did not say what it had decided', () => {
  const change = { kind: 'ScheduleRemoved', shard: 5, dagId: 69, actor: 'x', at: 1_000 };
  // Kind 2: shard, dag, the text of the actor, the instant.
  const bytes = Buffer.from([2, 5, 69, 0, 1, 'x'.charCodeAt(0), (1_000 % 64) + 128, Math.floor(1_000 / 64)]);
  expect(decodeChanges(1, bytes)).toEqual([{ ...change, decidedUntil: 0 }]);
});
