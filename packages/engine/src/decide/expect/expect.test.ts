import { describe, expect, test } from 'vitest';
import type { ExpectSpec } from '../../model/expect.ts';
import type { Instant } from '../../model/ids.ts';
import { START } from '../../testing/node.ts';
import { type Scenario, scenario, TENANT } from '../../testing/scenario.ts';
import { dag, task } from '../../testing/specs.ts';

const MINUTE = 60_000;
const HOURLY = { cron: '0 * * * *', zone: 'UTC', gap: 'skip' } as const;

function expecting(spec: Omit<ExpectSpec, 'name' | 'type'>) {
  const box = scenario();
  const dagId = box.deploy(dag([task('t')], { expect: [{ name: 'file', type: 'file.arrived', ...spec }] }));
  const come = () => box.feed({ kind: 'NoteEvent', shard: box.shard, tenantId: TENANT, dagId, name: 'file' });
  return { box, dagId, come };
}

/** Minutes since the beginning: from when to when nothing came, and when that was seen. */
const missed = (box: Scenario) =>
  box.changes('EventMissed').map(({ sinceAt, dueAt }) => [(sinceAt - START) / MINUTE, (dueAt - START) / MINUTE]);

describe('an event that is expected by the hour', () => {
  test('is missed if none has come since the hour before, once, also over handovers', () => {
    const { box, come } = expecting({ by: HOURLY });
    box.advance('59m');
    expect(missed(box)).toEqual([]);
    box.killOwner().advance('5m');
    expect(missed(box)).toEqual([[0, 60]]);
    come();
    box.killOwner().advance('60m').killOwner();
    expect(missed(box)).toEqual([[0, 60]]);
    box.advance('60m');
    expect(missed(box)).toEqual([
      [0, 60],
      [120, 180],
    ]);
  });

  test('is not missed if one has come in time, however many', () => {
    const { box, come } = expecting({ by: HOURLY });
    for (let hour = 0; hour < 3; hour++) {
      box.advance('30m');
      for (let i = 0; i < 3; i++) expect(come()).toMatchObject({ ok: true });
      box.advance('30m');
    }
    expect(missed(box)).toEqual([]);
    // One is enough: the others write nothing.
    expect(box.changes('ExpectationSet').filter(({ lastAt, sinceAt }) => (lastAt ?? 0) > sinceAt)).toHaveLength(3);
  });

  test('after a night without a server only the newest hour counts (I8)', () => {
    const { box } = expecting({ by: HOURLY });
    box.advance('10m').killOwner('10h').advance('1m');
    expect(missed(box)).toEqual([[540, 600]]);
  });
});

describe('an event that is expected again and again', () => {
  test('is missed once it has not come for so long, and again only after another has come', () => {
    const { box, come } = expecting({ withinMs: 10 * MINUTE });
    box.advance('9m');
    come();
    box.killOwner().advance('9m');
    expect(missed(box)).toEqual([]);
    box.advance('60m');
    expect(missed(box).map(([from]) => Math.round(from!))).toEqual([9]);
    come();
    box.advance('11m');
    expect(missed(box)).toHaveLength(2);
  });

  test('a clock that goes back misses nothing twice (I5)', () => {
    const { box } = expecting({ withinMs: 10 * MINUTE });
    box.advance('11m');
    box.node.wall = (box.node.wall - 5 * MINUTE) as Instant;
    box.killOwner().advance('30m');
    expect(missed(box)).toHaveLength(1);
  });
});

test('a deploy lets go on what stays the same, and ends what is gone; so does the end of the dag', () => {
  const { box, dagId, come } = expecting({ withinMs: 10 * MINUTE });
  box.advance('5m');
  const same = [{ name: 'file', type: 'file.arrived', withinMs: 10 * MINUTE }];
  box.deploy(dag([task('t'), task('more')], { expect: same }));
  box.advance('6m');
  expect(missed(box)).toHaveLength(1);
  box.retire(dagId);
  expect(come()).toMatchObject({ ok: false, code: 'DAG_NOT_FOUND' });
  box.advance('1h');
  expect(missed(box)).toHaveLength(1);
  // Deployed as it was, it expects again.
  box.tryDeploy(dag([task('t'), task('more')], { expect: same }));
  box.advance('11m');
  expect(missed(box)).toHaveLength(2);
});

test('a time that never comes is refused', () => {
  const box = scenario();
  const spec = dag([task('t')], { expect: [{ name: 'f', type: 'x', by: { ...HOURLY, cron: '0 0 30 2 *' } }] });
  expect(box.tryDeploy(spec)).toMatchObject({ ok: false, code: 'SCHEDULE_INVALID' });
});
