/** `signalbox schedules …`. */
import type { EditedSchedule, ListedSchedule } from '@signalbox/protocol';
import { type ClientFlags, connect, type PageFlags } from '../connection.ts';
import { coloured, colours, print, printJson, short, table, warning } from '../output.ts';
import { CliError } from '../problem.ts';

export interface ListSchedulesFlags extends PageFlags {
  readonly dag?: string;
  readonly paused?: boolean;
  readonly origin?: 'definition' | 'api';
}

export interface EditScheduleFlags extends ClientFlags {
  readonly cron?: string;
  readonly tz?: string;
  readonly params?: string;
  readonly priority?: EditedSchedule['priority'];
  readonly missed?: string;
  readonly ifRunning?: string;
  readonly every?: string;
  readonly at?: string;
  readonly after?: string;
  readonly runNow?: boolean;
  readonly spec?: string;
}

export async function listSchedules(flags: ListSchedulesFlags): Promise<void> {
  const { limit, cursor, dag, paused, origin } = flags;
  const page = await (await connect(flags)).listSchedules({
    limit,
    ...(cursor === undefined ? {} : { cursor }),
    ...(dag === undefined ? {} : { dag }),
    ...(paused ? { paused } : {}),
    ...(origin === undefined ? {} : { origin }),
  });
  if (flags.json) return printJson(page);
  const rows = page.items.map((schedule) => [
    schedule.dag,
    schedule.name,
    timesOf(schedule),
    schedule.paused ? coloured('paused') : (schedule.nextAt ?? 'never'),
    schedule.origin,
  ]);
  if (rows.length > 0) print(table(['dag', 'schedule', 'times', 'next', 'origin'], rows));
  else print('no schedules');
  if (page.cursor !== null) print(colours.dim(`more: --cursor ${page.cursor}`));
}

export async function showSchedule(dag: string, name: string, flags: ClientFlags): Promise<void> {
  const schedule = await (await connect(flags)).getSchedule(dag, name);
  if (flags.json) return printJson(schedule);
  const rows = Object.entries(schedule).flatMap(([setting, value]) =>
    value === null ? [] : [[setting, short(typeof value === 'string' ? value : JSON.stringify(value), 200)]],
  );
  print(table(['setting', 'value'], rows));
}

export async function createSchedule(dag: string, name: string, flags: EditScheduleFlags): Promise<void> {
  const settings = settingsOf(flags);
  const created = await (await connect(flags)).createSchedule(dag, { name, ...settings } as EditedSchedule & {
    name: string;
  });
  if (flags.json) return printJson(created);
  warn(created);
  print(`created schedule ${name} of ${dag}; next: ${created.nextAt ?? 'never'}`);
}

export async function editSchedule(dag: string, name: string, flags: EditScheduleFlags): Promise<void> {
  const client = await connect(flags);
  const named = settingsOf(flags);
  const before = await client.getSchedule(dag, name);
  const edited = await client.editSchedule(dag, name, named as EditedSchedule);
  if (flags.json) return printJson(edited);
  warn(edited);
  const reset = resetSettings(before, edited, Object.keys(named));
  if (reset.length > 0) {
    process.stderr.write(`${warning(`not named, so these have their defaults again: ${reset.join(', ')}`)}\n`);
  }
  print(`changed schedule ${name} of ${dag}; next: ${edited.paused ? 'paused' : (edited.nextAt ?? 'never')}`);
}

export async function setSchedulePaused(dag: string, name: string, paused: boolean, flags: ClientFlags): Promise<void> {
  const client = await connect(flags);
  const schedule = await (paused ? client.pauseOneSchedule(dag, name) : client.resumeOneSchedule(dag, name));
  if (flags.json) return printJson(schedule);
  print(
    paused
      ? `schedule ${name} of ${dag} is ${coloured('paused')}`
      : `schedule ${name} of ${dag} is active again; next: ${schedule.nextAt ?? 'never'}`,
  );
}

export async function deleteSchedule(dag: string, name: string, flags: ClientFlags): Promise<void> {
  const answer = await (await connect(flags)).deleteSchedule(dag, name);
  if (flags.json) return printJson(answer);
  print(`deleted schedule ${name} of ${dag}`);
}

function warn({ warnings = [] }: ListedSchedule): void {
  for (const text of warnings) process.stderr.write(`${warning(text)}\n`);
}

/** What is no setting, and when it fires: an edit must name that. */
const NO_SETTINGS: ReadonlySet<string> = new Set([
  ...['dag', 'name', 'origin', 'revision', 'setBy', 'setAt', 'fired', 'warnings', 'paused', 'fault', 'nextAt'],
  ...['nextLocal', 'fires', 'cron', 'everyMs', 'anchor', 'phaseMs', 'at'],
]);

/** Settings that an edit has changed without naming them, each with what it was before. */
function resetSettings(before: ListedSchedule, after: ListedSchedule, named: readonly string[]): string[] {
  const [old, now] = [before, after].map((schedule) => new Map<string, unknown>(Object.entries(schedule)));
  const isNamed = (setting: string) => named.some((one) => setting === one || setting === `${one}Ms`);
  return [...old!].flatMap(([setting, value]) => {
    if (NO_SETTINGS.has(setting) || isNamed(setting)) return [];
    const was = JSON.stringify(value);
    return was === JSON.stringify(now!.get(setting)) ? [] : [`${setting} (was ${short(was)})`];
  });
}

/** What the flags say, over what `--spec` says. */
function settingsOf({ cron, tz, params, spec, ...flags }: EditScheduleFlags): Record<string, unknown> {
  const { priority, missed, ifRunning, every, at, after, runNow } = flags;
  const given = { cron, zone: tz, priority, missed, ifRunning, every, at, after, runNow };
  return {
    ...(spec === undefined ? {} : objectOf('--spec', spec)),
    ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
    ...(params === undefined ? {} : { params: objectOf('--params', params) }),
  };
}

function objectOf(flag: string, text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch {
    // Told below.
  }
  throw new CliError(`${flag} is not a JSON object: ${short(text)}`, `Write it such as ${flag} '{"key": "value"}'.`);
}

function timesOf({ fires, zone }: ListedSchedule): string {
  return `${short(fires)} ${short(zone)}`;
}
