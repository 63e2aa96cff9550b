import type { AttemptNo, HookEventDetails, RunId, TaskNo } from '@signalbox/engine';
import { type PayloadKey, payloadName, type Store } from '@signalbox/store';
import { expect, test } from 'vitest';
import { errorKey, eventText } from './event-text.ts';
import { Payloads } from './payloads.ts';

const runId = 65_536 as RunId;
const about = { taskNo: 0 as TaskNo, taskName: 'load', attemptNo: 1 as AttemptNo, failed: [] } as const;
const hookEvent = (on: HookEventDetails['on'], outcome: HookEventDetails['outcome']) =>
  ({ ...about, on, outcome }) as unknown as HookEventDetails;

/** The errors that are stored, and a hook that is told of the task. */
function setUp() {
  const errors = new Map<string, string>();
  const fetchPayloads = async (keys: readonly PayloadKey[]) =>
    new Map(keys.map((key) => [payloadName(key), errors.get(payloadName(key)) ?? null]));
  const payloads = new Payloads({ fetchPayloads } as unknown as Store);
  const tell = async (told: HookEventDetails) => {
    const key = errorKey(runId, told);
    const inputs = await payloads.fetch(key === null ? [] : [key]);
    const assignment = { claim: { runId }, version: { task: () => ({ name: 'load' }) } };
    return JSON.parse(eventText(assignment as unknown as Parameters<typeof eventText>[0], told, inputs)).error;
  };
  const fail = (error: string) =>
    errors.set(payloadName({ runId, taskNo: about.taskNo, errorOf: about.attemptNo }), error);
  return { tell, fail, payloads };
}

test.each(['failure', 'after', 'retry'] as const)(
  'a hook for %s is told the error, though one for slow has run before',
  async (on) => {
    const box = setUp();
    // Slow, while the attempt runs: there is no error yet.
    expect(await box.tell(hookEvent('slow', null))).toBeNull();
    box.fail('disk full');
    expect(await box.tell(hookEvent(on, on === 'retry' ? null : 'failed'))).toBe('disk full');
  },
);

test.each([
  ['before', null],
  ['slow', null],
  ['success', 'succeeded'],
  ['after', 'succeeded'],
] as const)('a hook for %s of a task that is %s is told of no error', async (on, outcome) => {
  const box = setUp();
  box.fail('of an earlier time');
  expect(await box.tell(hookEvent(on, outcome))).toBeNull();
});

test('that an attempt has no error is not remembered: it may fail later', async () => {
  const { payloads, fail } = setUp();
  const key = { runId, taskNo: about.taskNo, errorOf: 1 as never };
  expect((await payloads.fetch([key]))(key)).toBeNull();
  fail('later');
  expect((await payloads.fetch([key]))(key)).toBe('later');
});
