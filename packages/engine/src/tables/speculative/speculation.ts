import type { TaskTable } from '../task/task-table.ts';
import type { Pace } from './pace.ts';

export interface Wanted {
  readonly runId: number;
  /** Of the attempt that takes so long. */
  readonly fence: number;
  readonly since: number;
}

export class Stragglers {
  /** Shadows by the slots of their tasks, and the other way round. */
  readonly shadows = new Map<number, number>();
  readonly owners = new Map<number, number>();
  /** How many a run has. */
  readonly counts = new Map<number, number>();
  /** Tasks that are to have a second attempt as soon as a worker has room. Found anew after a load. */
  readonly wanted = new Map<number, Wanted>();
  /** How long the tasks of a run take: by run, then by number in the spec. */
  readonly paces = new Map<number, Map<number, Pace>>();

  add(slot: number, shadow: number, run: number): void {
    this.shadows.set(slot, shadow);
    this.owners.set(shadow, slot);
    this.counts.set(run, (this.counts.get(run) ?? 0) + 1);
  }

  remove(slot: number, shadow: number, run: number): void {
    this.shadows.delete(slot);
    this.owners.delete(shadow);
    const left = (this.counts.get(run) ?? 1) - 1;
    if (left === 0) this.counts.delete(run);
    else this.counts.set(run, left);
  }

  /** The run goes: nothing of it runs any more. */
  forgetRun({ tasks }: { readonly tasks: TaskTable }, run: number): void {
    this.paces.delete(run);
    for (const slot of this.wanted.keys()) if (tasks.run[slot] === run) this.wanted.delete(slot);
    if (!this.counts.has(run)) return;
    for (const [slot, shadow] of this.shadows) {
      if (tasks.run[slot] !== run) continue;
      this.remove(slot, shadow, run);
      tasks.release(shadow, 1);
    }
  }
}
