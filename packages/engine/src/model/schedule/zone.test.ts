import { Temporal } from 'temporal-polyfill';
import { describe, expect, test } from 'vitest';
import { parseCron } from './cron.ts';
import { type Cron } from './cron-type.ts';
import { nextWindow, removedWindows, type ZoneData } from './zone.ts';

const hourMs = 3_600_000;

function ms(instant: string): number {
  return Temporal.Instant.from(instant).epochMilliseconds;
}

/** Written out by hand from the IANA database, so that a mistake of the runtime does not hide one of ours. */
function zoneOf(
  zone: string,
  initialHours: number,
  ...changes: readonly (readonly [at: string, hours: number])[]
): ZoneData {
  const transitions = changes.map(([at, hours]) => ({ atMs: ms(at), offsetMs: hours * hourMs }));
  const fromMs = ms('2000-01-01T00:00:00Z');
  const untilMs = ms('2030-01-01T00:00:00Z');
  return { zone, tzVersion: '2025c', fromMs, untilMs, initialOffsetMs: initialHours * hourMs, transitions };
}

const utc = zoneOf('UTC', 0);
const newYork = zoneOf('America/New_York', -5, ['2025-03-09T07:00:00Z', -4], ['2025-11-02T06:00:00Z', -5]);
const berlin = zoneOf('Europe/Berlin', 1, ['2025-03-30T01:00:00Z', 2], ['2025-10-26T01:00:00Z', 1]);
const lordHowe = zoneOf('Australia/Lord_Howe', 11, ['2025-04-05T15:00:00Z', 10.5], ['2025-10-04T15:30:00Z', 11]);
const saoPaulo = zoneOf('America/Sao_Paulo', -2, ['2018-02-18T02:00:00Z', -3], ['2018-11-04T03:00:00Z', -2]);
const casablanca = zoneOf('Africa/Casablanca', 1, ['2025-02-23T02:00:00Z', 0], ['2025-04-06T02:00:00Z', 1]);
const apia = zoneOf('Pacific/Apia', -10, ['2011-12-30T10:00:00Z', 14]);

function cronOf(expression: string): Cron {
  const parsed = parseCron(expression, 'seed');
  if (!parsed.ok) throw new Error(`${expression}: ${parsed.problem.message}`);
  return parsed.cron;
}

function windows(
  expression: string,
  zone: ZoneData,
  after: string,
  until: string,
  gap: 'skip' | 'fire_after' = 'skip',
  overlap: 'first' | 'second' | 'both' = 'first',
): readonly string[] {
  const cron = cronOf(expression);
  const found: string[] = [];
  let atMs = ms(after);
  for (;;) {
    const next = nextWindow(cron, zone, atMs, { gap, overlap });
    if (next.kind !== 'fires' || next.atMs > ms(until)) return found;
    atMs = next.atMs;
    found.push(Temporal.Instant.fromEpochMilliseconds(atMs).toString().slice(0, 16));
  }
}

function removed(expression: string, zone: ZoneData, after: string, until: string): readonly string[] {
  return removedWindows(cronOf(expression), zone, ms(after), ms(until)).map(({ wallTime }) => wallTime);
}

describe('a fixed wall time that a clock change removes is skipped, and told (I3)', () => {
  test.each([
    [
      '30 2 * * *',
      newYork,
      '2025-03-08T00:00:00Z',
      '2025-03-11T00:00:00Z',
      ['2025-03-08T07:30', '2025-03-10T06:30'],
      ['2025-03-09T02:30:00'],
    ],
    ['0 2 * * *', newYork, '2025-03-09T00:00:00Z', '2025-03-10T00:00:00Z', [], ['2025-03-09T02:00:00']],
    ['0 3 * * *', newYork, '2025-03-09T00:00:00Z', '2025-03-10T00:00:00Z', ['2025-03-09T07:00'], []],
    [
      '*/30 2 * * *',
      berlin,
      '2025-03-30T00:00:00Z',
      '2025-03-30T22:00:00Z',
      [],
      ['2025-03-30T02:00:00', '2025-03-30T02:30:00'],
    ],
    [
      '0 */2 * * *',
      berlin,
      '2025-03-29T22:30:00Z',
      '2025-03-30T03:00:00Z',
      ['2025-03-29T23:00', '2025-03-30T02:00'],
      ['2025-03-30T02:00:00'],
    ],
    ['15 2 * * *', lordHowe, '2025-10-04T00:00:00Z', '2025-10-05T12:00:00Z', [], ['2025-10-05T02:15:00']],
    ['30 2 * * *', lordHowe, '2025-10-04T00:00:00Z', '2025-10-05T12:00:00Z', ['2025-10-04T15:30'], []],
    [
      '@daily',
      saoPaulo,
      '2018-11-03T00:00:00Z',
      '2018-11-06T00:00:00Z',
      ['2018-11-03T03:00', '2018-11-05T02:00'],
      ['2018-11-04T00:00:00'],
    ],
    ['30 2 * * *', casablanca, '2025-04-06T00:00:00Z', '2025-04-07T00:00:00Z', [], ['2025-04-06T02:30:00']],
    [
      '0 12 * * *',
      apia,
      '2011-12-29T00:00:00Z',
      '2012-01-01T00:00:00Z',
      ['2011-12-29T22:00', '2011-12-30T22:00', '2011-12-31T22:00'],
      ['2011-12-30T12:00:00'],
    ],
    [
      '0 0 * * FRI',
      apia,
      '2011-12-23T12:00:00Z',
      '2012-01-06T12:00:00Z',
      ['2012-01-05T10:00'],
      ['2011-12-30T00:00:00'],
    ],
  ])('%s', (expression, zone, after, until, fires, skipped) => {
    expect(windows(expression, zone, after, until)).toEqual(fires);
    expect(removed(expression, zone, after, until)).toEqual(skipped);
  });
});

describe('a fixed wall time that occurs twice fires once, the first time (I3)', () => {
  test.each([
    ['30 1 * * *', newYork, '2025-11-02T00:00:00Z', '2025-11-03T12:00:00Z', ['2025-11-02T05:30', '2025-11-03T06:30']],
    [
      '*/20 1 * * *',
      newYork,
      '2025-11-02T00:00:00Z',
      '2025-11-03T00:00:00Z',
      ['2025-11-02T05:00', '2025-11-02T05:20', '2025-11-02T05:40'],
    ],
    ['0 2 * * *', newYork, '2025-11-02T00:00:00Z', '2025-11-03T00:00:00Z', ['2025-11-02T07:00']],
    ['30 2 * * *', berlin, '2025-10-26T00:00:00Z', '2025-10-26T22:00:00Z', ['2025-10-26T00:30']],
    ['30 2 * * *', berlin, '2025-10-26T00:30:00Z', '2025-10-26T22:00:00Z', []],
    [
      '30,45 1,2 * * *',
      lordHowe,
      '2025-04-05T14:00:00Z',
      '2025-04-05T18:00:00Z',
      ['2025-04-05T14:30', '2025-04-05T14:45', '2025-04-05T16:00', '2025-04-05T16:15'],
    ],
    ['30 23 * * *', saoPaulo, '2018-02-17T12:00:00Z', '2018-02-18T12:00:00Z', ['2018-02-18T01:30']],
    ['30 2 * * *', casablanca, '2025-02-23T00:00:00Z', '2025-02-23T12:00:00Z', ['2025-02-23T01:30']],
  ])('%s', (expression, zone, after, until, fires) => {
    expect(windows(expression, zone, after, until)).toEqual(fires);
    expect(removed(expression, zone, after, until)).toEqual([]);
  });
});

describe('every hour keeps its pace through gap and overlap (I3)', () => {
  test.each([
    ['*/15 * * * *', newYork, '2025-03-09T05:00:00Z'],
    ['*/15 * * * *', newYork, '2025-11-02T04:00:00Z'],
    ['*/15 0-23 * * *', berlin, '2025-10-25T23:00:00Z'],
    ['*/15 * * * *', lordHowe, '2025-04-05T13:00:00Z'],
    ['*/15 * * * *', lordHowe, '2025-10-04T13:00:00Z'],
    ['*/15 * * * *', saoPaulo, '2018-11-04T01:00:00Z'],
    ['*/15 * * * *', apia, '2011-12-30T08:00:00Z'],
  ])('%s fires every 15 real minutes', (expression, zone, after) => {
    const until = Temporal.Instant.from(after).add({ hours: 6 }).toString();
    const fires = windows(expression, zone, after, until).map((at) => ms(`${at}Z`) - ms(after));
    expect(fires).toEqual(Array.from({ length: 24 }, (_, index) => (index + 1) * 15 * 60_000));
    expect(windows(expression, zone, after, until, 'fire_after')).toHaveLength(24);
    expect(removed(expression, zone, after, until)).toEqual([]);
  });

  test('what a change of half an hour takes from it is told', () => {
    const span = ['2025-10-04T14:00:00Z', '2025-10-04T16:00:00Z'] as const;
    expect(windows('0 * * * *', lordHowe, ...span)).toEqual(['2025-10-04T14:30', '2025-10-04T16:00']);
    expect(removed('0 * * * *', lordHowe, ...span)).toEqual(['2025-10-05T02:00:00']);
  });

  test('what is kept to a day that never was is lost, each of it', () => {
    expect(removed('*/15 * 30 12 *', apia, '2011-12-29T00:00:00Z', '2012-01-01T00:00:00Z')).toHaveLength(96);
  });
});

describe('fire_after fires once at the end of the gap', () => {
  test.each([
    ['30 2 * * *', newYork, '2025-03-09T00:00:00Z', '2025-03-10T00:00:00Z', ['2025-03-09T07:00']],
    ['*/15 2 * * *', newYork, '2025-03-09T00:00:00Z', '2025-03-10T00:00:00Z', ['2025-03-09T07:00']],
    ['0 2,3 * * *', newYork, '2025-03-09T00:00:00Z', '2025-03-10T00:00:00Z', ['2025-03-09T07:00']],
    ['30 1 * * *', newYork, '2025-03-09T00:00:00Z', '2025-03-10T00:00:00Z', ['2025-03-09T06:30']],
    ['@daily', saoPaulo, '2018-11-04T00:00:00Z', '2018-11-05T00:00:00Z', ['2018-11-04T03:00']],
    ['0 12 30 12 *', apia, '2011-01-01T00:00:00Z', '2012-01-01T00:00:00Z', ['2011-12-30T10:00']],
  ])('%s', (expression, zone, after, until, fires) => {
    expect(windows(expression, zone, after, until, 'fire_after')).toEqual(fires);
  });
});

describe('overlap says which of two fires', () => {
  const [newYorkDay, lordHoweDay] = [
    ['2025-11-01T12:00:00Z', '2025-11-03T04:00:00Z'],
    ['2025-04-05T00:00:00Z', '2025-04-06T00:00:00Z'],
  ] as const;
  test.each([
    ['30 1 * * *', 'first', newYork, newYorkDay, ['2025-11-02T05:30']],
    ['30 1 * * *', 'second', newYork, newYorkDay, ['2025-11-02T06:30']],
    ['30 1 * * *', 'both', newYork, newYorkDay, ['2025-11-02T05:30', '2025-11-02T06:30']],
    ['30 0,2 * * *', 'second', newYork, newYorkDay, ['2025-11-02T04:30', '2025-11-02T07:30']],
    ['45 1 * * *', 'second', lordHowe, lordHoweDay, ['2025-04-05T15:15']],
    ['15,45 1 * * *', 'both', lordHowe, lordHoweDay, ['2025-04-05T14:15', '2025-04-05T14:45', '2025-04-05T15:15']],
  ] as const)('%s, %s', (expression, overlap, zone, [after, until], fires) => {
    expect(windows(expression, zone, after, until, 'skip', overlap)).toEqual(fires);
  });

  test('every hour keeps its pace, whatever overlap says', () => {
    const all = windows('0 * * * *', newYork, ...newYorkDay);
    expect(windows('0 * * * *', newYork, ...newYorkDay, 'skip', 'second')).toEqual(all);
    expect(windows('0 * * * *', newYork, ...newYorkDay, 'skip', 'both')).toEqual(all);
  });
});

describe('there is always an answer, and soon (I9)', () => {
  const until2100 = { ...utc, untilMs: ms('2100-01-01T00:00:00Z') };

  test.each(['0 0 30 2 *', '0 0 31 2,4,6,9,11 *', '0 0 30,31 FEB ?'])('%s never fires', (expression) => {
    const start = Temporal.Now.instant().epochMilliseconds;
    const rounds = 20; // one alone would also measure what else the machine does
    for (let round = 0; round < rounds; round += 1) {
      expect(nextWindow(cronOf(expression), utc, ms('2025-01-01T00:00:00Z'))).toEqual({ kind: 'never' });
    }
    expect((Temporal.Now.instant().epochMilliseconds - start) / rounds).toBeLessThan(50);
  });

  test.each([
    ['0 0 29 2 *', '2028-02-29T00:00:00Z'],
    ['0 0 29 2 MON', '2025-02-03T00:00:00Z'],
    ['0 0 * 2 MON#5', '2044-02-29T00:00:00Z'],
    ['59 59 23 31 12 ?', '2025-12-31T23:59:59Z'],
  ])('%s fires next at %s', (expression, at) => {
    expect(nextWindow(cronOf(expression), until2100, ms('2025-01-01T00:00:00Z'))).toEqual({
      kind: 'fires',
      atMs: ms(at),
    });
  });

  test('a wall time that the zone removes each time never fires', () => {
    const transitions = Array.from({ length: 120 }, (_, index) => {
      const march = Temporal.PlainDate.from({ year: 2020 + index, month: 3, day: 8 });
      const secondSunday = march.add({ days: (7 - march.dayOfWeek) % 7 });
      return [
        { atMs: ms(`${secondSunday.toString()}T07:00:00Z`), offsetMs: -4 * hourMs },
        { atMs: ms(`${secondSunday.with({ month: 11 }).toString()}T06:00:00Z`), offsetMs: -5 * hourMs },
      ];
    }).flat();
    const zone = { ...newYork, untilMs: ms('2140-01-01T00:00:00Z'), transitions };
    expect(nextWindow(cronOf('30 2 * 3 SUN#2'), zone, ms('2025-01-01T00:00:00Z'))).toEqual({ kind: 'never' });
  });

  test('data that ends too early says how far it has to reach', () => {
    const cron = cronOf('0 0 * 2 MON#5');
    const beyond = nextWindow(cron, newYork, ms('2025-01-01T00:00:00Z'));
    if (beyond.kind !== 'beyond') throw new Error('An answer came from data that does not reach it.');
    const longer = { ...newYork, untilMs: beyond.untilMs };
    expect(nextWindow(cron, longer, ms('2025-01-01T00:00:00Z'))).toEqual({
      kind: 'fires',
      atMs: ms('2044-02-29T05:00:00Z'),
    });
    expect(nextWindow(cronOf('* * * * *'), newYork, newYork.untilMs + 1)).toMatchObject({ kind: 'beyond' });
  });

  test('a question before the data begins, or of gaps after it ends, is a bug and not an answer', () => {
    expect(() => nextWindow(cronOf('@daily'), utc, utc.fromMs - 1)).toThrow(RangeError);
    expect(() => removedWindows(cronOf('@daily'), utc, utc.fromMs, utc.untilMs)).toThrow(RangeError);
  });
});

test('a gap counts for the span that contains its instant: after the start, up to and with the end', () => {
  const cron = cronOf('30 2 * * *');
  const gapAtMs = ms('2025-03-09T07:00:00Z');
  expect(removedWindows(cron, newYork, gapAtMs - 1, gapAtMs)).toEqual([{ wallTime: '2025-03-09T02:30:00', gapAtMs }]);
  expect(removedWindows(cron, newYork, gapAtMs, gapAtMs + 1)).toEqual([]);
  expect(removedWindows(cron, newYork, gapAtMs - 2, gapAtMs - 1)).toEqual([]);
});
