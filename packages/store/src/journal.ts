/**
 * The changes of one commit, packed for the journal. Texts of params, outputs and errors are left out; that there was one
 * is kept, as an empty text, because state depends on it. Some 17 bytes a change.
 *
 * A format is never changed once rows of it exist: a new kind or field is a new format, and this file goes on reading the
 * old ones. `journal-formats.test.ts` compares the bytes with those that are recorded for each format. Whoever reads rows
 * uses `readRow` of `journal-read.ts`, which turns a row that can't be read into a marker.
 */
import type {
  Actor,
  AttemptEnded,
  AttemptNo,
  Change,
  DagId,
  DagSpec,
  Fence,
  Instant,
  ParentRef,
  RunUid,
  ScheduleSpec,
  ShardNo,
  TaskCleared,
  TaskNo,
  TenantId,
  VersionNo,
  WorkerId,
} from '@signalbox/engine';
import { MARKS, shardOfRun } from '@signalbox/engine';
import { attemptOutcomes, causes, priorities, returnReasons, runOutcomes, skipReasons, taskStates } from './codes.ts';
import { addedCodec } from './journal-added.ts';
import { ByteReader, ByteWriter } from './journal-bytes.ts';
import { deadLetterCodecs } from './journal-dead-letters.ts';
import { deadlineCodecs } from './journal-deadlines.ts';
import { layoutsOf } from './journal-layouts.ts';
import { secondCodecs } from './journal-seconds.ts';

/** 2: dags are retired and revived, tasks retried; schedules have faults, and say what they had decided when
 * they are removed; runs begin by events. 3: facts of params and outputs; runs made by
 * tasks of others. Within format 3 some kinds were added without a new number; that is the mistake that format 4 ends.
 * 4: each new kind and each new field has its own format from here on. A field of format 4 is always written, and read only
 * `if (layout >= 4)`, with a default otherwise. */
export const JOURNAL_FORMAT = 4;
const OLDEST_FORMAT = 1;

type Kind = Change['kind'];
interface Codec<C> {
  write(to: ByteWriter, change: C): void;
  /** `layout` is the row's format; rows of formats 2 and 3 also have fractions, see `journal-layouts.ts`. */
  read(from: ByteReader, layout: number): Omit<C, 'kind'>;
}

const presence = (text: string | null): boolean => text !== null;
const trace = (present: boolean): string | null => (present ? '' : null);

const readUntil = (until: string | null): { until?: string } => (until === null ? {} : { until });

const readParent = (text: string | null): { parent?: ParentRef } =>
  text === null ? {} : { parent: JSON.parse(text) as ParentRef };

function readMark(number: number): (typeof MARKS)[number] {
  const mark = MARKS[number];
  if (mark === undefined) throw new Error(`A journal row marks a task with an unknown state ${number}.`);
  return mark;
}

const codecs: { readonly [K in Kind]: Codec<Extract<Change, { kind: K }>> } = {
  DagDeployed: {
    write(to, c) {
      to.uint(c.shard);
      to.uint(c.tenantId);
      to.uint(c.dagId);
      to.text(c.name);
      to.uint(c.versionNo);
      to.text(c.hash);
      to.text(JSON.stringify(c.spec));
      to.text(c.actor);
      to.instant(c.at);
    },
    read: (from) => ({
      shard: from.uint() as ShardNo,
      tenantId: from.uint() as TenantId,
      dagId: from.uint() as DagId,
      name: from.text(),
      versionNo: from.uint() as VersionNo,
      hash: from.text(),
      spec: JSON.parse(from.text()) as DagSpec,
      actor: from.text() as Actor,
      at: from.instant(),
    }),
  },
  DagRetired: {
    write(to, c) {
      to.uint(c.shard);
      to.uint(c.dagId);
      to.text(c.actor);
      to.instant(c.at);
    },
    read: (from) => ({
      shard: from.uint() as ShardNo,
      dagId: from.uint() as DagId,
      actor: from.text() as Actor,
      at: from.instant(),
    }),
  },
  DagRevived: {
    write(to, c) {
      to.uint(c.shard);
      to.uint(c.tenantId);
      to.uint(c.dagId);
      to.nullable(c.event, (event) => to.text(event));
      to.text(c.actor);
      to.instant(c.at);
    },
    read: (from) => ({
      shard: from.uint() as ShardNo,
      tenantId: from.uint() as TenantId,
      dagId: from.uint() as DagId,
      event: from.nullable(() => from.text()),
      actor: from.text() as Actor,
      at: from.instant(),
    }),
  },
  ScheduleSet: {
    write(to, c) {
      to.uint(c.shard);
      to.uint(c.dagId);
      to.uint(c.revision);
      to.text(JSON.stringify(c.spec));
      to.flag(c.paused);
      to.instant(c.decidedUntil);
      to.nullable(c.fault, (fault) => to.text(fault));
      to.text(c.actor);
      to.instant(c.at);
    },
    read: (from, layout) => ({
      shard: from.uint() as ShardNo,
      dagId: from.uint() as DagId,
      revision: from.uint(),
      spec: JSON.parse(from.text()) as ScheduleSpec,
      paused: from.flag(),
      decidedUntil: from.instant(),
      fault: layout < 2.1 ? null : from.nullable(() => from.text()),
      actor: from.text() as Actor,
      at: from.instant(),
    }),
  },
  ScheduleRemoved: {
    write(to, c) {
      to.uint(c.shard);
      to.uint(c.dagId);
      to.instant(c.decidedUntil);
      to.text(c.actor);
      to.instant(c.at);
    },
    read: (from, layout) => ({
      shard: from.uint() as ShardNo,
      dagId: from.uint() as DagId,
      decidedUntil: layout === 1 ? (0 as Instant) : from.instant(),
      actor: from.text() as Actor,
      at: from.instant(),
    }),
  },
  WindowDecided: {
    write(to, c) {
      to.uint(c.shard);
      to.uint(c.dagId);
      to.instant(c.firesAt);
      to.nullable(c.wallTime, (text) => to.text(text));
      to.nullable(c.runId, (id) => to.run(id));
      to.nullable(c.skipped, (reason) => to.uint(skipReasons.code(reason)));
      to.uint(c.count);
      to.instant(c.untilAt);
      to.instant(c.at);
    },
    read: (from) => ({
      shard: from.uint() as ShardNo,
      dagId: from.uint() as DagId,
      firesAt: from.instant(),
      wallTime: from.nullable(() => from.text()),
      runId: from.nullable(() => from.run()),
      skipped: from.nullable(() => skipReasons.word(from.uint())),
      count: from.uint(),
      untilAt: from.instant(),
      at: from.instant(),
    }),
  },
  RunCreated: {
    write(to, c) {
      to.run(c.runId);
      to.uuid(c.uid);
      to.uint(c.tenantId);
      to.uint(c.dagId);
      to.uint(c.versionNo);
      to.uint(priorities.code(c.priority));
      to.uint(causes.code(c.cause));
      to.nullable(c.firesAt, (at) => to.instant(at));
      to.flag(c.admitted);
      to.flag(presence(c.params));
      to.text(c.actor);
      to.instant(c.at);
      to.nullable(c.facts, (facts) => to.text(facts));
      to.nullable(c.parent ?? null, (parent) => to.text(JSON.stringify(parent)));
      to.nullable(c.until ?? null, (until) => to.text(until));
    },
    read: (from, layout) => ({
      runId: from.run(),
      uid: from.uuid() as RunUid,
      tenantId: from.uint() as TenantId,
      dagId: from.uint() as DagId,
      versionNo: from.uint() as VersionNo,
      priority: priorities.word(from.uint()),
      cause: causes.word(from.uint()),
      firesAt: from.nullable(() => from.instant()),
      admitted: from.flag(),
      params: trace(from.flag()),
      actor: from.text() as Actor,
      at: from.instant(),
      facts: layout < 3 ? null : from.nullable(() => from.text()),
      ...readParent(layout < 3.1 ? null : from.nullable(() => from.text())),
      ...readUntil(layout < 4 ? null : from.nullable(() => from.text())),
    }),
  },
  RunAdmitted: {
    write(to, c) {
      to.run(c.runId);
      to.instant(c.at);
    },
    read: (from) => ({ runId: from.run(), at: from.instant() }),
  },
  KeyStored: {
    write(to, c) {
      to.uint(c.shard);
      to.uint(c.tenantId);
      to.text(c.operation);
      to.uint(c.target);
      to.text(c.key);
      to.text(c.bodyHash);
      to.run(c.runId);
      to.uuid(c.uid);
      to.instant(c.at);
    },
    read: (from) => ({
      shard: from.uint() as ShardNo,
      tenantId: from.uint() as TenantId,
      operation: from.text(),
      target: from.uint(),
      key: from.text(),
      bodyHash: from.text(),
      runId: from.run(),
      uid: from.uuid() as RunUid,
      at: from.instant(),
    }),
  },
  AttemptClaimed: {
    write(to, c) {
      to.run(c.runId);
      to.uint(c.taskNo);
      to.uint(c.attemptNo);
      to.uint(c.fence);
      to.text(c.workerId);
      const { notes = null } = c;
      to.uint((c.firstOfTask ? 1 : 0) + (c.firstOfRun ? 2 : 0) + (presence(notes) ? 4 : 0));
      to.instant(c.at);
      if (notes !== null) to.text(notes);
    },
    read(from) {
      const claim = {
        runId: from.run(),
        taskNo: from.uint() as TaskNo,
        attemptNo: from.uint() as AttemptNo,
        fence: from.uint() as Fence,
        workerId: from.text() as WorkerId,
      };
      const bits = from.uint();
      const first = { firstOfTask: (bits & 1) !== 0, firstOfRun: (bits & 2) !== 0, at: from.instant() };
      return { ...claim, ...first, ...((bits & 4) === 0 ? {} : { notes: from.text() }) };
    },
  },
  ClaimReturned: {
    write(to, c) {
      to.run(c.runId);
      to.uint(c.taskNo);
      to.uint(c.fence);
      to.uint(returnReasons.code(c.reason));
      to.instant(c.at);
    },
    read: (from) => ({
      runId: from.run(),
      taskNo: from.uint() as TaskNo,
      fence: from.uint() as Fence,
      reason: returnReasons.word(from.uint()),
      at: from.instant(),
    }),
  },
  AttemptEnded: {
    write(to, c) {
      to.run(c.runId);
      to.uint(c.taskNo);
      to.uint(c.attemptNo);
      to.uint(c.fence);
      to.text(c.workerId);
      to.uint(attemptOutcomes.code(c.outcome));
      to.uint(taskStates.code(c.taskState));
      to.instant(c.claimedAt);
      to.nullable(c.startedAt, (at) => to.instant(at));
      to.instant(c.endedAt);
      to.nullable(c.retryAt, (at) => to.instant(at));
      to.uint(c.lostCount);
      const { notes = null } = c;
      const bits = (presence(c.output) ? 1 : 0) + (presence(c.error) ? 2 : 0) + (presence(c.facts) ? 4 : 0);
      to.uint(bits + (presence(c.code) ? 8 : 0) + (presence(notes) ? 16 : 0) + (c.speculative === true ? 32 : 0));
      for (const text of [c.facts, c.code, notes]) if (text !== null) to.text(text);
      to.uint(c.fingerprint ?? 0);
      if (c.fingerprint !== null) to.nullable(c.quick, (quick) => (to.uint(quick.count), to.instant(quick.since)));
    },
    read(from, layout) {
      const end = {
        runId: from.run(),
        taskNo: from.uint() as TaskNo,
        attemptNo: from.uint() as AttemptNo,
        fence: from.uint() as Fence,
        workerId: from.text() as WorkerId,
        outcome: attemptOutcomes.word(from.uint()),
        taskState: taskStates.word(from.uint()) as AttemptEnded['taskState'],
        claimedAt: from.instant(),
        startedAt: from.nullable(() => from.instant()),
        endedAt: from.instant(),
        retryAt: from.nullable(() => from.instant()),
        lostCount: from.uint(),
      };
      const texts = from.uint();
      const [facts, code] = [4, 8].map((bit) => ((texts & bit) === 0 ? null : from.text())) as [
        string | null,
        string | null,
      ];
      const notes = (texts & 16) === 0 ? {} : { notes: from.text() };
      const speculative = (texts & 32) === 0 ? {} : { speculative: true as const };
      const fingerprint = (layout < 3.3 ? null : from.uint() || null) as AttemptEnded['fingerprint'];
      const readQuick = () => from.nullable(() => ({ count: from.uint(), since: from.instant() }));
      const failure = { fingerprint, quick: fingerprint === null ? null : readQuick() };
      const told = { output: trace((texts & 1) !== 0), facts, error: trace((texts & 2) !== 0), code, ...notes };
      return { ...end, ...failure, ...told, ...speculative };
    },
  },
  TaskCleared: {
    write(to, c) {
      to.run(c.runId);
      to.uint(c.taskNo);
      to.uint(c.attemptNo);
      to.uint(c.fence);
      to.uint(taskStates.code(c.from));
      to.flag(c.freshBudget);
      to.text(c.actor);
      to.instant(c.at);
      to.nullable(c.notes ?? null, (notes) => to.text(notes));
      to.flag(c.more);
    },
    read(from, layout) {
      const cleared = {
        runId: from.run(),
        taskNo: from.uint() as TaskNo,
        attemptNo: from.uint() as AttemptNo,
        fence: from.uint() as Fence,
        from: taskStates.word(from.uint()) as TaskCleared['from'],
        freshBudget: from.flag(),
        actor: from.text() as Actor,
        at: from.instant(),
      };
      const notes = layout < 3.2 ? null : from.nullable(() => from.text());
      const more = layout < 3.4 ? false : from.flag();
      return { ...cleared, ...(notes === null ? {} : { notes }), more };
    },
  },
  TaskMarked: {
    write(to, c) {
      to.run(c.runId);
      to.uint(c.taskNo);
      to.uint(c.attemptNo);
      to.uint(c.fence);
      to.uint((c.firstOfTask ? 1 : 0) + (c.firstOfRun ? 2 : 0) + (presence(c.output) ? 4 : 0));
      to.uint(MARKS.indexOf(c.state));
      to.nullable(c.facts, (facts) => to.text(facts));
      to.nullable(c.reason, (reason) => to.text(reason));
      to.text(c.actor);
      to.instant(c.at);
    },
    read(from) {
      const task = {
        runId: from.run(),
        taskNo: from.uint() as TaskNo,
        attemptNo: from.uint() as AttemptNo,
        fence: from.uint() as Fence,
      };
      const marks = from.uint();
      return {
        ...task,
        firstOfTask: (marks & 1) !== 0,
        firstOfRun: (marks & 2) !== 0,
        output: trace((marks & 4) !== 0),
        state: readMark(from.uint()),
        facts: from.nullable(() => from.text()),
        reason: from.nullable(() => from.text()),
        actor: from.text() as Actor,
        at: from.instant(),
      };
    },
  },
  PauseSet: {
    write(to, c) {
      to.run(c.runId);
      to.nullable(c.taskNo, (taskNo) => to.uint(taskNo));
      to.flag(c.paused);
      to.nullable(c.until, (until) => to.instant(until));
      to.text(c.actor);
      to.instant(c.at);
    },
    read: (from) => ({
      runId: from.run(),
      taskNo: from.nullable(() => from.uint() as TaskNo),
      paused: from.flag(),
      until: from.nullable(() => from.instant()),
      actor: from.text() as Actor,
      at: from.instant(),
    }),
  },
  CheckpointSaved: {
    write(to, c) {
      to.run(c.runId);
      to.uint(c.taskNo);
      to.uint(c.fence);
      to.uint(c.no);
      to.instant(c.at);
    },
    read: (from) => ({
      runId: from.run(),
      taskNo: from.uint() as TaskNo,
      fence: from.uint() as Fence,
      no: from.uint(),
      value: '',
      at: from.instant(),
    }),
  },
  ClaimAsserted: {
    write(to, c) {
      to.run(c.runId);
      to.uint(c.taskNo);
      to.uint(c.fence);
      to.instant(c.at);
    },
    read: (from) => ({
      runId: from.run(),
      taskNo: from.uint() as TaskNo,
      fence: from.uint() as Fence,
      at: from.instant(),
    }),
  },
  TasksAdded: addedCodec,
  TasksDropped: addedCodec,
  MapExpanded: {
    write(to, c) {
      to.run(c.runId);
      to.uint(c.group);
      to.nullable(c.scope, (scope) => to.uint(scope));
      to.uint(c.firstNo);
      to.uint(c.total);
      to.instant(c.at);
    },
    read: (from) => ({
      runId: from.run(),
      group: from.uint(),
      scope: from.nullable(() => from.uint()),
      firstNo: from.uint(),
      total: from.uint(),
      at: from.instant(),
    }),
  },
  MapUnfolded: {
    write(to, c) {
      to.run(c.runId);
      to.uint(c.firstNo);
      to.uint(c.until);
      to.instant(c.at);
    },
    read: (from) => ({ runId: from.run(), firstNo: from.uint(), until: from.uint(), at: from.instant() }),
  },
  MapRemoved: {
    write(to, c) {
      to.run(c.runId);
      to.uint(c.firstNo);
      to.text(c.actor);
      to.instant(c.at);
    },
    read: (from) => ({
      runId: from.run(),
      firstNo: from.uint(),
      actor: from.text() as Actor,
      at: from.instant(),
    }),
  },
  ...deadLetterCodecs,
  ...deadlineCodecs,
  ...secondCodecs,
  RunReopened: {
    write(to, c) {
      to.run(c.runId);
      to.flag(c.admitted);
      to.text(c.actor);
      to.instant(c.at);
      to.uint(c.retryNo);
      to.uint((c.asClosing === true ? 1 : 0) + (c.notes === undefined ? 0 : 2));
      if (c.notes !== undefined) to.text(c.notes);
    },
    read: (from, layout) => {
      const [runId, admitted, actor, at] = [from.run(), from.flag(), from.text() as Actor, from.instant()];
      const retryNo = layout < 3.4 ? 0 : from.uint();
      const bits = layout < 3.5 ? 0 : from.uint();
      const asClosing = (bits & 1) === 0 ? {} : { asClosing: true as const };
      return { runId, admitted, actor, at, retryNo, ...asClosing, ...((bits & 2) === 0 ? {} : { notes: from.text() }) };
    },
  },
  RunClosing: {
    write(to, c) {
      to.run(c.runId);
      to.uint(runOutcomes.code(c.outcome));
      to.text(c.actor);
      to.instant(c.at);
      to.nullable(c.graceMs ?? null, (graceMs) => to.uint(graceMs));
    },
    read(from, layout) {
      const closing = {
        runId: from.run(),
        outcome: runOutcomes.word(from.uint()),
        actor: from.text() as Actor,
        at: from.instant(),
      };
      const graceMs = layout < 3.6 ? null : from.nullable(() => from.uint());
      return graceMs === null ? closing : { ...closing, graceMs };
    },
  },
  RunForced: {
    write(to, c) {
      to.run(c.runId);
      to.text(c.actor);
      to.instant(c.at);
    },
    read: (from) => ({ runId: from.run(), actor: from.text() as Actor, at: from.instant() }),
  },
  RunEnded: {
    write(to, c) {
      to.run(c.runId);
      to.uint(runOutcomes.code(c.outcome));
      to.instant(c.at);
    },
    read: (from) => ({ runId: from.run(), outcome: runOutcomes.word(from.uint()), at: from.instant() }),
  },
  CallbackDue: {
    write(to, c) {
      to.run(c.runId);
      to.text(c.uid);
      to.uint(c.tenantId);
      to.uint(c.dagId);
      to.text(c.url);
      to.uint(runOutcomes.code(c.outcome));
      to.instant(c.at);
    },
    read: (from) => ({
      runId: from.run(),
      uid: from.text() as RunUid,
      tenantId: from.uint() as TenantId,
      dagId: from.uint() as DagId,
      url: from.text(),
      outcome: runOutcomes.word(from.uint()),
      at: from.instant(),
    }),
  },
  RunStruck: {
    write(to, c) {
      to.run(c.runId);
      to.uint(c.strikes);
      to.flag(c.setAside);
      to.text(c.reason);
      to.instant(c.at);
    },
    read: (from) => ({
      runId: from.run(),
      strikes: from.uint(),
      setAside: from.flag(),
      reason: from.text(),
      at: from.instant(),
    }),
  },
  WorkerSilenced: {
    write(to, c) {
      to.uint(c.shard);
      to.text(c.workerId);
    },
    read: (from) => ({ shard: from.uint() as ShardNo, workerId: from.text() as WorkerId }),
  },
  WorkerHeardAgain: {
    write(to, c) {
      to.uint(c.shard);
      to.text(c.workerId);
    },
    read: (from) => ({ shard: from.uint() as ShardNo, workerId: from.text() as WorkerId }),
  },
};

/** A kind's number is its place here. */
const KINDS: readonly Kind[] = [
  'DagDeployed',
  'ScheduleSet',
  'ScheduleRemoved',
  'WindowDecided',
  'RunCreated',
  'RunAdmitted',
  'KeyStored',
  'AttemptClaimed',
  'ClaimReturned',
  'AttemptEnded',
  'RunClosing',
  'RunEnded',
  'RunStruck',
  'WorkerSilenced',
  'WorkerHeardAgain',
  'DagRetired',
  'DagRevived',
  'TaskCleared',
  'RunReopened',
  'CheckpointSaved',
  'ClaimAsserted',
  'RunForced',
  'MapExpanded',
  'MapUnfolded',
  'MapRemoved',
  'DeadLetterWritten',
  'DeadLetterClosed',
  'BreakerSet',
  'TaskMarked',
  'PauseSet',
  'TaskQueued',
  'TaskExpired',
  'TaskSlow',
  'AttemptExtended',
  'RunSlow',
  'RunTimedOut',
  'CallbackDue',
  'SecondClaimed',
  'SecondReturned',
  'SecondEnded',
  'SecondTookOver',
  'TasksAdded',
  'TasksDropped',
];
const KIND_NUMBERS = new Map(KINDS.map((kind, number) => [kind, number]));

export function encodeChanges(changes: readonly Change[]): Buffer {
  const to = new ByteWriter();
  for (const change of changes) {
    const number = KIND_NUMBERS.get(change.kind);
    if (number === undefined) throw new Error(`The journal has no number for ${change.kind}.`);
    to.uint(number);
    (codecs[change.kind] as Codec<Change>).write(to, change);
  }
  return to.done();
}

/**
 * The changes of a row of this format, in this row's own layout; throws when there is none. Rows of old formats are
 * read in each layout of that format. Only if all layouts that fit give the same changes are these the row's changes.
 */
export function decodeChanges(format: number, bytes: Buffer, shards: readonly number[] | null = null): Change[] {
  if (format < OLDEST_FORMAT || format > JOURNAL_FORMAT) {
    const known = `formats ${OLDEST_FORMAT} to ${JOURNAL_FORMAT}`;
    throw new Error(`A journal row has format ${format}; this version reads ${known}.`);
  }
  const layouts = layoutsOf(format, KINDS.length);
  const [only] = layouts;
  if (only !== undefined && layouts.length === 1) return decodeIn(only.layout, only.kindCount, bytes);
  const found = new Map<string, Change[]>();
  let problem: unknown;
  for (const { layout, kindCount } of layouts) {
    try {
      const changes = decodeIn(layout, kindCount, bytes);
      if (shards === null || isWithin(shards, changes)) found.set(JSON.stringify(changes), changes);
    } catch (error) {
      problem ??= error;
    }
  }
  const [first, second] = found.values();
  if (second !== undefined) throw new Error(`A journal row of format ${format} can be read in two ways.`);
  if (first !== undefined) return first;
  throw problem ?? new Error(`A journal row of format ${format} speaks of shards that its commit did not touch.`);
}

function decodeIn(layout: number, kindCount: number, bytes: Buffer): Change[] {
  const from = new ByteReader(bytes);
  const changes: Change[] = [];
  while (!from.atEnd) {
    const number = from.uint();
    const kind = number < kindCount ? KINDS[number] : undefined;
    if (kind === undefined) throw new Error(`A journal row holds a change of unknown kind ${number}.`);
    changes.push({ kind, ...codecs[kind].read(from, layout) } as Change);
  }
  return changes;
}

/** A row that is read in another layout than its own soon speaks of shards that its commit did not touch. */
function isWithin(shards: readonly number[], changes: readonly Change[]): boolean {
  return changes.every((change) =>
    shards.includes(
      'runId' in change && change.runId !== null ? shardOfRun(change.runId) : (change as { shard: number }).shard,
    ),
  );
}
