import type { Change } from '@signalbox/engine';
import { expect, test } from 'vitest';
import { describe } from './describe.ts';

const claim = { runId: 64, taskNo: 3, attemptNo: 2, fence: 2, workerId: 'w2', notes: '{}' };
const ended = {
  ...claim,
  outcome: 'cancelled',
  code: 'superseded',
  claimedAt: 1,
  startedAt: null,
  endedAt: 2,
  error: null,
};

test.each([
  [{ kind: 'SpeculativeClaimed', ...claim, at: 1 }, 'attempt.claimed', { attempt: 2, worker: 'w2', speculative: true }],
  [{ kind: 'SpeculativeReturned', ...claim, reason: 'refused', at: 1 }, 'attempt.returned', { speculative: true }],
  [
    { kind: 'SpeculativeEnded', ...ended },
    'attempt.ended',
    { code: 'superseded', state: 'running', speculative: true },
  ],
  [{ kind: 'SpeculativeTookOver', ...ended }, 'attempt.ended', { code: 'superseded', speculative: false }],
  [
    { kind: 'AttemptEnded', ...ended, taskState: 'succeeded', retryAt: null, speculative: true },
    'attempt.ended',
    { speculative: true },
  ],
] as const)('what becomes of a speculative attempt is told as of any, with a mark: $kind', (change, kind, details) => {
  expect(describe(change as unknown as Change)).toMatchObject({ kind, taskNo: 3, details });
});
