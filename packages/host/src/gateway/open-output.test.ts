import type { ClaimRef } from '@signalbox/engine';
import { expect, test } from 'vitest';
import type { Tokens } from '../ports.ts';
import { openOutput, sealOutput } from './open-output.ts';

const claim = { runId: 65_536, taskNo: 1, attemptNo: 1, fence: 4 } as ClaimRef;
const tokens: Pick<Tokens, 'seal' | 'open'> = {
  seal: (_, { fence }, text) => `${text}.${fence}`,
  open: (_, { fence }, sealed) => (sealed.endsWith(`.${fence}`) ? sealed.slice(0, -`.${fence}`.length) : null),
};
const said = { outcome: 'succeeded', output: '{"a":1}', error: null, startedAt: null } as const;
const stored = { text: '@-1000000001:300000', facts: { ok: true, text: '{"values":[{"v":1}]}' } } as const;

test('what an attempt has stored comes with its report: where it is, and what decisions need of it', () => {
  const output = sealOutput(claim, stored, tokens);
  expect(openOutput(claim, { ...said, output }, tokens)).toEqual({ ...said, output: stored.text, facts: stored.facts });
  expect(openOutput(claim, said, tokens)).toBe(said);
});

test.each([
  ['of another attempt', sealOutput({ ...claim, fence: 5 } as ClaimRef, stored, tokens)],
  ['that it made up', '@-1000000001:300000'],
  ['of nothing', '@'],
])('a reference %s fails the attempt, and nothing of it is recorded (I21, I36)', (_, output) => {
  const opened = openOutput(claim, { ...said, output }, tokens);
  expect(opened).toMatchObject({
    outcome: 'permanent',
    output: null,
    error: expect.stringContaining('this attempt stored'),
  });
  expect(opened.facts).toBeUndefined();
});
