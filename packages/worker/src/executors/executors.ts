/** All executors of a worker besides its own handlers, and what they share. */

import { AddressPolicy } from '@signalbox/protocol/outbound';
import type { Bundles } from '../bundles/bundles.ts';
import type { LogShipper } from '../logs/log-shipper.ts';
import type { WorkerConfig } from '../options.ts';
import type { Slots } from '../slots.ts';
import type { WorkKind } from '../work.ts';
import type { ChildHome } from './child-home.ts';
import { cleanEnvironment } from './environment.ts';
import type { Execution } from './execution.ts';
import { FunctionExecutor } from './function-executor.ts';
import { HttpExecutor } from './http/http-executor.ts';
import { MemoryWatch } from './memory-watch.ts';
import type { Executor, Job, JobListener } from './port.ts';
import { ProcessExecutor } from './process-executor.ts';
import { ReapedCpu } from './reaped-cpu.ts';
import { Reaper } from './reaper.ts';

const WORKER = {
  name: 'worker',
  remedy: 'Start the worker with --http-allow <host> (SIGNALBOX_HTTP_ALLOW) to allow it.',
};

interface ExecutorsParts {
  readonly config: WorkerConfig;
  readonly bundles: Bundles;
  readonly shipper: LogShipper;
  readonly slots: Slots;
  /** Whether attempts of other kinds than functions wait for a slot. */
  readonly othersWait: () => boolean;
  readonly onSlot: () => void;
}

export class Executors {
  readonly #reaper: Reaper;
  readonly #functions: FunctionExecutor;
  readonly #byKind: Readonly<Record<Exclude<WorkKind, 'handler'>, Executor>>;

  constructor({ config, bundles, shipper, slots, othersWait, onSlot }: ExecutorsParts) {
    this.#reaper = new Reaper(config.id);
    const environment = cleanEnvironment(config.environment);
    const home: ChildHome = {
      environment,
      reaper: this.#reaper,
      relief: shipper,
      memory: new MemoryWatch(),
      cpu: new ReapedCpu(),
    };
    this.#functions = new FunctionExecutor(bundles, { home, slots, mostChildren: config.slots, othersWait, onSlot });
    this.#byKind = {
      function: this.#functions,
      process: new ProcessExecutor(home, bundles, config.log),
      http: new HttpExecutor(new AddressPolicy(config.httpAllow, WORKER)),
    };
  }

  start(kind: Exclude<WorkKind, 'handler'>, job: Job, listener: JobListener): Execution {
    return this.#byKind[kind].start(job, listener);
  }

  /** When the function came that has waited longest for a child and a slot; null if none waits. */
  get oldestWaitingAt(): number | null {
    return this.#functions.pool.oldestWaitingAt;
  }

  get hasWaiting(): boolean {
    return this.oldestWaitingAt !== null;
  }

  /** How many attempts of functions have ended in children. */
  get functionsEnded(): number {
    return this.#functions.pool.endedCount;
  }

  /** Slots are free: functions that wait may begin. */
  giveSlots(): void {
    this.#functions.pool.giveSome();
  }

  look(now: number): void {
    this.#functions.pool.look(now);
  }

  async close(): Promise<void> {
    await Promise.all(Object.values(this.#byKind).map((executor) => executor.close()));
    this.#reaper.close();
  }
}
