import { describe, expect, test } from 'vitest';
import type { HoldEvent } from '../../model/command.ts';
import type { Instant } from '../../model/ids.ts';
import { type Scenario, scenario, TENANT } from '../../testing/scenario.ts';
import { job } from '../../testing/specs.ts';
import { MAX_HELD_CHARS, MAX_HELD_GROUPS } from './hold-event.ts';

const BATCH = { of: 'batch', max: 3, withinMs: 10_000 } as const;
const DEBOUNCE = { of: 'debounce', waitMs: 10_000, atMostMs: 25_000 } as const;

function holding(box: Scenario, id: string, more: Partial<HoldEvent> = {}): HoldEvent {
  const { shard, dagId } = box;
  return {
    kind: 'HoldEvent',
    ...{ shard, tenantId: TENANT, dagId, trigger: 'arrived', groupKey: '', uid: box.newUid(), rule: BATCH },
    params: `{"events":["${id}"]}`,
    key: { key: `event:${id}`, bodyHash: id },
    actor: box.actor,
    ...more,
  };
}

function hold(box: Scenario, id: string, more: Partial<HoldEvent> = {}) {
  const answer = box.feed(holding(box, id, more));
  if (!answer.ok || answer.kind !== 'held') throw new Error(JSON.stringify(answer));
  return answer.uid;
}
const runsOf = (box: Scenario) =>
  box.changes('RunCreated').map(({ uid, params, cause }) => ({ uid, cause, params: JSON.parse(params ?? 'null') }));

describe('a batch', () => {
  test('becomes one run when it is full, and each event was told that run (I10)', () => {
    const box = scenario({ dag: job(), runs: 0 });
    const told = ['a', 'b', 'c', 'd'].map((id) => hold(box, id));
    expect(new Set(told.slice(0, 3)).size).toBe(1);
    expect(runsOf(box)).toEqual([{ uid: told[0], cause: 'event', params: { events: ['a', 'b', 'c'] } }]);
    expect(told[3]).not.toBe(told[0]);
  });

  test('becomes a run after its time, also over handovers (I53)', () => {
    const box = scenario({ dag: job(), runs: 0 });
    const uid = hold(box, 'a');
    box.advance('4s');
    hold(box, 'b');
    box.killOwner().advance('5s');
    expect(runsOf(box)).toEqual([]);
    box.killOwner().advance('7s');
    expect(runsOf(box)).toEqual([{ uid, cause: 'event', params: { events: ['a', 'b'] } }]);
    box.killOwner().advance('30s');
    expect(runsOf(box)).toHaveLength(1);
  });

  test('waits no longer under an owner whose clock is behind (I53)', () => {
    const box = scenario({ dag: job(), runs: 0 });
    hold(box, 'a');
    box.node.wall = (box.node.wall - 85_000) as Instant;
    box.killOwner().advance('11s');
    expect(runsOf(box)).toHaveLength(1);
  });

  test.each([
    ['an hour ahead', 3_600_000],
    ['an hour behind', -3_600_000],
  ])('waits no longer when the clock was %s for its first event and a new owner has a right one (I53)', (_, byMs) => {
    const box = scenario({ dag: job(), runs: 0 });
    box.node.wall = (box.node.wall + byMs) as Instant;
    hold(box, 'a');
    box.advance('4s');
    box.node.wall = (box.node.wall - byMs) as Instant;
    hold(box, 'b');
    expect(runsOf(box)).toEqual([]);
    box.killOwner('2s').advance('3s');
    expect(runsOf(box)).toEqual([]);
    box.advance('2s');
    expect(runsOf(box).map(({ params }) => params)).toEqual([{ events: ['a', 'b'] }]);
  });

  test('an event that comes again changes nothing, while it waits and after (I11)', () => {
    const box = scenario({ dag: job(), runs: 0 });
    const uid = hold(box, 'a');
    expect(hold(box, 'a')).toBe(uid);
    box.killOwner().advance('11s');
    expect(hold(box, 'a')).toBe(uid);
    box.advance('20s');
    expect(runsOf(box)).toEqual([{ uid, cause: 'event', params: { events: ['a'] } }]);
  });

  test('keys wait by themselves', () => {
    const box = scenario({ dag: job(), runs: 0 });
    for (const id of ['a1', 'b1', 'a2', 'b2']) hold(box, id, { groupKey: id[0] ?? '' });
    box.advance('11s');
    expect(runsOf(box).map(({ params }) => params.events)).toEqual([
      ['a1', 'a2'],
      ['b1', 'b2'],
    ]);
  });

  test('fires before it grows too large for params (I56)', () => {
    const box = scenario({ dag: job(), runs: 0 });
    const large = 'x'.repeat(MAX_HELD_CHARS / 2);
    hold(box, 'a', { params: JSON.stringify({ events: [large] }) });
    hold(box, 'b', { params: JSON.stringify({ events: [large] }) });
    expect(runsOf(box).map(({ params }) => params.events.length)).toEqual([1]);
  });

  test('of too many keys the oldest fires early (I68)', () => {
    const box = scenario({ dag: job(), runs: 0 });
    const first = hold(box, '0', { groupKey: '0' });
    const others = Array.from({ length: MAX_HELD_GROUPS - 1 }, (_, no) => `key ${no}`);
    box.node.decide(others.map((key) => holding(box, key, { groupKey: key })));
    expect(runsOf(box)).toEqual([]);
    hold(box, 'more', { groupKey: 'more' });
    expect(runsOf(box).map(({ uid }) => uid)).toEqual([first]);
  });

  test('of a dag that is retired fires at once: what was accepted has its run (I10)', () => {
    const box = scenario({ dag: job(), runs: 0 });
    const uid = hold(box, 'a');
    box.retire();
    expect(runsOf(box).map((run) => run.uid)).toEqual([uid]);
    box.killOwner().advance('20s');
    expect(runsOf(box)).toHaveLength(1);
  });

  test('of a trigger that is debounced from now on fires at once', () => {
    const box = scenario({ dag: job(), runs: 0 });
    hold(box, 'a');
    hold(box, 'b', { rule: DEBOUNCE, params: '"b"' });
    expect(runsOf(box).map(({ params }) => params)).toEqual([{ events: ['a'] }]);
  });
});

describe('debounced events', () => {
  const debounced = (box: Scenario, id: string) => hold(box, id, { rule: DEBOUNCE, params: `"${id}"` });

  test('become one run with the last of them, once no other has come', () => {
    const box = scenario({ dag: job(), runs: 0 });
    const uid = debounced(box, 'a');
    box.advance('9s');
    expect(debounced(box, 'b')).toBe(uid);
    box.killOwner().advance('9s');
    expect(runsOf(box)).toEqual([]);
    box.advance('2s');
    expect(runsOf(box)).toEqual([{ uid, cause: 'event', params: 'b' }]);
    expect(box.changes('EventsReleased')).toMatchObject([{ eventCount: 2 }]);
  });

  test('do not wait for ever, however fast they come', () => {
    const box = scenario({ dag: job(), runs: 0 });
    for (let no = 0; no < 6; no++) {
      debounced(box, String(no));
      box.advance('5s');
    }
    expect(runsOf(box).map(({ params }) => params)).toEqual(['4']);
  });

  test('do not wait for ever either when the clock is set back again and again (I53)', () => {
    const box = scenario({ dag: job(), runs: 0 });
    for (let no = 0; no < 6; no++) {
      debounced(box, String(no));
      box.node.wall = (box.node.wall - 20_000) as Instant;
      box.killOwner('1s').advance('4s');
    }
    box.advance('2s');
    expect(runsOf(box).map(({ params }) => params)).toEqual(['5']);
  });
});
