/** Rows of `dag_schedule`: rarely written, except `decided_until` and `due_at`. All lean on its unique key (shard, dag_id, schedule_no). */
import { type FoldedRows, type ScheduledDagFold, type ScheduleFold, type ScheduleSet, zoneOf } from '@signalbox/engine';
import { scheduleOrigins } from '../codes.ts';
import { type Call, call, rowsOf, statement } from '../statement.ts';
import { nullableArray, plainArray, textArray } from '../text.ts';

const upsertSchedules = statement(
  'upsert_schedules',
  `
  insert into dag_schedule (shard, dag_id, schedule_no, revision, spec, paused, decided_until, actor, at, fault, name, origin, fired, due_at, zoned, due_revision)
  select u.shard, u.dag_id, u.schedule_no, u.revision, u.spec::json, u.paused, u.decided_until, u.actor, u.at, u.fault, u.name, u.origin, u.fired, u.due_at, u.zoned, u.revision
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
    )}) u
  on conflict (shard, dag_id, schedule_no) do update set revision = excluded.revision, spec = excluded.spec, paused = excluded.paused,
    decided_until = excluded.decided_until, actor = excluded.actor, at = excluded.at, fault = excluded.fault, fired = excluded.fired,
    due_at = excluded.due_at, zoned = excluded.zoned, due_revision = excluded.due_revision`,
);

const moveSchedules = statement(
  'move_schedules',
  `
  with hit as (
    update dag_schedule s set decided_until = greatest(s.decided_until, u.decided_until), fired = s.fired + u.fired
      from unnest($1::smallint[], $2::bigint[], $3::integer[], $4::bigint[], $5::integer[])
        as u (shard, dag_id, schedule_no, decided_until, fired)
     where s.shard = u.shard and s.dag_id = u.dag_id and s.schedule_no = u.schedule_no
    returning 1)
  select expect_rows('move_schedules', count(*), $6::integer) from hit`,
);

/** Writes the index on `due_at`; the statement above does not. */
const parkSchedules = statement(
  'park_schedules',
  `
  with hit as (
    update dag_schedule s set decided_until = greatest(s.decided_until, u.decided_until), fired = s.fired + u.fired, due_at = u.due_at
      from unnest($1::smallint[], $2::bigint[], $3::integer[], $4::bigint[], $5::integer[], $6::bigint[])
        as u (shard, dag_id, schedule_no, decided_until, fired, due_at)
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

export function changeSchedules({ schedules, scheduledDags }: Pick<FoldedRows, 'schedules' | 'scheduledDags'>): Call[] {
  const calls: Call[] = [];
  const all = [...schedules.values()];
  const set = all.filter((schedule): schedule is ScheduleFold & { set: ScheduleSet } => schedule.set !== null);
  const removed = all.filter((schedule) => schedule.removed !== null);
  const moved = all.filter(
    ({ set, removed, decidedUntil }) => set === null && removed === null && decidedUntil !== null,
  );
  if (scheduledDags.size > 0) calls.push(noteDags([...scheduledDags.values()]));
  // Before others are set: one of those may have the name of one that is removed.
  if (removed.length > 0) calls.push(call(deleteSchedules, ...keys(removed)));
  if (set.length > 0) {
    calls.push(
      call(
        upsertSchedules,
        ...keys(set),
        plainArray(set.map((schedule) => schedule.set.revision)),
        textArray(set.map((schedule) => JSON.stringify(schedule.set.spec))),
        plainArray(set.map((schedule) => schedule.set.paused)),
        nullableArray(set.map((schedule) => schedule.decidedUntil)),
        textArray(set.map((schedule) => schedule.set.actor)),
        plainArray(set.map((schedule) => schedule.set.at)),
        textArray(set.map((schedule) => schedule.set.fault)),
        textArray(set.map((schedule) => schedule.set.name)),
        plainArray(set.map((schedule) => scheduleOrigins.code(schedule.set.origin))),
        plainArray(set.map((schedule) => schedule.set.fired + schedule.fired)),
        nullableArray(set.map((schedule) => schedule.dueAt ?? null)),
        plainArray(set.map((schedule) => zoneOf(schedule.set.spec) !== null)),
      ),
    );
  }
  const [staying, parked] = [
    moved.filter(({ dueAt }) => dueAt === undefined),
    moved.filter(({ dueAt }) => dueAt !== undefined),
  ];
  if (staying.length > 0) calls.push(call(moveSchedules, ...moves(staying), staying.length));
  if (parked.length > 0) {
    const due = nullableArray(parked.map(({ dueAt }) => dueAt ?? null));
    calls.push(call(parkSchedules, ...moves(parked), due, parked.length));
  }
  return calls;
}

function moves(list: readonly ScheduleFold[]): [string, string, string, string, string] {
  const until = nullableArray(list.map(({ decidedUntil }) => decidedUntil));
  return [...keys(list), until, plainArray(list.map(({ fired }) => fired))];
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

function keys(list: readonly ScheduleFold[]): [string, string, string] {
  return [
    plainArray(list.map(({ shard }) => shard)),
    plainArray(list.map(({ dagId }) => dagId)),
    plainArray(list.map(({ scheduleNo }) => scheduleNo)),
  ];
}
