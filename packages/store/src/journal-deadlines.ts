/** How the times of tasks and runs, and what came of them, stand in the journal. */
import type {
  AttemptExtended,
  AttemptNo,
  Fence,
  RunSlow,
  RunTimedOut,
  TaskExpired,
  TaskNo,
  TaskQueued,
  TaskSlow,
} from '@signalbox/engine';
import { expiryReasons } from './codes.ts';
import type { ByteReader, ByteWriter } from './journal-bytes.ts';

export const deadlineCodecs = {
  TaskQueued: {
    write(to: ByteWriter, c: TaskQueued): void {
      to.run(c.runId);
      to.uint(c.taskNo);
      to.flag(c.isNew);
      to.text(c.notes);
      to.instant(c.at);
    },
    read: (from: ByteReader): Omit<TaskQueued, 'kind'> => ({
      runId: from.run(),
      taskNo: from.uint() as TaskNo,
      isNew: from.flag(),
      notes: from.text(),
      at: from.instant(),
    }),
  },
  TaskExpired: {
    write(to: ByteWriter, c: TaskExpired): void {
      to.run(c.runId);
      to.uint(c.taskNo);
      to.uint(c.attemptNo);
      to.uint(expiryReasons.code(c.reason));
      to.text(c.notes);
      to.instant(c.at);
    },
    read: (from: ByteReader): Omit<TaskExpired, 'kind'> => ({
      runId: from.run(),
      taskNo: from.uint() as TaskNo,
      attemptNo: from.uint() as AttemptNo,
      reason: expiryReasons.word(from.uint()),
      notes: from.text(),
      at: from.instant(),
    }),
  },
  TaskSlow: {
    write(to: ByteWriter, c: TaskSlow): void {
      to.run(c.runId);
      to.uint(c.taskNo);
      to.uint(c.attemptNo);
      to.uint(c.fence);
      to.text(c.notes);
      to.instant(c.at);
    },
    read: (from: ByteReader): Omit<TaskSlow, 'kind'> => ({
      runId: from.run(),
      taskNo: from.uint() as TaskNo,
      attemptNo: from.uint() as AttemptNo,
      fence: from.uint() as Fence,
      notes: from.text(),
      at: from.instant(),
    }),
  },
  AttemptExtended: {
    write(to: ByteWriter, c: AttemptExtended): void {
      to.run(c.runId);
      to.uint(c.taskNo);
      to.uint(c.attemptNo);
      to.uint(c.fence);
      to.instant(c.deadlineAt);
      to.text(c.notes);
      to.instant(c.at);
    },
    read: (from: ByteReader): Omit<AttemptExtended, 'kind'> => ({
      runId: from.run(),
      taskNo: from.uint() as TaskNo,
      attemptNo: from.uint() as AttemptNo,
      fence: from.uint() as Fence,
      deadlineAt: from.instant(),
      notes: from.text(),
      at: from.instant(),
    }),
  },
  RunSlow: {
    write(to: ByteWriter, c: RunSlow): void {
      to.run(c.runId);
      to.text(c.notes);
      to.instant(c.at);
    },
    read: (from: ByteReader): Omit<RunSlow, 'kind'> => ({ runId: from.run(), notes: from.text(), at: from.instant() }),
  },
  RunTimedOut: {
    write(to: ByteWriter, c: RunTimedOut): void {
      to.run(c.runId);
      to.text(c.notes);
      to.instant(c.at);
    },
    read: (from: ByteReader): Omit<RunTimedOut, 'kind'> => ({
      runId: from.run(),
      notes: from.text(),
      at: from.instant(),
    }),
  },
};
