import fc from 'fast-check';
import { Temporal } from 'temporal-polyfill';
import { describe, expect, test } from 'vitest';
import { isKnownZone, tzVersion, type ZoneData, zoneData } from './intl-zones.ts';

function ms(instant: string): number {
  return Temporal.Instant.from(instant).epochMilliseconds;
}

function offsetAt(data: ZoneData, atMs: number): number {
  return data.transitions.findLast((transition) => transition.atMs <= atMs)?.offsetMs ?? data.initialOffsetMs;
}

describe('a zone as data', () => {
  test.each([
    ['UTC', 2025, []],
    ['Asia/Tokyo', 2025, []],
    ['America/New_York', 2025, ['2025-03-09T07:00:00Z -240', '2025-11-02T06:00:00Z -300']],
    ['Europe/Berlin', 2025, ['2025-03-30T01:00:00Z 120', '2025-10-26T01:00:00Z 60']],
    ['Australia/Lord_Howe', 2025, ['2025-04-05T15:00:00Z 630', '2025-10-04T15:30:00Z 660']],
    ['America/Sao_Paulo', 2018, ['2018-02-18T02:00:00Z -180', '2018-11-04T03:00:00Z -120']],
    ['Africa/Casablanca', 2025, ['2025-02-23T02:00:00Z 0', '2025-04-06T02:00:00Z 60']],
    ['Pacific/Apia', 2011, ['2011-04-02T14:00:00Z -660', '2011-09-24T14:00:00Z -600', '2011-12-30T10:00:00Z 840']],
    // The shortest stay with an offset since 1970: one week of summer time.
    ['America/Recife', 2000, ['2000-02-27T02:00:00Z -180', '2000-10-08T03:00:00Z -120', '2000-10-15T02:00:00Z -180']],
    // Changes of a quarter of an hour and of 44 minutes and a half.
    ['Asia/Kathmandu', 1985, ['1985-12-31T18:30:00Z 345']],
    ['Africa/Monrovia', 1972, ['1972-01-07T00:44:30Z 0']],
  ])('%s in %i', (zone, year, expected) => {
    const data = zoneData(zone, ms(`${year}-01-10T00:00:00Z`), ms(`${year}-12-31T00:00:00Z`));
    const shown = data.transitions.map(({ atMs, offsetMs }) => {
      return `${Temporal.Instant.fromEpochMilliseconds(atMs).toString()} ${offsetMs / 60_000}`;
    });
    expect(shown).toEqual(expected);
    expect(data).toMatchObject({
      zone,
      tzVersion,
      fromMs: ms(`${year}-01-01T00:00:00Z`),
      untilMs: ms(`${year + 1}-01-01T00:00:00Z`),
    });
  });

  test('covers two days before what is asked for, in whole years', () => {
    const data = zoneData('Europe/Berlin', ms('2025-01-02T23:59:59Z'), ms('2026-01-01T00:00:00Z'));
    expect(data).toMatchObject({ fromMs: ms('2024-01-01T00:00:00Z'), untilMs: ms('2027-01-01T00:00:00Z') });
    expect(data.transitions).toHaveLength(6);
  });

  test('tells the offset that Temporal tells, in any zone at any time from 1970 to 2100', () => {
    const zones = fc.constantFrom(...Intl.supportedValuesOf('timeZone'));
    const instants = fc.integer({ min: 0, max: ms('2100-01-01T00:00:00Z') / 1000 }).map((second) => second * 1000);
    fc.assert(
      fc.property(zones, instants, (zone, atMs) => {
        const expected = Temporal.Instant.fromEpochMilliseconds(atMs).toZonedDateTimeISO(zone).offsetNanoseconds / 1e6;
        expect(offsetAt(zoneData(zone, atMs, atMs), atMs)).toBe(expected);
      }),
      { numRuns: 2000 },
    );
  });

  test.each([
    ['America/Noronha', 2000],
    ['Asia/Gaza', 2040],
    ['Asia/Gaza', 2054],
    ['Asia/Hebron', 2072],
  ])('no change lies hidden between two samples: %s in %i, which may keep an offset for a week only', (zone, year) => {
    const untilMs = ms(`${year}-12-31T00:00:00Z`);
    const data = zoneData(zone, ms(`${year}-01-10T00:00:00Z`), untilMs);
    for (let atMs = data.fromMs; atMs < untilMs; atMs += 6 * 3_600_000) {
      const expected = Temporal.Instant.fromEpochMilliseconds(atMs).toZonedDateTimeISO(zone).offsetNanoseconds / 1e6;
      expect(offsetAt(data, atMs)).toBe(expected);
    }
  });

  test('tells the same whichever span it was asked for in', () => {
    const long = zoneData('Africa/Casablanca', ms('1970-01-10T00:00:00Z'), ms('2087-12-31T00:00:00Z'));
    const joined: ZoneData['transitions'][number][] = [];
    for (let year = 1970; year <= 2087; year += 1) {
      const short = zoneData('africa/casablanca', ms(`${year}-01-10T00:00:00Z`), ms(`${year}-12-31T00:00:00Z`));
      expect(short.initialOffsetMs).toBe(joined.at(-1)?.offsetMs ?? long.initialOffsetMs);
      joined.push(...short.transitions);
    }
    expect(long.transitions).toEqual(joined);
  });

  test('is found once', () => {
    const ask = () => zoneData('Europe/Paris', ms('2025-06-01T00:00:00Z'), ms('2026-06-01T00:00:00Z'));
    expect(ask()).toBe(ask());
    expect(Object.isFrozen(ask()) && Object.isFrozen(ask().transitions)).toBe(true);
  });

  test('a century of it takes little enough for the rarest expression (I9)', () => {
    const start = process.cpuUsage();
    const data = zoneData('America/Chicago', ms('2026-01-10T00:00:00Z'), ms('2125-12-31T00:00:00Z'));
    expect(data.transitions).toHaveLength(200);
    // Processor time, because a busy machine stretches the clock: 25 ms were measured.
    expect(process.cpuUsage(start).user / 1_000).toBeLessThan(250);
  });
});

describe('what is no zone', () => {
  test.each(['Bogus/Zone', '', ' ', '+05:30', '-03', 'Europe/Berlin ', 'Europe/Bérlin', 'x'.repeat(100_000)])(
    '%.20s',
    (zone) => {
      expect(isKnownZone(zone)).toBe(false);
      expect(() => zoneData(zone, 0, 0)).toThrow(/is not known .* such as Europe\/Berlin/);
    },
  );

  test('names count in any case', () => {
    expect(['UTC', 'europe/berlin', 'Asia/Calcutta'].every(isKnownZone)).toBe(true);
  });

  test.each([
    ['backwards', 1e12, 0],
    ['without end', 0, Number.POSITIVE_INFINITY],
    ['over centuries', 0, 2e13],
  ])('a span that runs %s is refused', (_name, fromMs, untilMs) => {
    expect(() => zoneData('UTC', fromMs, untilMs)).toThrow(/at most 400 years/);
  });
});
