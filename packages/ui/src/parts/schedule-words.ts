/** A cron line in words, for the lines that people write; others are shown as they are. */
const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];
const DAY_NAMES = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

const pad = (value: string): string => value.padStart(2, '0');

const UNITS: Readonly<Record<string, string>> = { s: 'second', m: 'minute', h: 'hour', d: 'day' };

/** `every 15m`, as servers say it. */
function intervalWords(fires: string): string | null {
  const [, amount, unit] = /^every (\d+)([smhd])$/.exec(fires) ?? [];
  if (amount === undefined || unit === undefined) return null;
  return amount === '1' ? `every ${UNITS[unit]}` : `every ${amount} ${UNITS[unit]}s`;
}

export function cronWords(cron: string): string {
  const interval = intervalWords(cron);
  if (interval !== null) return interval;
  const fields = cron.trim().toLowerCase().split(/\s+/);
  const [second, minute, hour, day, month, weekday] = fields.length === 6 ? fields : ['0', ...fields];
  if (fields.length < 5 || fields.length > 6 || month !== '*' || day === undefined || weekday === undefined)
    return cron;
  const isDaily = day === '*' && (weekday === '*' || weekday === '?');
  const step = (field: string | undefined) => /^\*\/(\d+)$/.exec(field ?? '')?.[1];
  if (isDaily && hour === '*') {
    if (second === '*' && minute === '*') return 'every second';
    if (step(second) !== undefined && minute === '*') return `every ${step(second)} seconds`;
    if (second !== '0') return cron;
    if (minute === '*') return 'every minute';
    if (step(minute) !== undefined) return `every ${step(minute)} minutes`;
    if (/^\d+$/.test(minute ?? '')) return minute === '0' ? 'every hour' : `every hour at :${pad(minute ?? '')}`;
    return cron;
  }
  if (second !== '0' || !/^\d+$/.test(minute ?? '')) return cron;
  if (isDaily && step(hour) !== undefined)
    return `every ${step(hour)} hours${minute === '0' ? '' : ` at :${pad(minute ?? '')}`}`;
  if (!/^\d+$/.test(hour ?? '')) return cron;
  const time = `${pad(hour ?? '')}:${pad(minute ?? '')}`;
  if (isDaily) return `every day at ${time}`;
  if (day === '*') return weekdayWords(weekday, time) ?? cron;
  if (/^\d+$/.test(day) && weekday === '*') return `on day ${day} of each month at ${time}`;
  if (day === 'l' && weekday === '*') return `on the last day of each month at ${time}`;
  return cron;
}

function weekdayWords(field: string, time: string): string | null {
  if (field === '1-5' || field === 'mon-fri') return `Monday to Friday at ${time}`;
  if (field === '6,0' || field === '0,6' || field === 'sat,sun') return `Saturday and Sunday at ${time}`;
  const names = field.split(',').map((one) => DAYS[/^\d$/.test(one) ? Number(one) : DAY_NAMES.indexOf(one)]);
  if (names.some((name) => name === undefined)) return null;
  return names.length === 1
    ? `every ${names[0]} at ${time}`
    : `${names.slice(0, -1).join(', ')} and ${names.at(-1)} at ${time}`;
}
