/** The schedules in the working set: by id, and by name within their dag. */
import type { DagId, ScheduleId, ShardNo } from '../../model/ids.ts';
import type { Schedule } from './schedule.ts';

export class ScheduleTable {
  private readonly byId = new Map<ScheduleId, Schedule>();
  private readonly byDag = new Map<DagId, Map<string, Schedule>>();
  /** Those that may leave memory. */
  readonly idle = new Set<Schedule>();
  /** Those whose windows are decided, and whose next due time is not stored yet: see `park.ts`. */
  readonly toPark = new Set<Schedule>();

  get size(): number {
    return this.byId.size;
  }

  get(id: ScheduleId): Schedule | undefined {
    return this.byId.get(id);
  }

  named(dagId: DagId, name: string): Schedule | undefined {
    return this.byDag.get(dagId)?.get(name);
  }

  /** In the order in which they were made. */
  ofDag(dagId: DagId): readonly Schedule[] {
    return [...(this.byDag.get(dagId)?.values() ?? [])].sort((a, b) => a.scheduleNo - b.scheduleNo);
  }

  countOf(dagId: DagId): number {
    return this.byDag.get(dagId)?.size ?? 0;
  }

  values(): IterableIterator<Schedule> {
    return this.byId.values();
  }

  put(schedule: Schedule): void {
    const before = this.byId.get(schedule.id);
    if (before !== undefined && before !== schedule) this.leave(before);
    schedule.isKept = true;
    this.byId.set(schedule.id, schedule);
    let names = this.byDag.get(schedule.dagId);
    if (names === undefined) this.byDag.set(schedule.dagId, (names = new Map()));
    names.set(schedule.name, schedule);
  }

  remove(schedule: Schedule): void {
    const { id, dagId, name } = schedule;
    this.leave(schedule);
    this.byId.delete(id);
    const names = this.byDag.get(dagId);
    names?.delete(name);
    if (names?.size === 0) this.byDag.delete(dagId);
  }

  private leave(schedule: Schedule): void {
    schedule.watch = null;
    schedule.isKept = false;
    this.idle.delete(schedule);
    this.toPark.delete(schedule);
  }

  drop(shards: ReadonlySet<ShardNo>): void {
    for (const schedule of this.byId.values()) if (shards.has(schedule.shard)) this.remove(schedule);
  }
}
