/** What is paused in a run, by whom and since when. Nothing new of it is claimed, and it blocks nobody else (I47). */
import type { Actor, Instant } from '../../model/ids.ts';

export interface Pause {
  readonly by: Actor;
  readonly at: Instant;
  /** When it goes on by itself. */
  readonly until: Instant | null;
}

export class Pauses {
  run: Pause | null = null;
  readonly tasks = new Map<number, Pause>();

  set(taskNo: number | null, pause: Pause | null): void {
    if (taskNo === null) this.run = pause;
    else if (pause === null) this.tasks.delete(taskNo);
    else this.tasks.set(taskNo, pause);
  }

  get(taskNo: number | null): Pause | null {
    return taskNo === null ? this.run : (this.tasks.get(taskNo) ?? null);
  }

  get isEmpty(): boolean {
    return this.run === null && this.tasks.size === 0;
  }
}
