/**
 * Windows against an oracle that knows neither bit sets nor segments: it walks wall times and instants one by one, and asks
 * Temporal for what each of them is.
 */
import fc from 'fast-check';
import { Temporal } from 'temporal-polyfill';
import { describe, expect, test } from 'vitest';
import { parseCron } from './cron.ts';
import { type Cron } from './cron-type.ts';
import { nextWindow, removedWindows, type ZoneData } from './zone.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

type Wall = {
  readonly text: string;
  readonly second: number;
  readonly minute: number;
  readonly hour: number;
  readonly day: number;
  readonly month: number;
  readonly weekday: number;
  readonly daysInMonth: number;
};

function wallOf(time: Temporal.PlainDateTime): Wall {
  const { second, minute, hour, day, month, daysInMonth } = time;
  const text = time.toString({ smallestUnit: 'second' });
  return { text, second, minute, hour, day, month, weekday: time.dayOfWeek % 7, daysInMonth };
}

// Expressions, each field with the meaning that its text ought to have.

type Field = { readonly text: string; readonly any: boolean; readonly holds: (wall: Wall) => boolean };

function field(min: number, max: number, get: (wall: Wall) => number): fc.Arbitrary<Field> {
  const value = fc.integer({ min, max });
  const step = fc.integer({ min: 2, max: max - min });
  return fc.oneof(
    step.map((by) => ({ text: `*/${by}`, any: false, holds: (wall: Wall) => (get(wall) - min) % by === 0 })),
    fc.tuple(value, value, step).map(([a, b, by]) => {
      const size = max - min + 1;
      const passed = (value: number) => (value - a + size) % size; // a range may wrap
      const holds = (wall: Wall) => passed(get(wall)) <= passed(b) && passed(get(wall)) % by === 0;
      return { text: `${a}-${b}/${by}`, any: false, holds };
    }),
    fc.uniqueArray(value, { minLength: 1, maxLength: 4 }).map((values) => {
      return { text: values.join(','), any: false, holds: (wall: Wall) => values.includes(get(wall)) };
    }),
  );
}

const star = fc.constant<Field>({ text: '*', any: true, holds: () => true });
const zero = fc.constant<Field>({ text: '0', any: false, holds: (wall) => wall.second === 0 });
const minutes = fc.oneof(
  star,
  field(0, 59, (wall) => wall.minute),
);
const hours = fc.oneof(
  star,
  field(0, 23, (wall) => wall.hour),
  fc.constantFrom('0', '1', '2', '23').map((text) => {
    return { text, any: false, holds: (wall: Wall) => wall.hour === Number(text) };
  }),
);
/** The working day nearest to a day of the wall's month, looked for one day at a time. */
function workdayNear(wall: Wall, day: number): number {
  const weekdayOf = (each: number) => (((wall.weekday + each - wall.day) % 7) + 7) % 7;
  for (const distance of [0, -1, 1, 2, -2]) {
    const near = day + distance;
    if (near >= 1 && near <= wall.daysInMonth && weekdayOf(near) >= 1 && weekdayOf(near) <= 5) return near;
  }
  throw new Error('Every month has a working day within two days of each of its days.');
}

const dayMarks = fc
  .tuple(fc.constantFrom('L', 'L-', 'W', 'LW', 'L-W'), fc.integer({ min: 1, max: 27 }))
  .map(([mark, no]): Field => {
    const fromEnd = (wall: Wall) => wall.daysInMonth - (mark.startsWith('L-') ? no : 0);
    if (mark === 'W') return { text: `${no}W`, any: false, holds: (wall) => wall.day === workdayNear(wall, no) };
    if (mark === 'LW' || mark === 'L-W') {
      const text = mark === 'LW' ? mark : `L-${no}W`;
      return { text, any: false, holds: (wall) => wall.day === workdayNear(wall, fromEnd(wall)) };
    }
    return { text: mark === 'L' ? mark : `L-${no}`, any: false, holds: (wall) => wall.day === fromEnd(wall) };
  });
const days = fc.oneof(
  { weight: 3, arbitrary: star },
  field(1, 31, (wall) => wall.day),
  dayMarks,
);
const months = fc.oneof(
  { weight: 5, arbitrary: star },
  field(1, 12, (wall) => wall.month),
);
const weekdayMarks = fc
  .tuple(fc.integer({ min: 0, max: 6 }), fc.integer({ min: 1, max: 6 }))
  .map(([weekday, nth]): Field => {
    const onDay = (wall: Wall) => wall.weekday === weekday;
    if (nth === 6)
      return { text: `${weekday}L`, any: false, holds: (wall) => onDay(wall) && wall.day > wall.daysInMonth - 7 };
    return { text: `${weekday}#${nth}`, any: false, holds: (wall) => onDay(wall) && Math.ceil(wall.day / 7) === nth };
  });
const weekdays = fc.oneof(
  { weight: 3, arbitrary: star },
  field(0, 6, (wall) => wall.weekday),
  weekdayMarks,
);

type Expression = { readonly cron: Cron; readonly everyHour: boolean; readonly holds: (wall: Wall) => boolean };

function expressions(seconds: fc.Arbitrary<Field>, minute = minutes): fc.Arbitrary<Expression> {
  return fc.tuple(seconds, minute, hours, days, months, weekdays).map((fields) => {
    const [second, minute, hour, day, month, weekday] = fields;
    const text = fields.map((each) => each.text).join(' ');
    const parsed = parseCron(text);
    if (!parsed.ok) throw new Error(`${text}: ${parsed.problem.message}`);
    const onDay = (wall: Wall) =>
      day.text.startsWith('*') || weekday.text.startsWith('*')
        ? day.holds(wall) && weekday.holds(wall)
        : day.holds(wall) || weekday.holds(wall);
    const holds = (wall: Wall) =>
      second.holds(wall) && minute.holds(wall) && hour.holds(wall) && month.holds(wall) && onDay(wall);
    return { cron: parsed.cron, everyHour: hour.any, holds, toString: () => text };
  });
}

/** A stretch of a zone, walked: each instant with its reading, each wall time with the first and last instant that show it. */
type Walk = {
  readonly zone: ZoneData;
  readonly fromMs: number;
  readonly untilMs: number;
  readonly instants: readonly { readonly atMs: number; readonly wall: Wall }[];
  readonly walls: readonly { readonly wall: Wall; readonly firstMs: number; readonly lastMs: number }[];
  /** With the instant's reading had the clock not been changed, which decides whether a pace was kept. */
  readonly gaps: readonly { readonly wall: Wall; readonly insteadOf: Wall; readonly gapAtMs: number }[];
};

function expectAsWalked(expression: Expression, walk: Walk): void {
  const firesOf = (shown: readonly { readonly atMs: number; readonly wall: Wall }[]) =>
    (expression.everyHour ? walk.instants : shown)
      .filter(({ wall, atMs }) => atMs > walk.fromMs && atMs <= walk.untilMs && expression.holds(wall))
      .map(({ atMs }) => atMs)
      .sort((a, b) => a - b);
  const fires = firesOf(walk.walls.map(({ wall, firstMs }) => ({ wall, atMs: firstMs })));
  const last = firesOf(walk.walls.map(({ wall, lastMs }) => ({ wall, atMs: lastMs })));
  const lost = walk.gaps.filter(
    ({ wall, insteadOf }) => expression.holds(wall) && !(expression.everyHour && expression.holds(insteadOf)),
  );
  expect(collect(expression.cron, walk, 'skip')).toEqual(fires);
  expect(collect(expression.cron, walk, 'skip', 'second')).toEqual(last);
  expect(collect(expression.cron, walk, 'skip', 'both')).toEqual(firesOf(walk.instants));
  expect(removedWindows(expression.cron, walk.zone, walk.fromMs, walk.untilMs)).toEqual(
    lost.map(({ wall, gapAtMs }) => ({ wallTime: wall.text, gapAtMs })),
  );
  const withGaps = [...new Set([...fires, ...lost.map(({ gapAtMs }) => gapAtMs)])].sort((a, b) => a - b);
  expect(collect(expression.cron, walk, 'fire_after')).toEqual(withGaps);
}

function collect(
  cron: Cron,
  walk: Walk,
  gap: 'skip' | 'fire_after',
  overlap: 'first' | 'second' | 'both' = 'first',
): readonly number[] {
  const policy = { gap, overlap };
  const found: number[] = [];
  let afterMs = walk.fromMs;
  for (;;) {
    const next = nextWindow(cron, walk.zone, afterMs, policy);
    if (next.kind !== 'fires' || next.atMs > walk.untilMs) return found;
    if (next.atMs <= afterMs) throw new Error(`${next.atMs} does not come after ${afterMs}`);
    // Asked from anywhere in between, the answer is the same.
    const again = nextWindow(cron, walk.zone, Math.floor((afterMs + next.atMs) / 2), policy);
    if (again.kind !== 'fires' || again.atMs !== next.atMs) throw new Error(`${next.atMs} is not found from nearer by`);
    afterMs = next.atMs;
    found.push(afterMs);
  }
}

// Real zones, around the changes that are known to be hard.

function walkReal(name: string, near: string, stepMs: number, reachMs: number): Walk {
  const change = Temporal.Instant.from(near).toZonedDateTimeISO(name).getTimeZoneTransition('next');
  if (change === null) throw new Error(`${name} has no change after ${near}`);
  const gapAtMs = change.epochMilliseconds;
  const [fromMs, untilMs] = [gapAtMs - reachMs, gapAtMs + reachMs];
  const at = (ms: number) => Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(name);
  const instants = [];
  for (let atMs = fromMs; atMs <= untilMs; atMs += stepMs)
    instants.push({ atMs, wall: wallOf(at(atMs).toPlainDateTime()) });
  const walls = [];
  const gaps = [];
  const end = at(untilMs).toPlainDateTime();
  let time = at(fromMs).toPlainDateTime();
  for (; Temporal.PlainDateTime.compare(time, end) <= 0; time = time.add({ milliseconds: stepMs })) {
    const wall = wallOf(time);
    const first = time.toZonedDateTime(name, { disambiguation: 'earlier' });
    const later = time.toZonedDateTime(name, { disambiguation: 'later' });
    const shown = { wall, firstMs: first.epochMilliseconds, lastMs: later.epochMilliseconds };
    if (first.toPlainDateTime().equals(time)) walls.push(shown);
    else gaps.push({ wall, insteadOf: wallOf(later.toPlainDateTime()), gapAtMs });
  }
  const zone = {
    zone: name,
    tzVersion: 'test',
    fromMs: fromMs - 2 * dayMs,
    untilMs: untilMs + 4 * dayMs,
    initialOffsetMs: at(gapAtMs - 1).offsetNanoseconds / 1e6,
    transitions: [{ atMs: gapAtMs, offsetMs: change.offsetNanoseconds / 1e6 }],
  };
  return { zone, fromMs, untilMs, instants, walls, gaps };
}

const changes = [
  ['America/New_York', '2025-01-01T00:00:00Z'],
  ['America/New_York', '2025-06-01T00:00:00Z'],
  ['Europe/Berlin', '2026-01-01T00:00:00Z'],
  ['Europe/Berlin', '2026-06-01T00:00:00Z'],
  ['Australia/Lord_Howe', '2025-02-01T00:00:00Z'],
  ['Australia/Lord_Howe', '2025-06-01T00:00:00Z'],
  ['America/Sao_Paulo', '2018-01-01T00:00:00Z'],
  ['America/Sao_Paulo', '2018-06-01T00:00:00Z'],
  ['Africa/Casablanca', '2025-01-01T00:00:00Z'],
  ['Africa/Casablanca', '2025-03-01T00:00:00Z'],
  ['Asia/Kathmandu', '1985-01-01T00:00:00Z'],
  ['Pacific/Apia', '2011-12-01T00:00:00Z'],
] as const;

describe('real zones fire as walked (I3)', () => {
  test.each(changes)('%s, the change after %s, by the minute', (name, near) => {
    const walk = walkReal(name, near, minuteMs, 30 * hourMs);
    fc.assert(
      fc.property(expressions(zero), (expression) => expectAsWalked(expression, walk)),
      { numRuns: 150 },
    );
  });

  test.each(changes.slice(0, 8))('%s, the change after %s, by the second', (name, near) => {
    const walk = walkReal(name, near, 1000, 1.2 * hourMs);
    const seconds = fc.oneof(
      star,
      field(0, 59, (wall) => wall.second),
    );
    fc.assert(
      fc.property(expressions(seconds), (expression) => expectAsWalked(expression, walk)),
      { numRuns: 40 },
    );
  });
});

describe('zones that never were', () => {
  const baseMs = Temporal.Instant.from('2026-01-24T00:00:00Z').epochMilliseconds;
  const wallAt = new Map<number, Wall>();
  for (let wallMs = baseMs - dayMs; wallMs <= baseMs + 9 * dayMs; wallMs += 15 * minuteMs) {
    wallAt.set(
      wallMs,
      wallOf(Temporal.Instant.fromEpochMilliseconds(wallMs).toZonedDateTimeISO('UTC').toPlainDateTime()),
    );
  }
  const readWall = (wallMs: number): Wall => {
    const wall = wallAt.get(wallMs);
    if (wall === undefined) throw new Error(`no wall time ${wallMs}`);
    return wall;
  };
  const quarter = (max: number) => fc.integer({ min: 0, max }).map((count) => count * 15 * minuteMs);
  const offset = quarter(96).map((span) => span - dayMs / 2);
  // Changes so close to each other that one gives back what another took.
  const zones = fc
    .tuple(
      offset,
      fc.uniqueArray(fc.tuple(quarter(200), offset), { minLength: 1, maxLength: 5, selector: ([at]) => at }),
    )
    .map(([initialOffsetMs, drawn]): ZoneData => {
      const transitions = drawn
        .map(([at, offsetMs]) => ({ atMs: baseMs + 2 * dayMs + at, offsetMs }))
        .sort((a, b) => a.atMs - b.atMs);
      return {
        zone: 'Test/Drawn',
        tzVersion: 'test',
        fromMs: baseMs,
        untilMs: baseMs + 8 * dayMs,
        initialOffsetMs,
        transitions,
      };
    });

  function walkDrawn(zone: ZoneData): Walk {
    const offsetAt = (atMs: number) =>
      zone.transitions.findLast((each) => each.atMs <= atMs)?.offsetMs ?? zone.initialOffsetMs;
    const instants = [];
    const firstMs = new Map<number, number>();
    const lastMs = new Map<number, number>();
    for (let atMs = zone.fromMs; atMs < zone.untilMs; atMs += 15 * minuteMs) {
      const wallMs = atMs + offsetAt(atMs);
      instants.push({ atMs, wall: readWall(wallMs) });
      if (!firstMs.has(wallMs)) firstMs.set(wallMs, atMs);
      lastMs.set(wallMs, atMs);
    }
    const gaps = [];
    for (const { atMs, offsetMs } of zone.transitions) {
      const before = offsetAt(atMs - 1);
      for (let wallMs = atMs + before; wallMs < atMs + offsetMs; wallMs += 15 * minuteMs) {
        const insteadMs = wallMs - before;
        if (firstMs.has(wallMs)) continue;
        gaps.push({ wall: readWall(wallMs), insteadOf: readWall(insteadMs + offsetAt(insteadMs)), gapAtMs: atMs });
      }
    }
    const walls = [...firstMs].map(([wallMs, atMs]) => {
      return { wall: readWall(wallMs), firstMs: atMs, lastMs: lastMs.get(wallMs) ?? atMs };
    });
    return { zone, fromMs: zone.fromMs + dayMs, untilMs: zone.untilMs - 2.5 * dayMs, instants, walls, gaps };
  }

  test('fire as walked, whatever the clock does (I3)', () => {
    const quarters = fc.constantFrom('0', '*/15', '15,45', '30').map((text): Field => {
      const values = text === '*/15' ? [0, 15, 30, 45] : text.split(',').map(Number);
      return { text, any: false, holds: (wall) => values.includes(wall.minute) };
    });
    const drawn = expressions(zero, quarters);
    fc.assert(
      fc.property(drawn, zones, (expression, zone) => expectAsWalked(expression, walkDrawn(zone))),
      { numRuns: 400 },
    );
  });
});
