/**
 * Time zones as data for the engine, which has no `Intl` of its own. The runtime does not hand out its transitions; it only
 * tells the offset at an instant. So a year is sampled, and where two neighbours differ the change between them is found
 * by halving. That takes about 0.25 ms per zone and year, once.
 */

/** The offsets of a zone over a span of time. It has the shape of the engine's own type: this package imports nothing of ours. */
export interface ZoneData {
  readonly zone: string;
  readonly tzVersion: string;
  readonly fromMs: number;
  readonly untilMs: number;
  readonly initialOffsetMs: number;
  readonly transitions: readonly { readonly atMs: number; readonly offsetMs: number }[];
}

/** Which edition of the IANA database this process reads zones from. */
export const tzVersion: string = process.versions.tz ?? 'unknown';

type Transition = ZoneData['transitions'][number];
type ZoneYear = { readonly offsetBeforeMs: number; readonly transitions: readonly Transition[] };

const dayMs = 86_400_000;
/** Since 1970 no zone has changed twice within less than 7 days (Gaza and Hebron in years to come, Brazil in 2000). */
const sampleMs = 4 * dayMs;
/** The engine must see what a clock showed before the first instant asked about; two days is its reach. */
const leadMs = 2 * dayMs;
const yearsLimit = 400;
const zoneYearsLimit = 20_000;
const zoneSpansLimit = 2_000;

/** By name in lower case, as names are matched without regard to case: so the runtime's list of names bounds the cache. */
const formats = new Map<string, Intl.DateTimeFormat>();
const zoneYears = new Map<string, ZoneYear>();
/** Whole answers, since the engine asks for the same span before each window. */
const zoneSpans = new Map<string, ZoneData>();

/** Whether the runtime has the zone. Offsets such as `+05:30` are refused: some versions of the runtime take them, some do not. */
export function isKnownZone(zone: string): boolean {
  return formatOf(zone) !== undefined;
}

/**
 * The offsets of a zone over at least the given span, whole years of UTC.
 *
 *   zoneData('Europe/Berlin', now, now + 366 * 86_400_000).transitions.length // 4: two in each of the two years
 */
export function zoneData(zone: string, fromMs: number, untilMs: number): ZoneData {
  const format = formatOf(zone);
  if (format === undefined) {
    throw new RangeError(
      `The time zone ${JSON.stringify(zone.slice(0, 60))} is not known (zone data ${tzVersion}). Give a name of the IANA database, such as Europe/Berlin.`,
    );
  }
  const firstYear = yearOf(fromMs - leadMs);
  const lastYear = yearOf(untilMs);
  if (!(firstYear <= lastYear && lastYear - firstYear < yearsLimit)) {
    throw new RangeError(
      `Zone data was asked for from ${fromMs} until ${untilMs}. Ask for a span of at most ${yearsLimit} years.`,
    );
  }
  const key = `${zone} ${firstYear} ${lastYear}`;
  const known = zoneSpans.get(key);
  if (known !== undefined) return known;
  const found = joinYears(zone, format, firstYear, lastYear);
  keep(zoneSpans, key, found, zoneSpansLimit);
  return found;
}

function joinYears(zone: string, format: Intl.DateTimeFormat, firstYear: number, lastYear: number): ZoneData {
  const years: ZoneYear[] = [];
  for (let year = firstYear; year <= lastYear; year += 1) years.push(zoneYear(zone, format, year));
  return Object.freeze({
    zone,
    tzVersion,
    fromMs: startOfYear(firstYear),
    untilMs: startOfYear(lastYear + 1),
    initialOffsetMs: years[0]?.offsetBeforeMs ?? 0,
    transitions: Object.freeze(years.flatMap((year) => year.transitions)),
  });
}

function formatOf(zone: string): Intl.DateTimeFormat | undefined {
  if (!/^[a-z]/i.test(zone)) return undefined;
  const key = zone.toLowerCase();
  const known = formats.get(key);
  if (known !== undefined) return known;
  try {
    // The hour is asked for because it formats faster than the date that would stand there otherwise.
    const format = new Intl.DateTimeFormat('en-US', { timeZone: zone, hour: 'numeric', timeZoneName: 'longOffset' });
    formats.set(key, format);
    return format;
  } catch {
    return undefined; // the runtime has no other way to say that it does not know a zone
  }
}

function zoneYear(zone: string, format: Intl.DateTimeFormat, year: number): ZoneYear {
  const key = `${zone.toLowerCase()} ${year}`;
  const known = zoneYears.get(key);
  if (known !== undefined) return known;
  const found = findZoneYear(format, startOfYear(year), startOfYear(year + 1));
  keep(zoneYears, key, found, zoneYearsLimit);
  return found;
}

/** A full cache forgets what it has held longest. */
function keep<Value>(cache: Map<string, Value>, key: string, value: Value, limit: number): void {
  const oldest = cache.size >= limit ? cache.keys().next().value : undefined;
  if (oldest !== undefined) cache.delete(oldest);
  cache.set(key, value);
}

/** Transitions at or after `startMs` and before `endMs`. */
function findZoneYear(format: Intl.DateTimeFormat, startMs: number, endMs: number): ZoneYear {
  let beforeMs = startMs - 1000;
  let offsetMs = offsetAt(format, beforeMs);
  const found: ZoneYear & { transitions: Transition[] } = { offsetBeforeMs: offsetMs, transitions: [] };
  while (beforeMs < endMs - 1000) {
    const atMs = Math.min(beforeMs + sampleMs, endMs - 1000);
    const sampledMs = offsetAt(format, atMs);
    if (sampledMs !== offsetMs) {
      found.transitions.push(
        Object.freeze({ atMs: findChange(format, beforeMs, atMs, offsetMs), offsetMs: sampledMs }),
      );
      offsetMs = sampledMs;
    }
    beforeMs = atMs;
  }
  return found;
}

/** The first whole second after `beforeMs` at which the offset is no longer `offsetMs`. */
function findChange(format: Intl.DateTimeFormat, beforeMs: number, afterMs: number, offsetMs: number): number {
  let low = beforeMs / 1000;
  let high = afterMs / 1000;
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (offsetAt(format, middle * 1000) === offsetMs) low = middle;
    else high = middle;
  }
  return high * 1000;
}

/** Reads `7 PM GMT-05:00`, `GMT+00:00` and, for the days of local mean time, `GMT-04:56:02`. */
function offsetAt(format: Intl.DateTimeFormat, atMs: number): number {
  const text = format.format(atMs);
  const match = /GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/.exec(text);
  if (match === null)
    throw new Error(`The runtime wrote the offset of a time zone as "${text}", which cannot be read.`);
  const [, sign, hours = '0', minutes = '0', seconds = '0'] = match;
  const offsetMs = ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000;
  return sign === '-' ? -offsetMs : offsetMs;
}

function yearOf(atMs: number): number {
  return new Date(atMs).getUTCFullYear();
}

function startOfYear(year: number): number {
  return Date.UTC(year, 0, 1);
}
