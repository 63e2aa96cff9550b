import { describe, expect, test } from 'vitest';
import type { SubmitRuns } from '../../model/command.ts';
import { type DagId, type TenantId, uidOfItem, type VersionNo } from '../../model/ids.ts';
import { type Scenario, scenario } from '../../testing/scenario.ts';
import { job } from '../../testing/specs.ts';

const KEY = { key: 'k1', bodyHash: 'b1' };

function submission(box: Scenario, more: Partial<SubmitRuns> = {}): SubmitRuns {
  return box.submission({ key: KEY, ...more });
}

function empty(): Scenario {
  return scenario({ dag: job(), runs: 0 });
}

describe('one key, one outcome (I11)', () => {
  test.each<[string, (box: Scenario) => unknown]>([
    ['at once', () => undefined],
    ['after a handover', (box) => box.killOwner()],
    ['after the run has ended', (box) => box.report(box.claim('job'), 'succeeded')],
  ])('the same key and body again, %s, names the same run', (_, meanwhile) => {
    const box = empty();
    const first = submission(box);
    box.feed(first);
    meanwhile(box);
    expect(box.feed(submission(box))).toMatchObject({ ok: true, uid: first.uid, repeated: true });
    expect(box.runIds).toHaveLength(1);
  });

  test('the same key and body again, while the first is in flight, names the same run', () => {
    const box = empty();
    const first = submission(box);
    box.hold().feed(first);
    expect(box.feed(submission(box))).toMatchObject({ ok: true, uid: first.uid, repeated: true });
  });

  test('a key that is settled between the needs and the step is still found', () => {
    const box = empty();
    box.hold().feed(submission(box));
    // The host asks while the batch is in flight, and decides after it has settled.
    const again = submission(box);
    const seen = box.node.fetch([again]);
    box.settle();
    expect(box.node.decide([again], seen).answers[0]).toMatchObject({ repeated: true });
    expect(box.runIds).toHaveLength(1);
  });

  test('with another body it is a conflict, stored or in flight', () => {
    const box = empty();
    box.hold().feed(submission(box));
    const other = { key: { key: 'k1', bodyHash: 'b2' } };
    expect(box.feed(submission(box, other))).toMatchObject({ ok: false, code: 'IDEMPOTENCY_CONFLICT' });
    box.settle();
    expect(box.feed(submission(box, other))).toMatchObject({ ok: false, code: 'IDEMPOTENCY_CONFLICT' });
    expect(box.runIds).toHaveLength(1);
  });

  test('keys are of their dag alone', () => {
    const box = empty();
    const other = box.deploy(job(), 'other');
    box.feed(submission(box));
    expect(box.feed(submission(box, { dagId: other }))).toMatchObject({ repeated: false });
  });

  test('twice in one batch is once', () => {
    const box = empty();
    const { answers } = box.node.decide([submission(box), submission(box)]);
    expect(answers).toMatchObject([{ repeated: false }, { repeated: true }]);
  });
});

describe('a command sent again is the same command (I11)', () => {
  test.each(['stored', 'in flight'])('while the first is %s', (where) => {
    const box = empty();
    if (where === 'in flight') box.hold();
    const command = submission(box, { key: null });
    box.feed(command);
    expect(box.feed({ ...command, mayRepeat: true })).toMatchObject({ uid: command.uid, repeated: true });
    box.settle();
    expect(box.feed({ ...command, mayRepeat: true })).toMatchObject({ uid: command.uid, repeated: true });
    expect(box.runIds).toHaveLength(1);
  });

  test('one that never arrived is done', () => {
    const box = empty();
    expect(box.feed(submission(box, { mayRepeat: true }))).toMatchObject({ repeated: false });
  });
});

test('a batch is all or nothing, in order, each with its own uid (I13)', () => {
  const box = empty();
  const priorities = ['low', null, 'critical'] as const;
  const command = submission(box, { items: priorities.map((priority) => ({ params: '{}', priority })) });
  const { changes } = box.node.decide([command]);
  const created = changes.filter((change) => change.kind === 'RunCreated');
  expect(created.map(({ uid }) => uid)).toEqual([0, 1, 2].map((i) => uidOfItem(command.uid, i)));
  expect(created.map(({ priority }) => priority)).toEqual(['low', 'normal', 'critical']);
  expect(created.map(({ runId }) => runId)).toEqual(created.map(({ runId }) => runId).toSorted((a, b) => a - b));
});

test.each([
  ['a dag that is not there', { dagId: 640_007 as DagId }],
  ['a dag of another tenant', { tenantId: 2 as TenantId }],
])('%s is refused, and nothing is stored (I12)', (_, more) => {
  const box = empty();
  const { answers, changes } = box.node.decide([submission(box, more)]);
  expect(answers).toMatchObject([{ ok: false, code: 'DAG_NOT_FOUND' }]);
  expect(changes).toEqual([]);
});

test('a shard that is not owned is refused', () => {
  const box = empty();
  expect(box.feed(submission(box, { shard: 9 as SubmitRuns['shard'] }))).toMatchObject({
    ok: false,
    code: 'NOT_OWNER',
  });
});

test('run ids rise, also when the clock goes back (I5)', () => {
  const box = empty();
  for (const span of ['0s', '-1h', '5s', '-24h', '25h'] as const) box.leap(span).submit();
  expect(box.runIds).toEqual([...new Set(box.runIds)].toSorted((a, b) => a - b));
});

test('a dag without tasks has nothing to do, and its run ends (I72)', () => {
  const box = scenario({ dag: { ...job(), tasks: [] } });
  expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'succeeded' });
});

test.each(['api', 'event'] as const)('a run that was asked for by %s says so', (cause) => {
  const box = scenario({ dag: job(), runs: 0 });
  box.submit({ cause });
  box.submit();
  expect(box.changes('RunCreated').map((run) => run.cause)).toEqual([cause, 'api']);
});

test('params are taken only as checked for the version that the run gets (I12)', () => {
  const box = scenario({ dag: job(), runs: 0 });
  expect(box.feed(submission(box, { checkedFor: 2 as VersionNo }))).toMatchObject({ code: 'PARAMS_UNCHECKED' });
  box.deploy({ ...job(), paramsSchema: { type: 'object' }, defaultParams: '{"n":1}' });
  expect(box.feed(submission(box))).toEqual({ ok: false, code: 'PARAMS_UNCHECKED', detail: '2' });
  expect(box.feed(submission(box, { checkedFor: 1 as VersionNo }))).toMatchObject({ code: 'PARAMS_UNCHECKED' });
  expect(box.changes('RunCreated')).toEqual([]);
  expect(box.feed(submission(box, { checkedFor: 2 as VersionNo }))).toMatchObject({ ok: true, kind: 'submitted' });
});
