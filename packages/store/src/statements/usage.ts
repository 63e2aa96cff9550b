/**
 * Rows of `usage_rollup` and `usage_hour`: what attempts took, by dag, task, day and priority, and by tenant and hour. They are written by
 * the commit that ends the attempts, so they are exact whatever happens to the server (I14). Only the owner of a shard writes its rows, so
 * two commits never meet here. Written only while there is a rate card: a batch of somebody without one costs nothing more.
 */
import { type AttemptMeasured, type Change, type Instant, NOBODY, type RunId, type TaskNo } from '@signalbox/engine';
import { bigints, integers } from '../columns.ts';
import { byLeaf, type KnownDays, type Leaf, leafOfRun } from '../leaf.ts';
import { type Call, call, leafStatement, rowsOf } from '../statement.ts';
import { keyColumns } from './run.ts';

const HOUR_MS = 3_600_000;
const HOURS_PER_DAY = 24;
const MIB = 2 ** 20;

/** What an attempt took in one hour. */
export interface UsagePiece {
  readonly runId: RunId;
  readonly taskNo: TaskNo;
  readonly hour: number;
  /** 1 in the hour in which the attempt ended. */
  readonly attempts: number;
  readonly slotMs: number;
  readonly cpuMs: number;
  readonly memoryMibMs: number;
}

/** The row of its run tells tenant, dag, version and priority; an expansion tells which group an item belongs to. */
const addUsage = leafStatement(
  'add_usage',
  (leaf) => `
  with piece as (
    select r.tenant_id, r.dag_id, r.version_no, r.priority, u.*,
        coalesce((select -1 - m.group_no from map_expansion_${leaf} m
          where m.shard = u.shard and m.run_id = u.run_id and m.first_no <= u.task_no
          order by m.first_no desc limit 1), u.task_no) as place
      from (${rowsOf(
        'shard smallint',
        'run_id bigint',
        'task_no integer',
        'hour integer',
        'attempts integer',
        'slot_ms bigint',
        'cpu_ms bigint',
        'memory_mib_ms bigint',
      )}) u
      join run_${leaf} r on r.shard = u.shard and r.run_id = u.run_id),
  hours as (
    insert into usage_hour as k (shard, tenant_id, hour, slot_ms)
    select shard, tenant_id, hour, sum(slot_ms) from piece group by 1, 2, 3
    on conflict (shard, tenant_id, hour) do update set slot_ms = k.slot_ms + excluded.slot_ms)
  insert into usage_rollup as k (shard, dag_id, day, version_no, task_no, priority, tenant_id, attempts, slot_ms,
    cpu_ms, memory_mib_ms)
  select shard, dag_id, hour / ${HOURS_PER_DAY}, version_no, place, priority, min(tenant_id),
      sum(attempts), sum(slot_ms), sum(cpu_ms), sum(memory_mib_ms)
    from piece group by 1, 2, 3, 4, 5, 6
  on conflict (shard, dag_id, day, version_no, task_no, priority) do update set
    attempts = k.attempts + excluded.attempts, slot_ms = k.slot_ms + excluded.slot_ms, cpu_ms = k.cpu_ms + excluded.cpu_ms,
    memory_mib_ms = k.memory_mib_ms + excluded.memory_mib_ms`,
);

/** After the rows of the runs are written. */
export function usageCalls(changes: readonly Change[], days: KnownDays): Call[] {
  return [...byLeaf(usageOf(changes), ({ runId }) => leafOfRun(days, runId))].map(([leaf, list]) => add(leaf, list));
}

function add(leaf: Leaf, pieces: readonly UsagePiece[]): Call {
  return call(
    addUsage(leaf),
    ...keyColumns(pieces),
    integers(pieces.map(({ taskNo }) => taskNo)),
    integers(pieces.map(({ hour }) => hour)),
    integers(pieces.map(({ attempts }) => attempts)),
    bigints(pieces.map(({ slotMs }) => slotMs)),
    bigints(pieces.map(({ cpuMs }) => cpuMs)),
    bigints(pieces.map(({ memoryMibMs }) => memoryMibMs)),
  );
}

/** What the attempts took that these changes end. A call of another dag has no worker, and takes nothing itself. */
export function usageOf(changes: readonly Change[]): UsagePiece[] {
  const measured = new Map<string, AttemptMeasured>();
  const pieces: UsagePiece[] = [];
  for (const change of changes) {
    if (change.kind === 'AttemptMeasured') measured.set(keyOf(change), change);
    if (change.kind !== 'AttemptEnded' && change.kind !== 'SpeculativeEnded' && change.kind !== 'SpeculativeTookOver')
      continue;
    if (change.workerId === NOBODY) continue;
    pieces.push(...piecesOf(change, measured.get(keyOf(change))));
  }
  return pieces;
}

const keyOf = ({ runId, taskNo, fence }: Pick<AttemptMeasured, 'runId' | 'taskNo' | 'fence'>): string =>
  `${runId} ${taskNo} ${fence}`;

interface EndedAttempt {
  readonly runId: RunId;
  readonly taskNo: TaskNo;
  readonly claimedAt: Instant;
  readonly endedAt: Instant;
}

/** By hours; the processor's time goes to the last one, because nobody knows when it was used. */
function piecesOf({ runId, taskNo, claimedAt, endedAt }: EndedAttempt, measured: AttemptMeasured | undefined) {
  const mib = (measured?.peakBytes ?? 0) / MIB;
  const pieces: UsagePiece[] = [];
  // A clock that went back makes no time.
  for (let from: number = Math.min(claimedAt, endedAt); ; ) {
    const hour = Math.floor(from / HOUR_MS);
    const to = Math.min(endedAt, (hour + 1) * HOUR_MS);
    const isLast = to >= endedAt;
    pieces.push({
      runId,
      taskNo,
      hour,
      attempts: isLast ? 1 : 0,
      slotMs: to - from,
      cpuMs: isLast ? (measured?.cpuMs ?? 0) : 0,
      memoryMibMs: Math.round(mib * (to - from)),
    });
    if (isLast) return pieces;
    from = to;
  }
}
