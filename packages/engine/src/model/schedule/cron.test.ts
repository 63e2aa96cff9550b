import fc from 'fast-check';
import { Temporal } from 'temporal-polyfill';
import { describe, expect, test } from 'vitest';
import { parseCron } from './cron.ts';
import { nextWall } from './cron-next.ts';
import { type Cron } from './cron-type.ts';
import { formatWall } from './local-time.ts';

function cronOf(expression: string, seed?: string): Cron {
  const parsed = parseCron(expression, seed);
  if (!parsed.ok) throw new Error(`${expression}: ${parsed.problem.message}`);
  return parsed.cron;
}

function wallsFrom(expression: string, from: string, count: number, seed?: string): readonly string[] {
  const cron = cronOf(expression, seed);
  const walls: string[] = [];
  let wallMs = Temporal.Instant.from(`${from}Z`).epochMilliseconds - 1;
  for (let index = 0; index < count; index += 1) {
    wallMs = nextWall(cron, wallMs + 1) ?? Number.NaN;
    walls.push(formatWall(wallMs));
  }
  return walls;
}

describe('what an expression means', () => {
  test.each([
    ['* * * * *', '2026-01-01T00:00:01', ['2026-01-01T00:01:00', '2026-01-01T00:02:00']],
    ['*/20 * * * * *', '2026-12-31T23:59:30', ['2026-12-31T23:59:40', '2027-01-01T00:00:00']],
    ['5/20 * * * *', '2026-01-01T00:00:00', ['2026-01-01T00:05:00', '2026-01-01T00:25:00', '2026-01-01T00:45:00']],
    ['29,30,59 23 * * *', '2026-01-01T00:00:00', ['2026-01-01T23:29:00', '2026-01-01T23:30:00', '2026-01-01T23:59:00']],
    ['0 9-17/4 * * *', '2026-01-01T10:00:00', ['2026-01-01T13:00:00', '2026-01-01T17:00:00', '2026-01-02T09:00:00']],
    ['0 0 31 * *', '2026-01-31T00:00:01', ['2026-03-31T00:00:00', '2026-05-31T00:00:00']],
    ['0 0 * jan,jul MON', '2026-01-20T00:00:00', ['2026-01-26T00:00:00', '2026-07-06T00:00:00']],
    ['0 0 1 JUN-JUL *', '2026-01-01T00:00:00', ['2026-06-01T00:00:00', '2026-07-01T00:00:00', '2027-06-01T00:00:00']],
    ['0 0 * * 7', '2026-01-01T00:00:00', ['2026-01-04T00:00:00', '2026-01-11T00:00:00']],
    ['0 0 * * 0', '2026-01-01T00:00:00', ['2026-01-04T00:00:00', '2026-01-11T00:00:00']],
    ['0 0 * * FRI-SUN', '2026-01-01T00:00:00', ['2026-01-02T00:00:00', '2026-01-03T00:00:00', '2026-01-04T00:00:00']],
    ['0 0 L * *', '2028-01-31T00:00:00', ['2028-01-31T00:00:00', '2028-02-29T00:00:00', '2028-03-31T00:00:00']],
    ['0 0 15,L * ?', '2026-02-01T00:00:00', ['2026-02-15T00:00:00', '2026-02-28T00:00:00']],
    ['0 0 * * 5L', '2026-01-01T00:00:00', ['2026-01-30T00:00:00', '2026-02-27T00:00:00']],
    [
      '0 0 ? * FRIL,MON#1',
      '2026-01-01T00:00:00',
      ['2026-01-05T00:00:00', '2026-01-30T00:00:00', '2026-02-02T00:00:00'],
    ],
    ['0 0 * * MON#2', '2026-01-01T00:00:00', ['2026-01-12T00:00:00', '2026-02-09T00:00:00']],
    ['0 0 * * MON#5', '2026-01-01T00:00:00', ['2026-03-30T00:00:00', '2026-06-29T00:00:00']],
    ['0 22-2/2 * * *', '2026-01-01T21:00:00', ['2026-01-01T22:00:00', '2026-01-02T00:00:00', '2026-01-02T02:00:00']],
    ['0 0 * * FRI-MON', '2026-01-05T00:00:00', ['2026-01-05T00:00:00', '2026-01-09T00:00:00', '2026-01-10T00:00:00']],
    ['0 0 1 NOV-FEB *', '2026-02-02T00:00:00', ['2026-11-01T00:00:00', '2026-12-01T00:00:00', '2027-01-01T00:00:00']],
    ['0 0 * * 7-2', '2026-01-03T00:00:00', ['2026-01-04T00:00:00', '2026-01-05T00:00:00', '2026-01-06T00:00:00']],
    ['0 0 L-3 * *', '2028-02-01T00:00:00', ['2028-02-26T00:00:00', '2028-03-28T00:00:00']],
    ['0 0 15W * *', '2026-02-01T00:00:00', ['2026-02-16T00:00:00', '2026-03-16T00:00:00', '2026-04-15T00:00:00']],
    ['0 0 1W * *', '2026-08-01T00:00:00', ['2026-08-03T00:00:00', '2026-09-01T00:00:00']],
    ['0 0 31W * *', '2026-05-01T00:00:00', ['2026-05-29T00:00:00', '2026-07-31T00:00:00']],
    ['0 0 LW * *', '2026-01-01T00:00:00', ['2026-01-30T00:00:00', '2026-02-27T00:00:00', '2026-03-31T00:00:00']],
    ['0 0 L-2W * *', '2026-02-01T00:00:00', ['2026-02-26T00:00:00', '2026-03-30T00:00:00']],
    ['0 0 12 1 1 ? 2027', '2026-01-01T00:00:00', ['2027-01-01T12:00:00']],
    ['0 0 0 1 1 ? 2028-2032/2', '2026-01-01T00:00:00', ['2028-01-01T00:00:00', '2030-01-01T00:00:00']],
    ['@hourly', '2026-01-01T00:00:01', ['2026-01-01T01:00:00']],
    ['@daily', '2026-01-01T00:00:01', ['2026-01-02T00:00:00']],
    ['@weekly', '2026-01-01T00:00:01', ['2026-01-04T00:00:00']],
    ['@monthly', '2026-01-01T00:00:01', ['2026-02-01T00:00:00']],
    [' @Yearly\t', '2026-01-01T00:00:01', ['2027-01-01T00:00:00']],
  ])('%s from %s', (expression, from, expected) => {
    expect(wallsFrom(expression, from, expected.length)).toEqual(expected);
  });

  test('either day matches when neither field begins with *, and both must otherwise, as in Vixie cron', () => {
    expect(wallsFrom('0 0 13 * FRI', '2026-02-01T00:00:00', 3)).toEqual(
      ['2026-02-06T00:00:00', '2026-02-13T00:00:00', '2026-02-20T00:00:00'], // the 13th is a Friday
    );
    expect(wallsFrom('0 0 */10 * MON', '2026-01-01T00:00:00', 3)).toEqual([
      '2026-05-11T00:00:00',
      '2026-06-01T00:00:00',
      '2026-08-31T00:00:00',
    ]);
    expect(wallsFrom('0 0 1-31/10 * MON', '2026-01-01T00:00:00', 3)).toEqual([
      '2026-01-01T00:00:00',
      '2026-01-05T00:00:00',
      '2026-01-11T00:00:00',
    ]);
    expect(wallsFrom('0 0 13 * ?', '2026-02-01T00:00:00', 2)).toEqual(['2026-02-13T00:00:00', '2026-03-13T00:00:00']);
    expect(wallsFrom('0 0 */1 * MON', '2026-01-01T00:00:00', 2)).toEqual([
      '2026-01-05T00:00:00',
      '2026-01-12T00:00:00',
    ]);
  });

  test.each(['0-23', '*/1', '0-11,12-23', '0/1'])('%s in the hour field is every hour, as * is', (hours) => {
    expect(cronOf(`0 ${hours} * * *`)).toEqual(cronOf('0 * * * *'));
  });

  test('a cron is frozen', () => {
    const cron = cronOf('@daily');
    expect(Object.isFrozen(cron) && Object.isFrozen(cron.nthWeekdays)).toBe(true);
  });

  test('the rarest day comes back after 40 years, across the year 2100', () => {
    let longest = 0;
    for (const weekday of ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT']) {
      const years = wallsFrom(`0 0 * 2 ${weekday}#5`, '2000-01-01T00:00:00', 30).map((wall) =>
        Number(wall.slice(0, 4)),
      );
      for (const [index, year] of years.entries()) longest = Math.max(longest, year - (years[index - 1] ?? year));
    }
    expect(longest).toBe(40);
  });
});

describe('H is spread by the seed', () => {
  test.each([
    ['H * * * *', 60],
    ['H H * * *', 60 * 24],
    ['H(10-19) * * * *', 10],
    ['H/15 * * * *', 15],
    ['0 0 H * *', 28],
  ])('%s takes all of its %i places, none far more often than others', (expression, places) => {
    const counts = new Map<string, number>();
    const seeds = places * 200;
    for (let index = 0; index < seeds; index += 1) {
      const cron = JSON.stringify(cronOf(expression, `schedule-${index}`));
      counts.set(cron, (counts.get(cron) ?? 0) + 1);
    }
    expect(counts.size).toBe(places);
    for (const count of counts.values()) expect(Math.abs(count - 200)).toBeLessThan(200 * 0.4);
  });

  test('a place once given stays: it is part of when a schedule fires (I3)', () => {
    expect(wallsFrom('H H * * *', '2026-01-01T00:00:00', 1, 'schedule-1')).toEqual(['2026-01-01T08:57:00']);
    expect(wallsFrom('H/15 * * * *', '2026-01-01T00:00:00', 3, 'schedule-1')).toEqual([
      '2026-01-01T00:12:00',
      '2026-01-01T00:27:00',
      '2026-01-01T00:42:00',
    ]);
    expect(wallsFrom('H(30-40)/5 2 * * *', '2026-01-01T00:00:00', 2, 'schedule-1')).toEqual([
      '2026-01-01T02:32:00',
      '2026-01-01T02:37:00',
    ]);
  });
});

describe('a refusal points to the fault and says what to do', () => {
  test.each([
    ['', 'expression', 1, 'Write five fields'],
    ['   ', 'expression', 1, 'Write five fields'],
    ['* * * *', 'expression', 8, 'Write minute, hour'],
    ['* * * * * * 2026 7', 'expression', 18, 'seven with the year last'],
    ['* * * * * * 1969', 'year', 13, '1970 to 2199'],
    ['* * * * * * 2030-2028', 'year', 13, 'Write 2028-2030.'],
    ['* * * * * * H', 'year', 13, 'Write the years'],
    ['CRON_TZ= 0 0 * * *', 'expression', 9, 'without a space'],
    ['CRON_TZ=UTC', 'expression', 1, 'Write five fields'],
    ['@reboot', 'expression', 1, 'Use @hourly'],
    ['@daily 5', 'expression', 8, 'stands alone'],
    ['* * * * é', 'expression', 9, 'plain letters'],
    ['60 * * * *', 'minute', 1, '0 to 59'],
    ['  0 24 * * *', 'hour', 5, '0 to 23'],
    ['0 0 0 * *', 'day of month', 5, '1 to 31'],
    ['0 0 1 13 *', 'month', 7, '1 to 12, or JAN to DEC'],
    ['0 0 1 JANUARY *', 'month', 7, 'JAN to DEC'],
    ['0 0 * * 8', 'day of week', 9, '0 to 7, or SUN to SAT'],
    ['0,15,x * * * *', 'minute', 6, '0 to 59'],
    ['0,,5 * * * *', 'minute', 3, 'remove the stray sign'],
    ['/5 * * * *', 'minute', 1, 'remove the stray sign'],
    ['1- * * * *', 'minute', 3, '0 to 59'],
    ['1-2-3 * * * *', 'minute', 3, '0 to 59'],
    ['*/0 * * * *', 'minute', 3, '1 to 60'],
    ['*/90 * * * *', 'minute', 3, '1 to 60'],
    ['*/ * * * *', 'minute', 3, '1 to 60'],
    ['*/5/5 * * * *', 'minute', 3, '1 to 60'],
    ['99999999999999999999999999 * * * *', 'minute', 1, '0 to 59'],
    ['? * * * *', 'minute', 1, 'Write *'],
    ['0 0 ?,5 * *', 'day of month', 5, 'stand alone'],
    ['0 0 5L * *', 'day of month', 5, 'Write L alone'],
    ['0 0 L/2 * *', 'day of month', 6, 'Remove the slash'],
    ['0 0 * * L', 'day of week', 9, '5L is the last Friday'],
    ['0 0 2#2 * *', 'day of month', 5, 'day of week only'],
    ['0 0 * * MON#6', 'day of week', 13, 'Give 1 to 5'],
    ['0 0 * * MON#', 'day of week', 13, 'Give 1 to 5'],
    ['H(1-5 * * * *', 'minute', 6, 'H(0-29)'],
    ['H(5) * * * *', 'minute', 3, '0-59'],
    ['H(50-70) * * * *', 'minute', 6, '0 to 59'],
    ['0 0 32W * *', 'day of month', 5, '1 to 31'],
    ['0 0 L-28 * *', 'day of month', 5, 'L-1 to L-27'],
    ['0 0 LX * *', 'day of month', 5, 'LW for the last working day'],
    ['0 0 * * 5W', 'day of week', 9, '0 to 7'],
  ])('%s: %s at column %i, %s', (expression, field, at, remedy) => {
    const parsed = parseCron(expression, 'seed');
    expect(parsed).toMatchObject({ ok: false, problem: { field, at } });
    expect(parsed.ok ? '' : parsed.problem.remedy).toContain(remedy);
  });

  test('CRON_TZ names the zone as it is written', () => {
    expect(parseCron('CRON_TZ=Europe/Berlin 30 2 * * *')).toEqual({
      ...parseCron('30 2 * * *'),
      zone: 'Europe/Berlin',
    });
    expect(parseCron('TZ=UTC @daily')).toMatchObject({ ok: true, zone: 'UTC' });
    expect(parseCron('CRON_TZ=UTC 61 * * * *')).toMatchObject({ ok: false, problem: { field: 'minute', at: 13 } });
  });

  test('H without a seed is refused, since all schedules would fall on one place', () => {
    expect(parseCron('0 H * * *')).toMatchObject({ ok: false, problem: { field: 'hour', at: 3 } });
  });
});

describe('any text at all', () => {
  const alphabet = '0123456789*/,-#?HLWhlw() \t@JANMONSUNFRITZ=_C'.split('');
  const nearly = fc.array(fc.constantFrom(...alphabet), { maxLength: 60 }).map((characters) => characters.join(''));

  test('parsing does not throw, and a fault lies within the text or at its end', () => {
    const anything = fc.oneof(nearly, fc.string({ unit: 'binary', maxLength: 200 }));
    fc.assert(
      fc.property(anything, fc.option(fc.string(), { nil: undefined }), (expression, seed) => {
        const parsed = parseCron(expression, seed);
        if (parsed.ok) return;
        expect(parsed.problem.at).toBeGreaterThanOrEqual(1);
        expect(parsed.problem.at).toBeLessThanOrEqual(expression.length + 1);
        expect(parsed.problem.remedy).not.toBe('');
      }),
      { numRuns: 20_000 },
    );
  });

  test.each([
    ['commas', ','],
    ['values', '1,'],
    ['every', '*/1,'],
    ['dashes', '-'],
    ['parentheses', 'H('],
    ['words', '* '],
    ['digits', '9'],
  ])('a thousand characters or a million, of %s: the time stays small', (_name, piece) => {
    for (const length of [999, 1_000_000]) {
      const expression = piece.repeat(Math.ceil(length / piece.length)).slice(0, length);
      const start = Temporal.Now.instant().epochMilliseconds;
      parseCron(expression, 'seed');
      expect(Temporal.Now.instant().epochMilliseconds - start).toBeLessThan(200);
    }
  });
});
