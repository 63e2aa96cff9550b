import { describe, expect, test } from 'vitest';
import { apply } from '../../apply/apply.ts';
import type { ClaimRef } from '../../model/command.ts';
import { describeShard } from '../../tables/describe.ts';
import { type Attempt, accepted, type Scenario, scenario } from '../../testing/scenario.ts';
import { chain, job } from '../../testing/specs.ts';

const stale = { ok: false, code: 'STALE_TOKEN' };

const save = (box: Scenario, { claim, worker }: Attempt, no = 1, value = `{"no":${no}}`) =>
  box.feed({ kind: 'SaveCheckpoint', claim, workerId: worker.id, no, value });
const owns = (box: Scenario, { claim, worker }: Attempt) =>
  box.feed({ kind: 'AssertOwned', claim, workerId: worker.id });
const given = (box: Scenario) =>
  box.effects.flatMap((effect) => (effect.kind === 'SendAssignment' ? [effect.checkpoint] : []));

const twice = () => job({ retry: { maxAttempts: 3, minMs: 0, maxMs: 0 } });

test('what an attempt has saved comes with the assignment of the next one, and of the one after', () => {
  const box = scenario({ dag: twice() });
  const first = box.claim('job');
  expect(save(box, first, 4)).toEqual(accepted);
  expect(save(box, first, 9)).toEqual(accepted);
  box.report(first, 'transient');
  box.report(box.claim('job'), 'transient');
  box.claim('job');
  expect(given(box)).toEqual([null, { fence: 1, no: 9 }, { fence: 1, no: 9 }]);
});

test('the numbers of another attempt begin anew', () => {
  const box = scenario({ dag: twice() });
  const first = box.claim('job');
  save(box, first, 900);
  box.report(first, 'transient');
  const second = box.claim('job');
  expect(save(box, second, 1)).toEqual(accepted);
  box.report(second, 'transient');
  box.claim('job');
  expect(given(box).at(-1)).toEqual({ fence: 2, no: 1 });
});

test('one that comes again, or late, changes nothing and is answered as before (I22)', () => {
  const box = scenario({ dag: job() });
  const attempt = box.claim('job');
  save(box, attempt, 2);
  const before = box.node.journal.length;
  expect(save(box, attempt, 2)).toEqual(accepted);
  expect(save(box, attempt, 1, '"old"')).toEqual(accepted);
  expect(box.node.journal).toHaveLength(before);
});

describe('with any token but the valid one nothing is saved, and the task is not its own (I21)', () => {
  test.each<[string, Partial<ClaimRef>]>([
    ['a lower fence', { fence: 0 as ClaimRef['fence'] }],
    ['a higher fence', { fence: 2 as ClaimRef['fence'] }],
    ['another attempt', { attemptNo: 2 as ClaimRef['attemptNo'] }],
    ['another task', { taskNo: 1 as ClaimRef['taskNo'] }],
    ['a task that the dag does not have', { taskNo: 99 as ClaimRef['taskNo'] }],
  ])('%s', (_, wrong) => {
    const box = scenario({ dag: chain('a', 'b') });
    const attempt = box.claim('a');
    const forged = { ...attempt, claim: { ...attempt.claim, ...wrong } };
    const before = box.node.journal.length;
    expect(save(box, forged)).toMatchObject(stale);
    expect(owns(box, forged)).toMatchObject(stale);
    expect(box.node.journal).toHaveLength(before);
  });

  test.each<[string, (box: Scenario, attempt: Attempt) => unknown]>([
    ['it has ended', (box, attempt) => box.report(attempt, 'transient')],
    ['its worker was lost', (box) => box.advance('20s')],
    ['it was given back', (box, attempt) => box.refuse(attempt)],
    ['its run was set aside', (box) => box.strike(undefined, true)],
    ['its run has ended', (box, attempt) => box.report(attempt, 'permanent')],
  ])('when %s', (_, meanwhile) => {
    const box = scenario({ dag: twice() });
    const attempt = box.claim('job');
    meanwhile(box, attempt);
    const before = box.node.journal.length;
    expect(save(box, attempt)).toMatchObject({ ok: false });
    expect(owns(box, attempt)).toMatchObject({ ok: false });
    expect(box.node.journal).toHaveLength(before);
  });
});

test('an attempt that is told to stop may still save what it has, and writes nothing outside any more (I42)', () => {
  const box = scenario({ dag: job() });
  const attempt = box.claim('job');
  box.cancel();
  expect(save(box, attempt)).toEqual(accepted);
  expect(owns(box, attempt)).toEqual({ ok: false, code: 'STALE_TOKEN', detail: 'cancelled' });
});

test('that a task is its own is answered by a commit (I14)', () => {
  const box = scenario({ dag: job() });
  const attempt = box.claim('job');
  expect(owns(box, attempt)).toEqual(accepted);
  expect(box.node.journal.at(-1)).toMatchObject({ kind: 'ClaimAsserted', fence: 1 });
});

test('a checkpoint is there after a handover, and goes with a retry by hand', () => {
  const box = scenario({ dag: job({ retry: { maxAttempts: 1 } }), runs: 1 });
  const attempt = box.claim('job');
  save(box, attempt, 3);
  box.killOwner();
  box.heartbeat(attempt.worker);
  box.report(attempt, 'transient');
  expect(box.run().outcome).toBe('failed');
  box.retry('job');
  box.claim('job');
  expect(given(box).at(-1)).toEqual({ fence: 1, no: 3 });
});

test('replayed history gives the same checkpoints (I19)', () => {
  const box = scenario({ dag: twice() });
  const attempt = box.claim('job');
  const replayed = box.node.restored();
  const before = box.node.journal.length;
  save(box, attempt, 5);
  owns(box, attempt);
  for (const change of box.node.journal.slice(before)) apply(replayed, change);
  expect(JSON.stringify(describeShard(replayed, box.shard))).toBe(JSON.stringify(describeShard(box.state, box.shard)));
});
