import { describe, expect, test } from 'vitest';
import type { Instant } from '../../model/ids.ts';
import { START } from '../../testing/node.ts';
import { type Scenario, scenario } from '../../testing/scenario.ts';
import { every, job } from '../../testing/specs.ts';
import { takeOver } from '../../testing/take-over.ts';

const MINUTE = 60_000;
type Options = Parameters<typeof every>[1];

function minutely(options: Options = {}): Scenario {
  return scenario({ dag: job({ schedule: every('* * * * *', options) }), settings: { leaseMs: 1_000_000 } });
}

/** `+3`: a run for the window 3 minutes after the start; `-3 missed ×2`: two were skipped. */
function decided(box: Scenario): string[] {
  return box.node.store.windows.map(({ firesAt, skipped, count }) => {
    const minute = (firesAt - START) / MINUTE;
    return skipped === null ? `+${minute}` : `-${minute} ${skipped} ×${count}`;
  });
}

/** How many runs are active, and how many wait. */
function active(box: Scenario): [number, number] {
  const runs = box.runIds.map((runId) => box.run(runId)).filter(({ phase }) => phase !== 'ended');
  return [runs.filter(({ admitted }) => admitted).length, runs.filter(({ admitted }) => !admitted).length];
}

const finish = (box: Scenario) => box.report(box.claim('job'), 'succeeded');

describe('a server that was away for three hours (I2, I8)', () => {
  test.each<[string, Options, string[]]>([
    ['skip', { missed: 'skip' }, ['-30 missed ×6', '+210']],
    ['most_recent', { missed: 'most_recent' }, ['-30 missed ×5', '+180', '+210']],
    ['latest, the old word', { missed: 'latest' }, ['-30 missed ×5', '+180', '+210']],
    ['catchup', { missed: 'catchup', missedLimit: 4 }, ['-30 missed ×2', '+90', '+120', '+150', '+180', '+210']],
    ['all, the old word', { missed: 'all', missedLimit: 4 }, ['-30 missed ×2', '+90', '+120', '+150', '+180', '+210']],
    [
      'catchup of the last hour only',
      { missed: 'catchup', missedLimit: 10, missedMaxAgeMs: 60 * MINUTE },
      ['-30 missed ×3', '+120', '+150', '+180', '+210'],
    ],
    [
      'catchup with a deadline',
      { missed: 'catchup', missedLimit: 3, startWithinMs: 20 * MINUTE },
      ['-30 missed ×3', '-120 deadline ×1', '-150 deadline ×1', '+180', '+210'],
    ],
  ])('missed: %s', (_, options, expected) => {
    const box = scenario({ dag: job({ schedule: every('*/30 * * * *', options) }) });
    box.killOwner('3h').advance('30m');
    expect(decided(box)).toEqual(expected);
  });
});

describe('a schedule that is resumed goes by the same policy', () => {
  test.each<[string, Options, string[]]>([
    ['skip', { missed: 'skip' }, ['-1 paused ×3', '+4']],
    ['most_recent', { missed: 'most_recent' }, ['-1 paused ×2', '+3', '+4']],
    ['catchup', { missed: 'catchup', missedLimit: 2 }, ['-1 paused ×1', '+2', '+3', '+4']],
  ])('missed: %s', (_, options, expected) => {
    const box = minutely(options);
    box.pause(true);
    box.advance('3m');
    box.pause(false);
    box.advance('1m').killOwner();
    expect(decided(box)).toEqual(expected);
  });
});

describe('windows that come while the dag has active runs (I7)', () => {
  test('allow: run beside them', () => {
    const box = minutely({ ifRunning: 'allow' });
    box.advance('3m');
    expect(active(box)).toEqual([3, 0]);
  });

  test('skip: are skipped, also beside a run that somebody submitted', () => {
    const box = minutely({ ifRunning: 'skip' });
    box.submit();
    box.advance('1m');
    expect(decided(box)).toEqual(['-1 overlap ×1']);
    finish(box);
    box.advance('2m');
    expect(decided(box)).toEqual(['-1 overlap ×1', '+2', '-3 overlap ×1']);
  });

  test('queue_one: one waits until all others have ended, the others are skipped', () => {
    const box = minutely({ ifRunning: 'queue_one' });
    box.advance('4m').killOwner();
    expect(decided(box)).toEqual(['+1', '+2', '-3 overlap ×1', '-4 overlap ×1']);
    expect(active(box)).toEqual([1, 1]);
    finish(box);
    expect(active(box)).toEqual([1, 0]);
  });

  test('queue_all: run one after the other, in order', () => {
    const box = minutely({ ifRunning: 'queue_all' });
    box.advance('3m');
    const order: number[] = [];
    for (let left = 3; left > 0; left -= 1) {
      expect(active(box)).toEqual([1, left - 1]);
      const attempt = box.claim('job');
      order.push(box.runIds.indexOf(attempt.claim.runId));
      box.report(attempt, 'succeeded');
      box.killOwner();
    }
    expect(order).toEqual([0, 1, 2]);
  });

  test('a run that somebody submits passes by those that wait', () => {
    const box = minutely({ ifRunning: 'queue_all' });
    box.advance('2m');
    box.submit();
    expect(active(box)).toEqual([2, 1]);
  });

  test('also by very many of them (I29, I47)', () => {
    const box = minutely({ ifRunning: 'queue_all' });
    box.advance('150m');
    expect(active(box)).toEqual([1, 149]);
    box.submit();
    expect(active(box)).toEqual([2, 149]);
    box.killOwner();
    box.submit();
    expect(active(box)).toEqual([3, 149]);
  });

  test.each(['skip', 'queue_one', 'queue_all', 'cancel_running'] as const)(
    '%s: one that somebody triggers waits until the others have ended, and has its run',
    (ifRunning) => {
      const box = minutely({ ifRunning });
      box.advance('1m');
      box.submit({ window: { schedule: 'default', at: (START - MINUTE) as Instant } });
      expect(active(box)).toEqual([1, 1]);
      box.killOwner();
      finish(box);
      expect(active(box)).toEqual([1, 0]);
    },
  );

  test('cancel_running: the others are cancelled, and it runs when they have ended', () => {
    const box = minutely({ ifRunning: 'cancel_running' });
    box.advance('1m');
    const first = box.claim('job');
    box.heartbeat();
    box.advance('1m');
    expect(box.run(first.claim.runId)).toMatchObject({ phase: 'closing', outcome: 'cancelled' });
    expect(active(box)).toEqual([1, 1]);
    box.report(first, 'cancelled');
    expect(active(box)).toEqual([1, 0]);
    expect(decided(box)).toEqual(['+1', '+2']);
  });

  test.each(['deleted', 'edited'] as const)(
    'a run waits as its window was decided, though its schedule is %s (I7)',
    (how) => {
      const box = scenario({ dag: job(), runs: 0, settings: { leaseMs: 1_000_000 } });
      box.createSchedules({ own: every('* * * * *', { ifRunning: 'queue_all' }) });
      box.advance('2m');
      expect(active(box)).toEqual([1, 1]);
      if (how === 'deleted') box.deleteSchedule('own');
      else box.editSchedule('own', every('* * * * *', { ifRunning: 'allow' }));
      expect(active(box)).toEqual([1, 1]);
      box.killOwner();
      expect(active(box)).toEqual([1, 1]);
      finish(box);
      expect(active(box)).toEqual([1, 0]);
    },
  );

  test.each(['skip', 'queue_one', 'queue_all', 'cancel_running'] as const)(
    'an edit to %s is for windows that are decided after it: a run that waits for a place only takes the next one',
    (ifRunning) => {
      const spec = (options: Options) => job({ maxActiveRuns: 1, schedule: every('* * * * *', options) });
      const box = scenario({ dag: spec({ ifRunning: 'allow' }), settings: { leaseMs: 1_000_000 } });
      box.advance('2m');
      expect(active(box)).toEqual([1, 1]);
      box.deploy({ ...spec({ ifRunning }), maxActiveRuns: null });
      expect(active(box)).toEqual([2, 0]);
    },
  );
});

test('runNow: a first run as soon as the schedule is there, and not again when it is edited', () => {
  const box = scenario({ dag: job(), runs: 0 });
  box.advance('0.5m');
  box.createSchedules({ own: every('* * * * *', { runNow: true }) });
  expect(decided(box)).toEqual(['+0.5']);
  box.editSchedule('own', every('*/2 * * * *', { runNow: true }));
  box.advance('2m').killOwner();
  expect(decided(box)).toEqual(['+0.5', '+2']);
});

test('a limit counts runs, not skipped windows, over edits and loads', () => {
  const box = minutely({ limit: 3 });
  box.advance('1m').killOwner();
  box.pause(true);
  box.advance('1m');
  box.tryDeploy(job({ schedule: every('* * * * *', { limit: 3, missed: 'skip' }) }));
  box.pause(false);
  box.advance('5m');
  expect(decided(box)).toEqual(['+1', '-2 paused ×1', '+3', '+4']);
});

test('jitter delays a run and not its window; an edit does not lose what jitter holds back (I2, I4)', () => {
  const box = minutely({ jitterMs: 50_000 });
  box.advance('10m');
  const late = box.changes('RunCreated').map(({ at, firesAt }) => at - firesAt!);
  expect(late.every((ms) => ms >= 0 && ms < 50_000 + 1_000)).toBe(true);
  expect(new Set(late).size).toBeGreaterThan(5);
  box.tryDeploy(job({ schedule: every('* * * * *') }));
  expect(decided(box)).toEqual(Array.from({ length: 10 }, (_, i) => `+${i + 1}`));
});

describe('while some runs of the dag are in the database only (I7)', () => {
  /** One run is active, and one waits. */
  function busy(ifRunning: NonNullable<NonNullable<Options>['ifRunning']>) {
    const schedule = every('* * * * *', { ifRunning });
    const dag = job({ schedule, maxActiveRuns: 1 });
    const box = scenario({ dag, settings: { leaseMs: 1_000_000 }, audit: false });
    box.submit({ count: 2 });
    expect(active(box)).toEqual([1, 1]);
    return box;
  }

  test.each([
    ['queue_one', ['-1 overlap ×1', '-2 overlap ×1'], [1, 1]],
    ['cancel_running', ['+1', '+2'], [1, 0]],
  ] as const)('a window waits until they are there: %s', (ifRunning, windows, left) => {
    const box = busy(ifRunning);
    const loadRest = takeOver(box, ({ admitted }) => admitted);
    box.advance('2m');
    expect(decided(box)).toEqual([]);
    loadRest();
    expect(decided(box)).toEqual(windows);
    expect(active(box)).toEqual(left);
  });

  test('one that may run beside others does not wait', () => {
    const box = busy('allow');
    takeOver(box, ({ admitted }) => admitted);
    box.advance('2m');
    expect(decided(box)).toEqual(['+1', '+2']);
  });

  test('a schedule that is deleted meanwhile decides nothing more', () => {
    const box = busy('queue_one');
    const loadRest = takeOver(box, ({ admitted }) => admitted);
    box.advance('1m');
    box.deploy(job());
    const before = decided(box);
    loadRest();
    box.advance('2m');
    expect(decided(box)).toEqual(before);
  });
});
