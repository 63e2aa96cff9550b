/** How second attempts of tasks stand in the journal. */
import type {
  AttemptNo,
  Fence,
  SecondClaimed,
  SecondEnded,
  SecondReturned,
  SecondTookOver,
  TaskNo,
  WorkerId,
} from '@signalbox/engine';
import { attemptOutcomes, returnReasons } from './codes.ts';
import type { ByteReader, ByteWriter } from './journal-bytes.ts';

type Ended = Omit<SecondEnded, 'kind'>;

function writeEnd(to: ByteWriter, c: Ended): void {
  to.run(c.runId);
  to.uint(c.taskNo);
  to.uint(c.attemptNo);
  to.uint(c.fence);
  to.text(c.workerId);
  to.uint(attemptOutcomes.code(c.outcome));
  to.instant(c.claimedAt);
  to.nullable(c.startedAt, (at) => to.instant(at));
  to.instant(c.endedAt);
  // The text itself is not kept here.
  to.flag(c.error !== null);
  to.nullable(c.code, (code) => to.text(code));
  to.text(c.notes);
}

const readEnd = (from: ByteReader): Ended => ({
  runId: from.run(),
  taskNo: from.uint() as TaskNo,
  attemptNo: from.uint() as AttemptNo,
  fence: from.uint() as Fence,
  workerId: from.text() as WorkerId,
  outcome: attemptOutcomes.word(from.uint()),
  claimedAt: from.instant(),
  startedAt: from.nullable(() => from.instant()),
  endedAt: from.instant(),
  error: from.flag() ? '' : null,
  code: from.nullable(() => from.text()),
  notes: from.text(),
});

export const secondCodecs = {
  SecondClaimed: {
    write(to: ByteWriter, c: SecondClaimed): void {
      to.run(c.runId);
      to.uint(c.taskNo);
      to.uint(c.attemptNo);
      to.uint(c.fence);
      to.text(c.workerId);
      to.text(c.notes);
      to.instant(c.at);
    },
    read: (from: ByteReader): Omit<SecondClaimed, 'kind'> => ({
      runId: from.run(),
      taskNo: from.uint() as TaskNo,
      attemptNo: from.uint() as AttemptNo,
      fence: from.uint() as Fence,
      workerId: from.text() as WorkerId,
      notes: from.text(),
      at: from.instant(),
    }),
  },
  SecondReturned: {
    write(to: ByteWriter, c: SecondReturned): void {
      to.run(c.runId);
      to.uint(c.taskNo);
      to.uint(c.fence);
      to.uint(returnReasons.code(c.reason));
      to.text(c.notes);
      to.instant(c.at);
    },
    read: (from: ByteReader): Omit<SecondReturned, 'kind'> => ({
      runId: from.run(),
      taskNo: from.uint() as TaskNo,
      fence: from.uint() as Fence,
      reason: returnReasons.word(from.uint()),
      notes: from.text(),
      at: from.instant(),
    }),
  },
  SecondEnded: { write: writeEnd, read: readEnd },
  SecondTookOver: {
    write(to: ByteWriter, c: SecondTookOver): void {
      writeEnd(to, c);
      to.flag(c.speculative === true);
      to.uint(c.next.attemptNo);
      to.uint(c.next.fence);
      to.text(c.next.workerId);
      to.instant(c.next.claimedAt);
    },
    read(from: ByteReader): Omit<SecondTookOver, 'kind'> {
      const end = readEnd(from);
      const speculative = from.flag() ? { speculative: true as const } : {};
      const next = {
        attemptNo: from.uint() as AttemptNo,
        fence: from.uint() as Fence,
        workerId: from.text() as WorkerId,
        claimedAt: from.instant(),
      };
      return { ...end, ...speculative, next };
    },
  },
};
