import { describe, expect, test } from 'vitest';
import { noteLook } from '../../apply/service.ts';
import type { ZoneData } from '../../model/schedule/zone.ts';
import { START } from '../../testing/node.ts';
import { type Scenario, scenario, TENANT } from '../../testing/scenario.ts';
import { every, job, type Span, spanMs } from '../../testing/specs.ts';

const MINUTE = 60_000;

/** `+3`: a run for the window 3 minutes after the start; `-3`: skipped; with how many, when it is a row of them. */
function decided(box: Scenario): string[] {
  return box.node.store.windows.map(({ firesAt, skipped, count }) => {
    const minute = (firesAt - START) / MINUTE;
    return skipped === null ? `+${minute}` : `-${minute} ${skipped} ×${count}`;
  });
}

function minutely(options: Parameters<typeof every>[1] = {}): Scenario {
  return scenario({ dag: job({ schedule: every('* * * * *', options) }) });
}

test('each window makes one run, at its time and not before (I1, I2, I4)', () => {
  const box = minutely();
  box.advance('59.9s');
  expect(decided(box)).toEqual([]);
  box.advance('2m');
  expect(decided(box)).toEqual(['+1', '+2']);
  expect(box.changes('RunCreated').map(({ firesAt, at }) => [firesAt, at])).toEqual([
    [START + MINUTE, START + MINUTE],
    [START + 2 * MINUTE, START + 2 * MINUTE],
  ]);
});

test('over handovers no window fires twice and none is lost (I1, I2)', () => {
  const box = minutely();
  for (let i = 0; i < 8; i++) box.advance('20s').killOwner().advance('10s');
  expect(decided(box)).toEqual(['+1', '+2', '+3', '+4']);
});

test('a window whose commit was lost with its owner is decided again, under the same uid (I1)', () => {
  const box = minutely();
  const uids: string[] = [];
  box.node.onDecided = ({ changes }) => {
    for (const change of changes) if (change.kind === 'RunCreated') uids.push(change.uid);
  };
  box.hold().advance('61s').killOwner();
  expect(decided(box)).toEqual(['+1']);
  expect(uids).toEqual([uids[0], uids[0]]);
});

describe('windows that were due while nobody served the schedule go by the policy (I2, I5, I8)', () => {
  /** All ways in which nobody looks for a time. */
  const BREAKS = {
    'owner away': (box: Scenario, span: Span) => box.killOwner(span),
    'clock leapt, or the process stood still': (box: Scenario, span: Span) => box.leap(span),
    'owner away, and the next one died before it decided': (box: Scenario, span: Span) => {
      box.hold().killOwner(span).killOwner('3s').leap('-3s');
    },
  };

  test.each([
    ['skip', 10, ['-1 missed ×10']],
    ['latest', 10, ['-1 missed ×9', '+10']],
    ['all', 3, ['-1 missed ×7', '+8', '+9', '+10']],
    ['all', 100, ['+1', '+2', '+3', '+4', '+5', '+6', '+7', '+8', '+9', '+10']],
  ] as const)('%s with a limit of %i, ten minutes and a half', (missed, missedLimit, expected) => {
    for (const cut of Object.values(BREAKS)) {
      const box = minutely({ missed, missedLimit });
      cut(box, '10.5m');
      expect(decided(box)).toEqual(expected);
      box.advance('1m');
      expect(decided(box).at(-1)).toBe('+11');
    }
  });

  // A stop from 09:30:00 to 11:00:30.
  test.each([
    ['0 * * * *', 'skip', ['10:00 missed ×2']],
    ['0 * * * *', 'latest', ['10:00 missed ×1', '11:00 run']],
    ['0 * * * *', 'all', ['10:00 run', '11:00 run']],
    ['*/10 * * * * *', 'skip', ['09:30:10 missed ×543']],
    ['*/10 * * * * *', 'latest', ['09:30:10 missed ×542', '11:00:30 run']],
  ] as const)('%s with %s runs nothing else after a stop', (cron, missed, expected) => {
    for (const cut of Object.values(BREAKS)) {
      const box = scenario({ dag: job({ schedule: every(cron, { missed }) }), audit: false });
      box.advance('9.5h');
      const before = box.node.store.windows.length;
      cut(box, '90.5m');
      const told = box.node.store.windows.slice(before).map(({ firesAt, skipped, count }) => {
        const at = new Date(firesAt).toISOString().slice(11, 19).replace(/:00$/, '');
        return skipped === null ? `${at} run` : `${at} ${skipped} ×${count}`;
      });
      expect(told).toEqual(expected);
    }
  });

  test.each(['skip', 'latest'] as const)('a takeover within the grace misses none, with %s', (missed) => {
    const box = scenario({ dag: job({ schedule: every('* * * * * *', { missed }) }), runs: 0 });
    box.advance('2s').killOwner('10s').advance('1s');
    expect(box.node.store.windows.map(({ firesAt, runId }) => [(firesAt - START) / 1000, runId !== null])).toEqual(
      Array.from({ length: 13 }, (_, i) => [i + 1, true]),
    );
    box.killOwner('10.1s');
    expect(box.node.store.windows.slice(13).map(({ count, runId }) => [count, runId !== null])).toEqual(
      missed === 'skip'
        ? [[10, false]]
        : [
            [9, false],
            [1, true],
          ],
    );
  });

  test('a new owner whose clock is hours ahead of the last one runs no more than the policy allows (I5)', () => {
    const box = minutely({ missed: 'latest' });
    box.advance('30s');
    box.node.wall = (box.node.wall + spanMs('3h')) as typeof box.node.wall;
    box.killOwner();
    // The last minute could be a difference of clocks.
    expect(decided(box)).toEqual(['-1 missed ×178', '+179', '+180']);
  });

  test('windows that are late because steps are full are not missed, however late they are', () => {
    const dag = job({ schedule: every('* * * * * *', { missed: 'skip' }) });
    const box = scenario({ dag, runs: 0, settings: { changesPerStep: 1 } });
    const { node } = box;
    // The server looks each second and finds no time to decide.
    for (let i = 0; i < 60; i++) {
      node.wall = (node.wall + 1_000) as typeof node.wall;
      noteLook(box.state, node.wall);
    }
    node.work();
    expect(node.store.windows).toHaveLength(60);
    expect(node.store.windows.every(({ runId }) => runId !== null)).toBe(true);
  });

  test.each(['-1m', '-10m', '-24h'] as const)('a clock that goes back by %s fires nothing again (I5)', (back) => {
    const box = minutely();
    box.advance('3m').leap(back).killOwner();
    box.advance('30s');
    expect(decided(box)).toEqual(['+1', '+2', '+3']);
    box.leap(`${-spanMs(back) / 1000}s`).advance('31s');
    expect(decided(box)).toEqual(['+1', '+2', '+3', '+4']);
  });
});

describe('a year off costs no more than a day (I8)', () => {
  test.each<[string, 'skip' | 'latest' | 'all']>([
    ['* * * * * *', 'latest'],
    ['* * * * * *', 'skip'],
    ['* * * * * *', 'all'],
    ['* * * * 2 *', 'latest'], // dense, long ago
    ['0 0 29 2 *', 'all'],
    ['@yearly', 'latest'],
  ])('%s with %s', (cron, missed) => {
    let asked = 0;
    const zoneData = (zone: string, from: number, until: number): ZoneData => {
      asked += 1;
      return { zone, tzVersion: 't', fromMs: from, untilMs: until + 1, initialOffsetMs: 0, transitions: [] };
    };
    const schedule = every(cron, { missed, missedLimit: 50 });
    const box = scenario({ dag: job({ schedule }), settings: { zoneData }, audit: false });
    asked = 0;
    box.leap('365.5d');
    expect(asked).toBeLessThan(8_000);
    expect(box.changes('RunCreated').length).toBeLessThanOrEqual(61 + 50);
    const windows = box.node.store.windows.map(({ firesAt }) => firesAt);
    expect(windows).toEqual([...new Set(windows)].toSorted((a, b) => a - b));
  });
});

describe('pause, resume, edit, remove (I6)', () => {
  test('a paused schedule fires nothing; what it passed over is recorded, once (I2)', () => {
    const box = minutely();
    box.advance('90s').pause();
    box.advance('3m').killOwner().advance('1m');
    expect(decided(box)).toEqual(['+1']);
    box.pause(false);
    box.pause(false);
    expect(decided(box)).toEqual(['+1', '-2 paused ×3', '+5']);
    box.advance('1m');
    expect(decided(box).at(-1)).toBe('+6');
  });

  test('windows that were due before the pause are decided by it', () => {
    const box = minutely();
    box.node.wall = (box.node.wall + 90_000) as typeof box.node.wall; // no tick yet
    box.pause();
    expect(decided(box)).toEqual(['+1']);
  });

  test('also in a step that is full already (I2)', () => {
    const box = scenario({ dag: job({ schedule: every('* * * * *') }), settings: { changesPerStep: 1 } });
    const other = box.deploy(job(), 'other');
    box.submit({ dagId: other, count: 3 });
    box.node.wall = (box.node.wall + 90_000) as typeof box.node.wall;
    box.node.decide([
      box.submission({ dagId: other }),
      {
        kind: 'SetSchedulePaused',
        shard: box.shard,
        tenantId: TENANT,
        dagId: box.dagId,
        paused: true,
        actor: box.actor,
      },
    ]);
    expect(decided(box)).toEqual(['+1']);
  });

  test('an edit fires no window of the old version, and none twice', () => {
    const box = minutely();
    box.advance('2m');
    box.deploy(job({ schedule: every('*/2 * * * *') }));
    box.advance('4m');
    expect(decided(box)).toEqual(['+1', '+2', '+4', '+6']);
  });

  test('an edit of other things leaves the schedule alone', () => {
    const box = minutely();
    box.deploy(job({ timeoutMs: 5, schedule: every('* * * * *') }));
    expect(box.changes('ScheduleSet')).toHaveLength(1);
  });

  test('a timer of a schedule that was removed does not wake a paused one that came after it', () => {
    const box = scenario({ dag: job({ schedule: every('*/5 * * * *') }) });
    box.deploy(job({ schedule: every('*/10 * * * *') })); // revision 2 waits for minute 10
    box.deploy(job());
    box.deploy(job({ schedule: every('* * * * *') })); // revisions begin anew
    box.pause();
    box.advance('15m');
    expect(decided(box)).toEqual([]);
  });

  test('a removed one fires no more; set again after the clock went back it repeats nothing', () => {
    const box = minutely();
    box.advance('3m');
    box.deploy(job());
    box.leap('-2m').advance('30s');
    box.deploy(job({ schedule: every('* * * * *') }));
    box.advance('3m');
    expect(decided(box)).toEqual(['+1', '+2', '+3', '+4']);
  });

  test.each([
    ['an expression that is none', every('61 * * * *')],
    ['an expression that never fires', every('0 0 30 2 *')],
    ['an expression that never fires, by month', every('0 0 31 4,6,9,11 *')],
    ['a zone that is none', every('* * * * *', { zone: 'Mars/Olympus' })],
  ])('%s is refused', (_, schedule) => {
    const box = scenario({ dag: job() });
    expect(box.tryDeploy(job({ schedule }), 'bad')).toMatchObject({ ok: false, code: 'SCHEDULE_INVALID' });
    expect(box.state.dags.named(TENANT, 'bad')).toBeUndefined();
  });
});

test('a zone that the data does not know any more stops its schedule, not its shard (I57)', () => {
  let isKnown = true;
  const zoneData = (zone: string, from: number, until: number): ZoneData => {
    if (zone === 'Old/Town' && !isKnown) throw new RangeError('unknown');
    return { zone, tzVersion: 't', fromMs: from, untilMs: until + 1e9, initialOffsetMs: 0, transitions: [] };
  };
  const box = scenario({ dag: job({ schedule: every('* * * * *') }), settings: { zoneData } });
  box.deploy(job({ schedule: every('* * * * *', { zone: 'Old/Town' }) }), 'old');
  isKnown = false;
  box.killOwner().advance('2m');
  expect(decided(box)).toEqual(['+1', '+2']);
});

describe('a wall time that a clock change removes (I3)', () => {
  const gapAt = START + 2 * 3_600_000; // 02:00 becomes 03:00
  const zoneData = (zone: string): ZoneData => ({
    zone,
    tzVersion: 't',
    fromMs: START - 10 * 86_400_000,
    untilMs: START + 10_000 * 86_400_000,
    initialOffsetMs: 0,
    transitions: [{ atMs: gapAt, offsetMs: 3_600_000 }],
  });

  test.each<[string, string[]]>([
    ['30 2 * * *', ['-120 gap ×1', '+1530']],
    ['0 2,3 * * *', ['-120 gap ×1', '+120', '+1500']], // 3:00 is the very instant of the change
    ['0,30 2 * * *', ['-120 gap ×1', '-120 gap ×1', '+1500']],
  ])('%s', (cron, expected) => {
    const box = scenario({ dag: job({ schedule: every(cron) }), settings: { zoneData } });
    box.advance('25.6h');
    expect(decided(box).slice(0, expected.length)).toEqual(expected);
    box.killOwner();
  });
});

test('runs of a schedule wait like all others when the dag has as many as it may (I7)', () => {
  const box = scenario({ dag: job({ maxActiveRuns: 1, schedule: every('* * * * *', { missed: 'all' }) }) });
  box.advance('3m');
  expect(box.runIds.map((runId) => box.run(runId).admitted)).toEqual([true, false, false]);
});
