/** Rows of `dag_schedule`: rarely written, except `decided_until` and `due_at`. All lean on its unique key (shard, dag_id, schedule_no). */
import { type FoldedRows, type ScheduledDagFold, type ScheduleFold, type ScheduleSet, zoneOf } from '@signalbox/engine';
import { scheduleOrigins } from '../codes.ts';
import { bigints, booleans, integers, smallints } from '../columns.ts';
import { type Call, call, rowsOf, type Statement, statement, type Value } from '../statement.ts';
import { plainArray, sparseTexts, textArray } from '../text.ts';

/**
 * The parts of `dag_schedule`: the first schedule of each dag, and all others. Statements name the part, because finding it for each row
 * cost a third of the statement.
 */
const PARTS = ['schedule', 'schedule_more'] as const;
type Part = (typeof PARTS)[number];

function partOf({ scheduleNo }: ScheduleFold): Part {
  return scheduleNo === 1 ? 'schedule' : 'schedule_more';
}

/** One for each part. */
function partStatements(name: string, text: (part: Part) => string): Readonly<Record<Part, Statement>> {
  return {
    schedule: statement(`${name}_first`, text('schedule')),
    schedule_more: statement(`${name}_more`, text('schedule_more')),
  };
}

const insertInto = (part: Part) => `
  insert into ${part} (shard, dag_id, schedule_no, revision, spec, paused, decided_until, actor, at, fault, name, origin, fired, due_at, zoned, due_revision, delayed)
  select u.shard, u.dag_id, u.schedule_no, u.revision, u.spec::json, u.paused, u.decided_until, u.actor, u.at, u.fault, u.name, u.origin, u.fired, u.due_at, u.zoned, u.revision, u.delayed
    from (${rowsOf(
      'shard smallint',
      'dag_id bigint',
      'schedule_no integer',
      'revision integer',
      'spec text',
      'paused boolean',
      'decided_until bigint',
      'actor text',
      'at bigint',
      'fault text',
      'name text',
      'origin smallint',
      'fired integer',
      'due_at bigint',
      'zoned boolean',
      'delayed boolean',
    )}) u`;

/** Those that are new: their numbers were never given before. */
const insertSchedules = partStatements('insert_schedules', insertInto);

const upsertSchedules = partStatements(
  'upsert_schedules',
  (part) => `${insertInto(part)}
  on conflict (shard, dag_id, schedule_no) do update set revision = excluded.revision, spec = excluded.spec, paused = excluded.paused,
    decided_until = excluded.decided_until, actor = excluded.actor, at = excluded.at, fault = excluded.fault, fired = excluded.fired,
    due_at = excluded.due_at, zoned = excluded.zoned, due_revision = excluded.due_revision, delayed = excluded.delayed`,
);

const MOVED_COLUMNS = [
  'shard smallint',
  'dag_id bigint',
  'schedule_no integer',
  'decided_until bigint',
  'fired integer',
] as const;

const moveSchedules = partStatements(
  'move_schedules',
  (part) => `
  with hit as (
    update ${part} s set decided_until = greatest(s.decided_until, u.decided_until), fired = s.fired + u.fired
      from (${rowsOf(...MOVED_COLUMNS)}) u
     where s.shard = u.shard and s.dag_id = u.dag_id and s.schedule_no = u.schedule_no
    returning 1)
  select expect_rows('move_schedules', count(*), $6::integer) from hit`,
);

/** Writes the index on `due_at`; the statement above does not. */
const parkSchedules = partStatements(
  'park_schedules',
  (part) => `
  with hit as (
    update ${part} s set decided_until = greatest(s.decided_until, u.decided_until), fired = s.fired + u.fired, due_at = u.due_at
      from (${rowsOf(...MOVED_COLUMNS, 'due_at bigint')}) u
     where s.shard = u.shard and s.dag_id = u.dag_id and s.schedule_no = u.schedule_no
    returning 1)
  select expect_rows('park_schedules', count(*), $7::integer) from hit`,
);

/**
 * What a removed schedule has decided stays decided: the next one begins after it. A number that was given is not given again.
 * Leans on the primary key (shard, dag_id) of `dag`.
 */
const noteSchedules = statement(
  'note_schedules',
  `
  with hit as (
    update dag d set windows_until = greatest(d.windows_until, u.until), last_schedule_no = greatest(d.last_schedule_no, u.last_no)
      from unnest($1::smallint[], $2::bigint[], $3::bigint[], $4::integer[]) as u (shard, dag_id, until, last_no)
     where d.shard = u.shard and d.dag_id = u.dag_id
    returning 1)
  select expect_rows('note_schedules', count(*), $5::integer) from hit`,
);

const deleteSchedules = statement(
  'delete_schedules',
  `
  delete from dag_schedule s using unnest($1::smallint[], $2::bigint[], $3::integer[]) as u (shard, dag_id, schedule_no)
   where s.shard = u.shard and s.dag_id = u.dag_id and s.schedule_no = u.schedule_no`,
);

type SetFold = ScheduleFold & { readonly set: ScheduleSet };

export function changeSchedules(all: readonly ScheduleFold[], scheduledDags: FoldedRows['scheduledDags']): Call[] {
  const calls: Call[] = [];
  const removed = all.filter((schedule) => schedule.removed !== null);
  if (scheduledDags.size > 0) calls.push(noteDags([...scheduledDags.values()]));
  // Before others are set: one of those may have the name of one that is removed.
  if (removed.length > 0) calls.push(call(deleteSchedules, ...keys(removed)));
  for (const part of PARTS) {
    const ofPart = all.filter((schedule) => partOf(schedule) === part);
    if (ofPart.length > 0) calls.push(...changePart(part, ofPart));
  }
  return calls;
}

function changePart(part: Part, all: readonly ScheduleFold[]): Call[] {
  const calls: Call[] = [];
  const set = all.filter((schedule): schedule is SetFold => schedule.set !== null);
  const [added, edited] = [
    set.filter((schedule) => schedule.set.revision === 1),
    set.filter((schedule) => schedule.set.revision !== 1),
  ];
  if (added.length > 0) calls.push(call(insertSchedules[part], ...setColumns(added)));
  if (edited.length > 0) calls.push(call(upsertSchedules[part], ...setColumns(edited)));
  const moved = all.filter(
    ({ set, removed, decidedUntil }) => set === null && removed === null && decidedUntil !== null,
  );
  const [staying, parked] = [
    moved.filter(({ dueAt }) => dueAt === undefined),
    moved.filter(({ dueAt }) => dueAt !== undefined),
  ];
  if (staying.length > 0) calls.push(call(moveSchedules[part], ...moves(staying), staying.length));
  if (parked.length > 0) {
    const due = bigints(parked.map(({ dueAt }) => dueAt ?? null));
    calls.push(call(parkSchedules[part], ...moves(parked), due, parked.length));
  }
  return calls;
}

function setColumns(set: readonly SetFold[]): Value[] {
  return [
    ...keys(set),
    integers(set.map((schedule) => schedule.set.revision)),
    textArray(set.map((schedule) => JSON.stringify(schedule.set.spec))),
    booleans(set.map((schedule) => schedule.set.paused)),
    bigints(set.map((schedule) => schedule.decidedUntil)),
    textArray(set.map((schedule) => schedule.set.actor)),
    bigints(set.map((schedule) => schedule.set.at)),
    sparseTexts(set.map((schedule) => schedule.set.fault)),
    textArray(set.map((schedule) => schedule.set.name)),
    smallints(set.map((schedule) => scheduleOrigins.code(schedule.set.origin))),
    integers(set.map((schedule) => schedule.set.fired + schedule.fired)),
    bigints(set.map((schedule) => schedule.dueAt ?? null)),
    booleans(set.map((schedule) => zoneOf(schedule.set.spec) !== null)),
    booleans(set.map((schedule) => schedule.set.spec.run !== undefined)),
  ];
}

function moves(list: readonly ScheduleFold[]): Value[] {
  return [
    ...keys(list),
    bigints(list.map(({ decidedUntil }) => decidedUntil)),
    integers(list.map(({ fired }) => fired)),
  ];
}

function noteDags(dags: readonly ScheduledDagFold[]): Call {
  return call(
    noteSchedules,
    plainArray(dags.map(({ shard }) => shard)),
    plainArray(dags.map(({ dagId }) => dagId)),
    plainArray(dags.map(({ windowsUntil }) => windowsUntil)),
    plainArray(dags.map(({ lastNo }) => lastNo)),
    dags.length,
  );
}

function keys(list: readonly ScheduleFold[]): Value[] {
  return [
    smallints(list.map(({ shard }) => shard)),
    bigints(list.map(({ dagId }) => dagId)),
    integers(list.map(({ scheduleNo }) => scheduleNo)),
  ];
}
