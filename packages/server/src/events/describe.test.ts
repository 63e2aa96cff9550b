import { CHANGE_KINDS, type Change } from '@signalbox/engine';
import { expect, test } from 'vitest';
import { describe, type Told } from './describe.ts';
import { Names } from './names.ts';

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

test.each([
  ['pool/3/database', 'pool:database'],
  ['queue/3/a/b', 'queue:a/b'],
  ['tenant/7', 'tenant'],
  ['cluster', 'cluster'],
])('a limit is told as people write it: %s', (limit, shown) => {
  const change = {
    kind: 'LimitSet',
    shard: 1,
    tenantId: 3,
    limit,
    slots: 5,
    no: 1,
    sinceNo: 1,
    actor: 'token:a',
    at: 1,
  };
  const details = { limit: shown, slots: 5, actor: 'token:a' };
  expect(describe(change as unknown as Change)).toMatchObject({ kind: 'limit.set', details });
});

test('each kind that is told names a run, a dag or a tenant', () => {
  for (const { kind, fields, event } of CHANGE_KINDS) {
    const isNamed = 'runId' in fields || ('shard' in fields && 'dagId' in fields) || 'tenantId' in fields;
    if (!isNamed)
      expect(
        event({ kind } as Change, () => null),
        kind,
      ).toBeNull();
  }
});

test('what belongs to a tenant and to no dag is told to that tenant', async () => {
  const names = new Names({} as ConstructorParameters<typeof Names>[0]);
  const told = { kind: 'breaker.set', at: 1, about: { tenantId: 7 }, taskNo: null, details: {} } as unknown as Told;
  expect(await names.nameAll([told])).toEqual([{ tenantId: 7, dag: null, run: null, task: null }]);
});
