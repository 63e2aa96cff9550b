/** What editors show about schedules. */
import { REQUIRES_WORDS } from './requires-fields.ts';

const ONE = {
  schedule: {
    description: 'When runs are created automatically: exactly one of cron, every and at.',
    examples: [{ cron: '0 7 * * *', zone: 'Europe/Berlin' }, { every: '15m' }],
  },
  'schedule.cron': {
    description:
      'Minute, hour, day of month, month, day of week. With six fields, seconds come first; with seven, the year comes last. L, W, #, ? and H are supported. A list fires whenever one of them does.',
    examples: ['*/15 * * * *', ['0 9 * * MON-FRI', '0 12 * * SAT']],
  },
  'schedule.every': { description: 'An interval. It keeps its pace through clock changes.', examples: ['15m'] },
  'schedule.anchor': {
    description:
      'With every: a time from which the intervals are counted, in both directions. Default: 1970-01-01T00:00:00Z.',
    examples: ['2027-01-01T09:00:00'],
  },
  'schedule.phase': { description: 'With every: shifts each firing. Shorter than the interval.', examples: ['5m'] },
  'schedule.at': {
    description: 'One time or a list. Without an offset: a time in the zone.',
    examples: ['2027-01-01T09:00:00Z', ['2027-01-01T09:00:00', '2027-07-01T09:00:00']],
  },
  'schedule.zone': { description: 'IANA time zone. Default: UTC.', examples: ['Europe/Berlin'] },
  'schedule.gap': {
    description: 'For a local time that a clock change removes: skip it, or fire at the end of the gap (the default).',
  },
  'schedule.overlap': {
    description:
      'For a local time that occurs twice when the clock goes back: fire the first time, the second, or both.',
  },
  'schedule.start': { description: 'No window before this time.', examples: ['2027-01-01T00:00:00Z'] },
  'schedule.end': { description: 'No window after this time.', examples: ['2027-12-31T23:59:59Z'] },
  'schedule.limit': { description: 'How many times the schedule fires in all.' },
  'schedule.calendar': {
    description: 'Days on which it may fire, by the date in its zone.',
    examples: [{ weekdays: ['MON', 'TUE', 'WED', 'THU', 'FRI'], exclude: ['12-25', '2027-03-26'] }],
  },
  'schedule.calendar.weekdays': { description: 'Only on these days of the week.' },
  'schedule.calendar.exclude': {
    description: 'Not on these days: 2027-12-25, 2027-12-24/2028-01-01, or 12-25 for every year.',
    examples: [['12-25', '2027-12-24/2028-01-01']],
  },
  'schedule.calendar.only': { description: 'Only on these days.', examples: [['2027-01-04', '2027-04-01']] },
  'schedule.calendar.ical': { description: 'An iCal file beside this one.', examples: ['holidays.ics'] },
  'schedule.calendar.icalDays': {
    description: 'Whether the days of the iCal file are excluded (the default) or the only ones allowed.',
  },
  'schedule.jitter': {
    description:
      'Each window fires late by less than this, always by the same time. The logical time stays exact. 0: none, whatever the cluster has.',
    examples: ['5m'],
  },
  'schedule.missed': {
    description:
      'Windows that were missed while no server ran, or while the schedule was paused: run none, the most recent, or all up to missedLimit. latest and all are old words for most_recent and catchup.',
  },
  'schedule.missedLimit': { description: 'With missed: catchup. Maximum number.' },
  'schedule.missedMaxAge': { description: 'Missed windows that are older than this are skipped.', examples: ['6h'] },
  'schedule.startWithin': {
    description: 'A window that starts later than this after its time is skipped.',
    examples: ['10m'],
  },
  'schedule.ifRunning': {
    description:
      'What a window does while the dag has active runs: allow (run beside them, up to maxActiveRuns), skip, queue_one (wait, unless a run waits already), queue_all (wait), cancel_running.',
  },
  'schedule.runNow': { description: 'Creates a first run as soon as the schedule is created.' },
  'schedule.params': {
    description: 'Params of its runs. Default: the defaults of the params schema.',
    examples: [{ region: 'eu' }],
  },
  ...REQUIRES_WORDS,
  'schedule.priority': { description: 'Priority of its runs. Default: that of the dag.' },
} as const;

/** What is said about one schedule holds for each of several. */
const EACH = Object.fromEntries(
  Object.entries(ONE).map(([path, words]) => [path.replace(/^schedule/, 'schedules[]'), words]),
);

export const SCHEDULE_WORDS = {
  ...ONE,
  ...EACH,
  schedules: { description: 'Several schedules, each with a name of its own. Write schedule or schedules, not both.' },
  'schedules[].name': {
    description: 'Unique within the dag. Default: schedule-1 for the first, and so on.',
    examples: ['nightly'],
  },
};
