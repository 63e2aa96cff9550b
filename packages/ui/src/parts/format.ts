/** Times, spans and counts as people read them. */
const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** `420 ms`, `1.4 s`, `12 s`, `3 min 20 s`, `2 h 5 min`, `4 d 3 h`. */
export function span(ms: number): string {
  const value = Math.max(0, ms);
  if (Math.round(value) < SECOND) return `${Math.round(value)} ms`;
  if (value < 10 * SECOND) return `${value % SECOND === 0 ? value / SECOND : (value / SECOND).toFixed(1)} s`;
  if (value < MINUTE) return `${Math.round(value / SECOND)} s`;
  if (value < HOUR) return two(value, MINUTE, 'min', SECOND, 's');
  if (value < DAY) return two(value, HOUR, 'h', MINUTE, 'min');
  return two(value, DAY, 'd', HOUR, 'h');
}

function two(ms: number, large: number, largeUnit: string, small: number, smallUnit: string): string {
  const total = Math.round(ms / small);
  const perLarge = large / small;
  const [whole, rest] = [Math.floor(total / perLarge), total % perLarge];
  return rest === 0 ? `${whole} ${largeUnit}` : `${whole} ${largeUnit} ${rest} ${smallUnit}`;
}

/** `12 s ago`, `in 3 min`: one unit, because it is read at a glance. */
export function fromNow(at: number, now: number): string {
  const distance = Math.abs(at - now);
  // The page's clock ticks once a second, and the server's may be a little ahead: what just happened is not in the future.
  if (distance < 5 * SECOND) return at - now > 2 * SECOND ? 'in a moment' : 'just now';
  const [amount, unit] =
    distance < 90 * SECOND
      ? [distance / SECOND, 's']
      : distance < 90 * MINUTE
        ? [distance / MINUTE, 'min']
        : distance < 36 * HOUR
          ? [distance / HOUR, 'h']
          : [distance / DAY, 'd'];
  const text = `${Math.round(amount)} ${unit}`;
  return at > now ? `in ${text}` : `${text} ago`;
}

const clock = new Intl.DateTimeFormat(undefined, {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hour12: false,
});
const minutes = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', hour12: false });
const day = new Intl.DateTimeFormat(undefined, { weekday: 'short', day: 'numeric', month: 'short' });
const withYear = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', year: 'numeric' });

/** `a, b, c and 37 more`. */
export function fewOf(words: readonly string[], most: number): string {
  if (words.length <= most + 1) return words.join(', ');
  return `${words.slice(0, most).join(', ')} and ${count(words.length - most)} more`;
}

/** `14:03:20` today, `Mon 3 Nov, 14:03:20` else, without seconds where there are none. In the viewer's zone. */
export function localTime(at: number, now: number, withDay = false): string {
  const date = new Date(at);
  if (!withDay && new Date(now).toDateString() === date.toDateString()) return clock.format(date);
  const isNear = Math.abs(now - at) < 300 * DAY;
  // Planned times are whole minutes.
  const time = at % MINUTE === 0 ? minutes.format(date) : clock.format(date);
  return `${(isNear ? day : withYear).format(date)}, ${time}`;
}

/** Made once for each zone: that takes as long as a hundred times of their use. */
const wholes = new Map<string | undefined, Intl.DateTimeFormat>();
function wholeIn(timeZone: string | undefined): Intl.DateTimeFormat {
  const known =
    wholes.get(timeZone) ??
    new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'long', hour12: false, timeZone });
  wholes.set(timeZone, known);
  return known;
}

/** The whole truth, for hovering: the viewer's zone, UTC, and the dag's own zone where it has one. */
export function allZones(at: number, zone?: string): string {
  const date = new Date(at);
  const inZone = (timeZone: string | undefined) => wholeIn(timeZone).format(date);
  const lines = [inZone(undefined), `UTC: ${date.toISOString().replace('T', ' ').replace('Z', '')}`];
  if (zone !== undefined && zone !== 'UTC') {
    try {
      lines.push(`${zone}: ${inZone(zone)}`);
    } catch {
      lines.push(`${zone}: this browser does not know the zone`);
    }
  }
  return lines.join('\n');
}

const whole = new Intl.NumberFormat('en');
export const count = (value: number): string => whole.format(value).replaceAll(',', '\u202f');

export function plural(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

export function bytes(value: number): string {
  if (value < 1_000) return `${value} B`;
  if (value < 1_000_000) return `${(value / 1_000).toFixed(1)} kB`;
  if (value < 1_000_000_000) return `${(value / 1_000_000).toFixed(1)} MB`;
  return `${(value / 1_000_000_000).toFixed(1)} GB`;
}

/**
 * Ids are long. Those that servers make (version 7) begin with the time and end with the shard; what is random is between.
 * Runs of one batch share it, and have their place in the batch after it.
 */
export function shortId(id: string): string {
  const place = id[14] === '7' ? Number.parseInt(id.slice(30, 34), 16) : 0;
  return place > 0 ? `${id.slice(24, 30)}-${place}` : id.slice(24, 30);
}

const SESSION = /^browser-[0-9a-f]{12}$/;

/** Sessions of browsers have numbers that tell nobody anything; System lists them. */
export function actorName(actor: string): string {
  const name = actor.replace(/^token:/, '');
  return SESSION.test(name) ? 'web UI' : name;
}
