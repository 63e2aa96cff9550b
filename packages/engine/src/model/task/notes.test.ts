import { expect, test } from 'vitest';
import type { AttemptNo, Fence, Instant, WorkerId } from '../ids.ts';
import { notesWith, readNotes, type TaskNotes } from './notes.ts';

/** All fields, and the text that rows and journals hold of them since they were first written. */
const notes: TaskNotes = {
  counts: { transient: 1 },
  memoryBytes: 5,
  firstAt: 10 as Instant,
  queuedAt: 11 as Instant,
  deadlineAt: 12 as Instant,
  slowAt: 13 as Instant,
  slowAttempts: [1, 2],
  expired: { by: 'queue', at: 14 as Instant },
  firing: 3,
  speculativeAttempt: {
    attemptNo: 2 as AttemptNo,
    fence: 3 as Fence,
    workerId: 'w2' as WorkerId,
    claimedAt: 15 as Instant,
    over: 'returned',
  },
  uncounted: 1,
  endedBeside: 2,
  speculative: 4,
};
const text =
  '{"counts":{"transient":1},"memoryBytes":5,"firstAt":10,"queuedAt":11,"deadlineAt":12,"slowAt":13,"slowAttempts":[1,2],' +
  '"expired":{"by":"queue","at":14},"firing":3,' +
  '"second":{"attemptNo":2,"fence":3,"workerId":"w2","claimedAt":15,"over":"returned"},' +
  '"uncounted":1,"doubled":2,"speculative":4}';

test('the stored text of notes never changes: servers of several versions read the same rows', () => {
  expect(notesWith(notes, {})).toBe(text);
  expect(readNotes(text)).toEqual(notes);
});

test('a field that is taken out is not in the text', () => {
  expect(notesWith({ speculative: 4, endedBeside: 2 }, { endedBeside: undefined })).toBe('{"speculative":4}');
  expect(readNotes('{"speculative":4}')).toEqual({ speculative: 4 });
});

test.each([null, undefined, 'null', '{}'])('%j is a task without notes', (none) => {
  expect(readNotes(none)).toEqual({});
});
