/**
 * Identifiers inside the engine. All are integers, except those that come from outside. They are branded, so one can't be
 * passed for another.
 *
 * The id of a run consists of the second of its creation, its shard, and a number. It is ordered by time, so tables can be
 * partitioned by age, and it contains the shard, so a dag can move without its runs. It stays below 2^53 until 2088.
 */
declare const brand: unique symbol;
type Branded<T, Name extends string> = T & { readonly [brand]: Name };

/** Milliseconds since 1970 on a wall clock. For what people see and for what the calendar decides; may jump. */
export type Instant = Branded<number, 'Instant'>;
/** Milliseconds on a clock of this process that never jumps. For leases, backoffs and timeouts; never stored. */
export type MonoMs = Branded<number, 'MonoMs'>;
export type ShardNo = Branded<number, 'ShardNo'>;
export type Epoch = Branded<number, 'Epoch'>;
export type TenantId = Branded<number, 'TenantId'>;
export type DagId = Branded<number, 'DagId'>;
/** Number of a schedule within its dag: from 1 on, never used again. */
export type ScheduleNo = Branded<number, 'ScheduleNo'>;
/** A schedule anywhere: its dag and its number in one. */
export type ScheduleId = Branded<string, 'ScheduleId'>;
export type VersionNo = Branded<number, 'VersionNo'>;
export type RunId = Branded<number, 'RunId'>;
/** Index of a task in its dag's list of tasks. */
export type TaskNo = Branded<number, 'TaskNo'>;
export type AttemptNo = Branded<number, 'AttemptNo'>;
/** Slot of a task in the task table. It is used again once its run has left. */
export type TaskSlot = Branded<number, 'TaskSlot'>;
/** Row of a live run in the run table. It is used again once the run has left. */
export type RunRow = Branded<number, 'RunRow'>;
/** Row of a running attempt in the attempt table. */
export type AttemptSlot = Branded<number, 'AttemptSlot'>;
/** Larger than that of any earlier claim of the same task. */
export type Fence = Branded<number, 'Fence'>;
/** UUID of one worker process. */
export type WorkerId = Branded<string, 'WorkerId'>;
/** In place of a worker, where none is needed. */
export const NOBODY = '00000000-0000-0000-0000-000000000000' as WorkerId;
/** UUID of one server process: a new one at each start. */
export type NodeId = Branded<string, 'NodeId'>;
export type QueueName = Branded<string, 'QueueName'>;
/** UUID v7 of a run, as the outside knows it. */
export type RunUid = Branded<string, 'RunUid'>;
/** UUID v7 of a backfill. Like that of a run it ends with its shard. */
export type BackfillUid = Branded<string, 'BackfillUid'>;
/** Who asked: `token:ci`, `schedule`, `system`. */
export type Actor = Branded<string, 'Actor'>;

export const SHARD_COUNT = 64;

const ID_EPOCH_S = 1_577_836_800; // 2020-01-01
const SEQUENCE_SPAN = 2 ** 16;
const SECOND_SPAN = 2 ** 22;

/** No run can be created after this: its id would not be a whole number any more that can be told from the next (2088). */
export const LAST_RUN_AT = ((Number.MAX_SAFE_INTEGER - (SECOND_SPAN - 1)) / SECOND_SPAN + ID_EPOCH_S) * 1000;

export function shardOfRun(id: RunId): ShardNo {
  // Bit operations take the lower 32 bits of any whole number; a remainder of large numbers takes ten times as long.
  return ((id / SEQUENCE_SPAN) & (SHARD_COUNT - 1)) as ShardNo;
}

/** The smallest id that a run created at this instant, in any shard, can have. Tables are cut at such ids. */
export function firstRunIdAt(at: Instant): RunId {
  return (Math.max(0, Math.floor(at / 1000) - ID_EPOCH_S) * SECOND_SPAN) as RunId;
}

/** The second in which the run was created, or a later one where the clock went back or a second was used up. */
export function instantOfRun(id: RunId): Instant {
  return ((Math.floor(id / SECOND_SPAN) + ID_EPOCH_S) * 1000) as Instant;
}

/** The id after `last` in its shard. Never repeats and never falls, whatever the clock does (I5). */
export function nextRunId(shard: ShardNo, last: RunId, now: Instant): RunId {
  const fromClock = firstRunIdAt(now) + shard * SEQUENCE_SPAN;
  if (fromClock > last) return fromClock as RunId;
  const sequence = (last % SEQUENCE_SPAN) + 1;
  // A second with all its numbers used lends from the next one.
  return (sequence < SEQUENCE_SPAN ? last + 1 : last - (last % SEQUENCE_SPAN) + SECOND_SPAN) as RunId;
}

/** A dag gives no more numbers than this to its schedules: what an integer of the database holds. */
export const MAX_SCHEDULE_NO = 2 ** 31 - 1;

export function scheduleIdOf({ dagId, scheduleNo }: { dagId: DagId; scheduleNo: ScheduleNo }): ScheduleId {
  return `${dagId}/${scheduleNo}` as ScheduleId;
}

/** Version 7 is what servers make. Callers use the others, so one is never taken for the other. */
export function isOwnRunId(uid: string): boolean {
  return uid[14] !== '7';
}

/**
 * Run uids are UUID v7 whose last two hex digits are the shard, and the four before them the place in a batch: so that
 * a run is found by its uid alone, and a batch sent again names the same runs.
 */
export function shardOfUid(uid: RunUid | BackfillUid): ShardNo {
  return Number.parseInt(uid.slice(34), 16) as ShardNo;
}

/** The instant that a uid was made for. */
export function instantOfUid(uid: RunUid): Instant {
  return Number.parseInt(uid.slice(0, 8) + uid.slice(9, 13), 16) as Instant;
}

/** The uid of item `index` of a batch whose first item has the uid `first`. */
export function uidOfItem(first: RunUid, index: number): RunUid {
  return (first.slice(0, 30) + index.toString(16).padStart(4, '0') + first.slice(34)) as RunUid;
}

/** A uid from 50 bits of chance, the upper 24 of `chance48` and all of `chance26`: the engine draws none of its own. */
export function makeRunUid(shard: ShardNo, at: Instant, chance48: number, chance26: number): RunUid {
  const ms = Math.floor(Math.max(0, at));
  const [early, late] = [Math.floor(ms / TWO_TO_16) % TWO_TO_32, ms % TWO_TO_16];
  const a = Math.floor(Math.floor(chance48) / TWO_TO_24) % TWO_TO_24;
  const b = Math.floor(chance26);
  const variant = hex(0x8000 + (b & 3) * 0x1000 + (a % 0x1000), 4);
  const digits = `${hex(b >>> 2, 6)}0000${hex(shard, 2)}`;
  return `${hex(early >>> 16, 4)}${hex(early & 0xffff, 4)}-${hex(late, 4)}-7${hex(a >>> 12, 3)}-${variant}-${digits}` as RunUid;
}

const TWO_TO_16 = 2 ** 16;
const TWO_TO_24 = 2 ** 24;
const TWO_TO_32 = 2 ** 32;

/** The last `digits` of a small whole number. Padding is slow, and so are larger numbers. */
function hex(value: number, digits: number): string {
  return ((1 << (4 * digits)) | (value & ((1 << (4 * digits)) - 1))).toString(16).slice(1);
}
