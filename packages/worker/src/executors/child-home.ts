/** What all child processes of a worker share. */
import type { Relief } from './capture.ts';
import type { MemoryWatch } from './memory-watch.ts';
import type { ReapedCpu } from './reaped-cpu.ts';
import type { Reaper } from './reaper.ts';

export interface ChildHome {
  /** Clean: nothing of the worker's own. */
  readonly environment: Readonly<Record<string, string>>;
  readonly reaper: Reaper;
  readonly relief: Relief;
  readonly memory: MemoryWatch;
  readonly cpu: ReapedCpu;
}
