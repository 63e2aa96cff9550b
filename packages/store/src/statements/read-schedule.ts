/** Reads schedules. Leans on the unique key (shard, dag_id, schedule_no) of `dag_schedule` unless told. */
import {
  type DagId,
  type DueWalked,
  type Instant,
  type Need,
  RESIDENT,
  type ScheduleNeed,
  type ScheduleNo,
  type ScheduleSpec,
  type Seen,
  type ShardNo,
  type StoredSchedule,
} from '@signalbox/engine';
import type { CallResult } from '../batch.ts';
import { scheduleOrigins } from '../codes.ts';
import { type Call, call, statement } from '../statement.ts';
import { decodeNullableText, decodeText, plainArray, textArray } from '../text.ts';
import { dagColumns } from './read-dag.ts';

const COLUMNS =
  's.shard, s.dag_id, s.schedule_no, s.name, s.origin, s.revision, s.spec::text, s.paused, s.decided_until, s.fault, s.fired, s.due_at';
const DEFINITION = scheduleOrigins.code('definition');

/** Leans on the index (shard, due_at, …). */
export const selectResidentSchedules = statement(
  'select_resident_schedules',
  `select ${COLUMNS} from dag_schedule s where s.shard = any ($1::smallint[]) and s.due_at = ${RESIDENT}`,
);

/** Leans on the unique index (shard, dag_id, name), and on the key (shard, dag_id) of the first schedules. */
const selectNamed = statement(
  'select_named_schedules',
  `
  select ${COLUMNS} from unnest($1::smallint[], $2::bigint[], $3::text[]) as u (shard, dag_id, name)
    join dag_schedule s on s.shard = u.shard and s.dag_id = u.dag_id and s.name = u.name`,
);

const selectNumbered = statement(
  'select_numbered_schedules',
  `
  select ${COLUMNS} from unnest($1::smallint[], $2::bigint[], $3::integer[]) as u (shard, dag_id, schedule_no)
    join dag_schedule s on s.shard = u.shard and s.dag_id = u.dag_id and s.schedule_no = u.schedule_no`,
);

/** Leans on the index (shard, dag_id) of those. */
const selectOfDefinitions = statement(
  'select_definition_schedules',
  `
  select ${COLUMNS} from unnest($1::smallint[], $2::bigint[]) as u (shard, dag_id)
    join dag_schedule s on s.shard = u.shard and s.dag_id = u.dag_id and s.origin = ${DEFINITION}`,
);

/** Without delayed runs. Leans on the index (shard, dag_id, schedule_no) of the others. */
const selectFirst = statement(
  'select_first_schedules',
  `
  select ${COLUMNS} from unnest($1::smallint[], $2::bigint[], $3::integer[]) as u (shard, dag_id, most), lateral (
    select * from dag_schedule s where s.shard = u.shard and s.dag_id = u.dag_id and not s.delayed
     order by s.schedule_no limit u.most) s`,
);

/**
 * Leans on the index (shard, due_at, dag_id, schedule_no): each walk begins where the last one stopped. It ends with the row that is
 * one too many: sorted, it would read as many rows of each shard as it may find in all. The order is that of a nested loop over the
 * ranges, the only plan that a lateral limit has; `walkedTo` checks it.
 */
const selectDue = statement(
  'select_due_schedules',
  `
  select ${COLUMNS}
    from unnest($1::smallint[], $2::bigint[], $3::bigint[], $4::integer[], $5::bigint[])
           as u (shard, due_at, dag_id, schedule_no, until), lateral (
      select * from dag_schedule s
       where s.shard = u.shard and s.due_at >= u.due_at and s.due_at <= u.until
         and (s.due_at, s.dag_id, s.schedule_no) > (u.due_at, u.dag_id, u.schedule_no)
       order by s.due_at, s.dag_id, s.schedule_no limit $6::integer) s
   limit $6::integer`,
);

/** Leans on the index (shard, dag_id, schedule_no) of those. */
const selectZoned = statement(
  'select_zoned_schedules',
  `
  select ${COLUMNS} from dag_schedule s
   where s.shard = $1::smallint and s.zoned and (s.dag_id, s.schedule_no) > ($2::bigint, $3::integer)
   order by s.dag_id, s.schedule_no limit $4::integer`,
);

/** Those that fit any of what the needs give; one may come several times. */
export function readSchedules(needs: readonly Omit<ScheduleNeed, 'kind'>[]): Call[] {
  const calls: Call[] = [];
  const named = needs.flatMap(({ names = [], ...need }) => names.map((name) => ({ ...need, name })));
  if (named.length > 0) calls.push(call(selectNamed, ...dagColumns(named), textArray(named.map(({ name }) => name))));
  const numbered = needs.flatMap(({ numbers = [], ...need }) => numbers.map((no) => ({ ...need, no })));
  if (numbered.length > 0) {
    calls.push(call(selectNumbered, ...dagColumns(numbered), plainArray(numbered.map(({ no }) => no))));
  }
  const defined = needs.filter(({ ofDefinition }) => ofDefinition === true);
  if (defined.length > 0) calls.push(call(selectOfDefinitions, ...dagColumns(defined)));
  const all = needs.flatMap(({ first, ...need }) => (first === undefined ? [] : [{ ...need, first }]));
  if (all.length > 0) calls.push(call(selectFirst, ...dagColumns(all), plainArray(all.map(({ first }) => first))));
  return calls;
}

export function readDue({ ranges, limit }: Extract<Need, { kind: 'due' }>): Call {
  return call(
    selectDue,
    plainArray(ranges.map(({ shard }) => shard)),
    plainArray(ranges.map(({ after }) => after.dueAt)),
    plainArray(ranges.map(({ after }) => after.dagId)),
    plainArray(ranges.map(({ after }) => after.scheduleNo)),
    plainArray(ranges.map(({ until }) => until)),
    limit,
  );
}

/** How far the walk came. With as many as it may find, it has stopped in the shard of the last one. */
export function walkedTo(
  { ranges, limit }: Extract<Need, { kind: 'due' }>,
  found: readonly StoredSchedule[],
): DueWalked[] {
  if (!isWalk(ranges, found)) throw new Error('Due schedules came in another order than that of the walk.');
  const last = found.length < limit ? undefined : found.at(-1);
  const place = last === undefined ? ranges.length : ranges.findIndex(({ shard }) => shard === last.shard);
  return ranges.slice(0, place + 1).map(({ shard, until }, no) => {
    if (last === undefined || no < place) return { shard, until, last: null };
    const { dueAt, dagId, scheduleNo } = last;
    return { shard, until, last: { dueAt: dueAt as Instant, dagId, scheduleNo } };
  });
}

/** Range by range, and in each by due time. */
function isWalk(ranges: readonly { readonly shard: ShardNo }[], found: readonly StoredSchedule[]): boolean {
  const places = new Map(ranges.map(({ shard }, place) => [shard, place]));
  return found.every((schedule, no) => {
    const before = found[no - 1];
    if (before === undefined) return true;
    if (before.shard === schedule.shard) return (before.dueAt ?? 0) <= (schedule.dueAt ?? 0);
    return (places.get(before.shard) ?? 0) < (places.get(schedule.shard) ?? 0);
  });
}

export function readZoned({ shard, after, limit }: Extract<Need, { kind: 'zoned' }>): Call {
  return call(selectZoned, shard, after.dagId, after.scheduleNo, limit);
}

export function parseZoned({ shard, limit }: Extract<Need, { kind: 'zoned' }>, result: CallResult): Seen['zoned'] {
  const schedules = parseSchedules(result);
  return { shard, schedules, isLast: schedules.length < limit };
}

export function parseSchedules({ rows }: CallResult): StoredSchedule[] {
  return rows.map(
    ([shard, dagId, scheduleNo, name, origin, revision, spec, paused, decidedUntil, fault, fired, dueAt]) => ({
      shard: Number(shard) as ShardNo,
      dagId: Number(dagId) as DagId,
      scheduleNo: Number(scheduleNo) as ScheduleNo,
      name: decodeText(name ?? ''),
      origin: scheduleOrigins.word(Number(origin)),
      revision: Number(revision),
      spec: JSON.parse(spec ?? 'null') as ScheduleSpec,
      paused: paused === 't',
      decidedUntil: Number(decidedUntil) as Instant,
      fault: decodeNullableText(fault ?? null),
      fired: Number(fired),
      dueAt: dueAt === null || dueAt === undefined ? null : (Number(dueAt) as Instant),
    }),
  );
}
