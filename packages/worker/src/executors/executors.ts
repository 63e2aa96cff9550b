/** All executors of a worker besides its own handlers, and what they share. */

import { AddressPolicy } from '@signalbox/protocol/outbound';
import type { Bundles } from '../bundles/bundles.ts';
import type { LogShipper } from '../logs/log-shipper.ts';
import type { WorkerConfig } from '../options.ts';
import type { Result } from '../result.ts';
import type { WorkKind } from '../work.ts';
import type { ChildHome } from './child-home.ts';
import { cleanEnvironment } from './environment.ts';
import type { Execution } from './execution.ts';
import { FunctionExecutor } from './function-executor.ts';
import { HttpExecutor } from './http/http-executor.ts';
import { MemoryWatch } from './memory-watch.ts';
import type { Executor, Job } from './port.ts';
import { ProcessExecutor } from './process-executor.ts';
import { Reaper } from './reaper.ts';

const WORKER = {
  name: 'worker',
  remedy: 'Start the worker with --http-allow <host> (SIGNALBOX_HTTP_ALLOW) to allow it.',
};

export class Executors {
  readonly #reaper: Reaper;
  readonly #byKind: Readonly<Record<Exclude<WorkKind, 'handler'>, Executor>>;

  constructor(config: WorkerConfig, bundles: Bundles, shipper: LogShipper) {
    this.#reaper = new Reaper(config.id);
    const environment = cleanEnvironment(config.environment);
    const home: ChildHome = { environment, reaper: this.#reaper, relief: shipper, memory: new MemoryWatch() };
    this.#byKind = {
      function: new FunctionExecutor(bundles, home, config.slots),
      process: new ProcessExecutor(home, bundles),
      http: new HttpExecutor(new AddressPolicy(config.httpAllow, WORKER)),
    };
  }

  start(kind: Exclude<WorkKind, 'handler'>, job: Job, end: (result: Result) => void): Execution {
    return this.#byKind[kind].start(job, end);
  }

  async close(): Promise<void> {
    await Promise.all(Object.values(this.#byKind).map((executor) => executor.close()));
    this.#reaper.close();
  }
}
