/** A schedule as the texts of a form, and back. What is wrong with a time, the server says in the preview. */
import type { ScheduleSettings } from '@signalbox/protocol';

type ScheduleKind = 'cron' | 'every' | 'at';

export interface ScheduleForm {
  readonly kind: ScheduleKind;
  /** One a line. */
  readonly cron: string;
  readonly every: string;
  readonly anchor: string;
  readonly phase: string;
  /** One a line. */
  readonly at: string;
  readonly zone: string;
  readonly gap: ScheduleSettings['gap'];
  readonly overlap: ScheduleSettings['overlap'];
  readonly start: string;
  readonly end: string;
  readonly limit: string;
  readonly jitter: string;
  /** Separated by blanks or commas. */
  readonly weekdays: string;
  readonly exclude: string;
  readonly only: string;
  readonly missed: ScheduleSettings['missed'];
  readonly missedLimit: string;
  readonly missedMaxAge: string;
  readonly startWithin: string;
  readonly ifRunning: ScheduleSettings['ifRunning'];
  readonly runNow: boolean;
  /** JSON; empty for the defaults of the dag. */
  readonly params: string;
  readonly priority: string;
  /** One a line: `orders within 6h`, `rates same window`. */
  readonly requires: string;
  readonly wait: string;
  /** In place of `wait`: how far apart they are looked at again, and how often. */
  readonly retryEvery: string;
  readonly retryTimes: string;
  readonly unmet: NonNullable<ScheduleSettings['unmet']>;
}

export const NEW_SCHEDULE: ScheduleForm = {
  kind: 'cron',
  cron: '0 6 * * *',
  every: '15m',
  anchor: '',
  phase: '',
  at: '',
  zone: 'UTC',
  gap: 'fire_after',
  overlap: 'first',
  start: '',
  end: '',
  limit: '',
  jitter: '',
  weekdays: '',
  exclude: '',
  only: '',
  missed: 'most_recent',
  missedLimit: '100',
  missedMaxAge: '',
  startWithin: '',
  ifRunning: 'allow',
  runNow: false,
  params: '',
  priority: '',
  requires: '',
  wait: '',
  retryEvery: '',
  retryTimes: '',
  unmet: 'skip',
};

export type ScheduleBody = Readonly<Record<string, unknown>>;
type ReadSchedule =
  | { readonly body: ScheduleBody }
  | { readonly faults: Readonly<Partial<Record<keyof ScheduleForm, string>>> };

const lines = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
const words = (text: string): string[] => text.split(/[\s,]+/).filter((word) => word !== '');
const oneOrMany = (values: readonly string[]) => (values.length === 1 ? values[0] : values);

export function readSchedule(form: ScheduleForm): ReadSchedule {
  const faults: Partial<Record<keyof ScheduleForm, string>> = {};
  const given = (name: keyof ScheduleForm): Record<string, string> => {
    const text = String(form[name]).trim();
    return text === '' ? {} : { [name]: text };
  };
  const whole = (name: 'limit' | 'missedLimit'): Record<string, number> => {
    const text = form[name].trim();
    if (text === '') return {};
    if (!/^\d{1,10}$/.test(text)) faults[name] = 'must be a whole number';
    return { [name]: Number(text) };
  };
  const params = readParams(form.params, (fault) => {
    faults.params = fault;
  });
  const times = timesOf(form, given);
  if (times === null) faults[form.kind] = 'is required';
  const calendar = {
    ...(words(form.weekdays).length === 0 ? {} : { weekdays: words(form.weekdays.toUpperCase()) }),
    ...(words(form.exclude).length === 0 ? {} : { exclude: words(form.exclude) }),
    ...(words(form.only).length === 0 ? {} : { only: words(form.only) }),
  };
  const body = {
    ...times,
    ...given('zone'),
    gap: form.gap,
    overlap: form.overlap,
    ...given('start'),
    ...given('end'),
    ...whole('limit'),
    ...given('jitter'),
    ...(Object.keys(calendar).length === 0 ? {} : { calendar }),
    missed: form.missed,
    ...whole('missedLimit'),
    ...given('missedMaxAge'),
    ...given('startWithin'),
    ifRunning: form.ifRunning,
    ...(form.runNow ? { runNow: true } : {}),
    ...(params === undefined ? {} : { params }),
    ...given('priority'),
    ...requirementsOf(form, (fault) => {
      faults.requires = fault;
    }),
    ...retryOf(form, (fault) => {
      faults.retryTimes = fault;
    }),
  };
  return Object.keys(faults).length > 0 ? { faults } : { body };
}

function requirementsOf({ requires, wait, unmet }: ScheduleForm, report: (fault: string) => void): object {
  const all = lines(requires);
  if (all.length === 0) return {};
  const read = all.map((line) => {
    const [, dag, within] = /^(\S+)\s+(?:within\s+(\S+)|same\s+window)$/.exec(line) ?? [];
    if (dag === undefined) report(`"${line}" must be such as "orders within 6h" or "rates same window"`);
    return within === undefined ? { dag, window: 'same' } : { dag, within };
  });
  return { requires: read, ...(wait.trim() === '' ? {} : { wait: wait.trim() }), unmet };
}

function retryOf(
  { requires, wait, retryEvery, retryTimes }: ScheduleForm,
  report: (fault: string) => void,
): { retry?: { every: string; times: number } } {
  if (lines(requires).length === 0 || (retryEvery.trim() === '' && retryTimes.trim() === '')) return {};
  const times = Number(retryTimes);
  if (wait.trim() !== '') report('goes without a time to wait: empty one of the two');
  else if (retryEvery.trim() === '') report('needs how far apart');
  else if (!Number.isInteger(times) || times < 1) report('must be a whole number from 1');
  return { retry: { every: retryEvery.trim(), times } };
}

type Requirement = NonNullable<ScheduleSettings['requires']>[number];
/** As the form has it, and as people read it. */
export const requirementText = ({ dag, withinMs }: Requirement): string =>
  withinMs === undefined ? `${dag} same window` : `${dag} within ${spanText(withinMs)}`;

function timesOf(
  form: ScheduleForm,
  given: (name: keyof ScheduleForm) => Record<string, string>,
): Record<string, unknown> | null {
  if (form.kind === 'every')
    return form.every.trim() === '' ? null : { ...given('every'), ...given('anchor'), ...given('phase') };
  const values = lines(form[form.kind]);
  return values.length === 0 ? null : { [form.kind]: oneOrMany(values) };
}

function readParams(text: string, report: (fault: string) => void): unknown {
  if (text.trim() === '') return undefined;
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
    report('must be a JSON object');
  } catch (error) {
    report(error instanceof Error ? error.message : 'is not JSON');
  }
  return undefined;
}

/** The days of an iCal file are not shown as they were written, so a form cannot give them back. */
export const hasIcal = ({ calendar }: ScheduleSettings): boolean =>
  calendar?.excludeDays !== undefined || calendar?.onlyDays !== undefined;

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
] as const;

/** `90m`, `1d`: the largest unit that has no rest. */
export function spanText(ms: number | undefined): string {
  if (ms === undefined) return '';
  const unit = UNITS.find(([, size]) => ms >= size && ms % size === 0);
  return unit === undefined ? `${ms}ms` : `${ms / unit[1]}${unit[0]}`;
}

export function formOf(settings: ScheduleSettings): ScheduleForm {
  const { cron, everyMs, at, calendar } = settings;
  return {
    kind: cron !== undefined ? 'cron' : everyMs !== undefined ? 'every' : 'at',
    cron: [cron ?? []].flat().join('\n'),
    every: spanText(everyMs),
    anchor: settings.anchor ?? '',
    phase: spanText(settings.phaseMs),
    at: (at ?? []).join('\n'),
    zone: settings.zone,
    gap: settings.gap,
    overlap: settings.overlap,
    start: settings.start ?? '',
    end: settings.end ?? '',
    limit: settings.limit === undefined ? '' : String(settings.limit),
    jitter: spanText(settings.jitterMs),
    weekdays: (calendar?.weekdays ?? []).join(' '),
    exclude: (calendar?.exclude ?? []).join(' '),
    only: (calendar?.only ?? []).join(' '),
    missed: settings.missed,
    missedLimit: String(settings.missedLimit),
    missedMaxAge: spanText(settings.missedMaxAgeMs),
    startWithin: spanText(settings.startWithinMs),
    ifRunning: settings.ifRunning,
    runNow: settings.runNow === true,
    params: settings.params === undefined ? '' : JSON.stringify(settings.params, null, 2),
    priority: settings.priority ?? '',
    requires: (settings.requires ?? []).map(requirementText).join('\n'),
    ...waitingOf(settings),
    unmet: settings.unmet ?? 'skip',
  };
}

/** Looking again every so often is stored with the time that it takes in all. */
function waitingOf({ waitMs, lookMs }: ScheduleSettings): Pick<ScheduleForm, 'wait' | 'retryEvery' | 'retryTimes'> {
  if (lookMs === undefined) return { wait: spanText(waitMs), retryEvery: '', retryTimes: '' };
  return { wait: '', retryEvery: spanText(lookMs), retryTimes: String(Math.round((waitMs ?? lookMs) / lookMs)) };
}
