/** Reads schedules. Leans on the unique key (shard, dag_id, schedule_no) of `dag_schedule`. */
import type { DagId, Instant, ScheduleNo, ScheduleSpec, ShardNo, StoredSchedule } from '@signalbox/engine';
import type { CallResult } from '../batch.ts';
import { scheduleOrigins } from '../codes.ts';
import { type Call, call, statement } from '../statement.ts';
import { decodeNullableText, decodeText } from '../text.ts';
import { type DagKey, dagColumns } from './read-dag.ts';

const COLUMNS =
  's.shard, s.dag_id, s.schedule_no, s.name, s.origin, s.revision, s.spec::text, s.paused, s.decided_until, s.fault, s.fired';

const selectSchedules = statement(
  'select_schedules',
  `
  select ${COLUMNS}
    from unnest($1::smallint[], $2::bigint[]) as u (shard, dag_id)
    join dag_schedule s on s.shard = u.shard and s.dag_id = u.dag_id`,
);

export const selectSchedulesOfShards = statement(
  'select_schedules_of_shards',
  `select ${COLUMNS} from dag_schedule s where s.shard = any ($1::smallint[])`,
);

/** All schedules of these dags. */
export function readSchedules(dags: readonly DagKey[]): Call {
  return call(selectSchedules, ...dagColumns(dags));
}

export function parseSchedules({ rows }: CallResult): StoredSchedule[] {
  return rows.map(([shard, dagId, scheduleNo, name, origin, revision, spec, paused, decidedUntil, fault, fired]) => ({
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
  }));
}
