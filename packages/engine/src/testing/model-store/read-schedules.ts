/** Which schedules fetches find among the rows. */
import type { DagId } from '../../model/ids.ts';
import { zoneOf } from '../../model/schedule/zone-of.ts';
import type { DueCursor, DueWalked, Need, ScheduleNeed, Seen, StoredSchedule } from '../../model/stored.ts';
import type { ModelTables } from './tables.ts';

type NeedOf<K extends Need['kind']> = Extract<Need, { kind: K }>;

export function schedulesOfDag(tables: ModelTables, need: Omit<ScheduleNeed, 'kind'>): StoredSchedule[] {
  const { names = [], numbers = [], ofDefinition = false, first = 0 } = need;
  const all = where(tables, ({ dagId, shard }) => dagId === need.dagId && shard === need.shard);
  all.sort((a, b) => a.scheduleNo - b.scheduleNo);
  const counted = new Set(all.filter(({ spec }) => spec.run === undefined).slice(0, first));
  return all.filter(
    (schedule) =>
      names.includes(schedule.name) ||
      numbers.includes(schedule.scheduleNo) ||
      (ofDefinition && schedule.origin === 'definition') ||
      counted.has(schedule),
  );
}

/** In order of the shards, each in order of due times, up to the limit. */
export function walkDue(
  tables: ModelTables,
  { ranges, limit }: NeedOf<'due'>,
): { readonly schedules: StoredSchedule[]; readonly due: DueWalked[] } {
  const schedules: StoredSchedule[] = [];
  const due: DueWalked[] = [];
  for (const { shard, after, until } of ranges) {
    const left = limit - schedules.length;
    if (left <= 0) break;
    const isWanted = (schedule: StoredSchedule): boolean =>
      schedule.shard === shard && hasDue(schedule) && byDue(schedule, after) > 0 && schedule.dueAt <= until;
    const found = where(tables, isWanted).filter(hasDue).sort(byDue).slice(0, left);
    const last = found.length < left ? undefined : found.at(-1);
    schedules.push(...found);
    due.push({ shard, until, last: last === undefined ? null : cursorOf(last) });
  }
  return { schedules, due };
}

export function walkZoned(tables: ModelTables, { shard, after, limit }: NeedOf<'zoned'>): Seen['zoned'] {
  const found = where(tables, (schedule) => schedule.shard === shard && zoneOf(schedule.spec) !== null)
    .filter(({ dagId, scheduleNo }) => dagId > after.dagId || (dagId === after.dagId && scheduleNo > after.scheduleNo))
    .sort((a, b) => a.dagId - b.dagId || a.scheduleNo - b.scheduleNo)
    .slice(0, limit);
  return { shard, schedules: found, isLast: found.length < limit };
}

export function numberNamed(tables: ModelTables, dagId: DagId, name: string): StoredSchedule | undefined {
  return where(tables, (schedule) => schedule.dagId === dagId && schedule.name === name)[0];
}

/** No copy of all rows: tests have thousands, and ask for each. */
function where(tables: ModelTables, isWanted: (schedule: StoredSchedule) => boolean): StoredSchedule[] {
  const found: StoredSchedule[] = [];
  for (const schedule of tables.schedules.values()) if (isWanted(schedule)) found.push(schedule);
  return found;
}

function hasDue(schedule: StoredSchedule): schedule is StoredSchedule & DueCursor {
  return schedule.dueAt !== null;
}

function cursorOf({ dueAt, dagId, scheduleNo }: DueCursor): DueCursor {
  return { dueAt, dagId, scheduleNo };
}

function byDue(a: DueCursor, b: DueCursor): number {
  return a.dueAt - b.dueAt || a.dagId - b.dagId || a.scheduleNo - b.scheduleNo;
}
