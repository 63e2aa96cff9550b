/** `function:` — one of a bundle's functions, in a warm child process or, where the task says so, in the worker's own. */
import { pathToFileURL } from 'node:url';
import type { FunctionWork } from '@signalbox/protocol';
import type { Handler } from '@signalbox/sdk';
import type { BundleFile } from '../bundles/bundle-folder.ts';
import type { Bundles } from '../bundles/bundles.ts';
import { failure, resultOfFault } from '../result.ts';
import { callHandler } from './call-handler.ts';
import type { Execution } from './execution.ts';
import { FunctionPool, type PoolParts } from './function-pool.ts';
import type { Ended, Executor, Job, JobListener } from './port.ts';

type Functions = ReadonlyMap<string, Handler>;

export class FunctionExecutor implements Executor {
  readonly #bundles: Bundles;
  readonly pool: FunctionPool;
  /** How many bundles this process loads; they can't be unloaded. */
  readonly #loaded = new Map<string, Promise<Functions>>();

  constructor(bundles: Bundles, parts: PoolParts) {
    this.#bundles = bundles;
    this.pool = new FunctionPool(parts);
  }

  start(job: Job, listener: JobListener): Execution {
    const { bundle: hash, tenant } = job.assignment;
    // Code of two tenants never shares a process.
    const isInProcess = (job.work.shape as FunctionWork).inProcess === true && !this.#bundles.isShared;
    const bundle = this.#bundles.peek(tenant, hash);
    if (bundle !== null && !isInProcess) return this.pool.run(job, bundle, listener);
    const starting = new Starting(listener);
    void this.#bundles.get(tenant, hash).then(
      async (file) => {
        if (starting.isOver) return;
        if (isInProcess) await this.#callHere(job, file, starting);
        else starting.execution = this.pool.run(job, file, listener);
      },
      (error: unknown) => starting.end(resultOfFault(error)),
    );
    return starting;
  }

  close(): Promise<void> {
    return this.pool.close();
  }

  async #callHere({ assignment, context }: Job, file: BundleFile, starting: Starting): Promise<void> {
    let functions: Functions;
    try {
      functions = await this.#load(file);
    } catch (error) {
      this.#loaded.delete(file.hash);
      starting.end(failure('transient', `The bundle could not be loaded: ${String(error)}`));
      return;
    }
    const handler = functions.get(assignment.handler);
    if (starting.isOver) return;
    if (handler === undefined) {
      starting.end(failure('permanent', `The bundle has no function "${assignment.handler}": deploy the dag again.`));
      return;
    }
    starting.isCalled = true;
    callHandler(handler, context, (result) => starting.end(result));
  }

  #load({ hash, path, hasSourceMap }: BundleFile): Promise<Functions> {
    let loaded = this.#loaded.get(hash);
    if (loaded === undefined) {
      if (hasSourceMap) process.setSourceMapsEnabled(true);
      loaded = import(pathToFileURL(path).href).then(
        ({ functions }: { readonly functions?: Record<string, Handler> }) => new Map(Object.entries(functions ?? {})),
      );
      this.#loaded.set(hash, loaded);
    }
    return loaded;
  }
}

/** An attempt that waits for its bundle, and then is what the bundle made of it. */
class Starting implements Execution {
  readonly #listener: JobListener;
  execution: Execution | null = null;
  isOver = false;
  /** In this process: from here on it can only be asked. */
  isCalled = false;

  constructor(listener: JobListener) {
    this.#listener = listener;
  }

  end(ended: Ended): void {
    if (this.isOver) return;
    this.isOver = true;
    this.#listener.end(ended);
  }

  stop(reason: Parameters<Execution['stop']>[0]): void {
    if (this.execution !== null) this.execution.stop(reason);
    else if (reason !== 'lost' && !this.isCalled) this.end(failure('cancelled', ''));
  }

  kill(): boolean {
    if (this.execution !== null) return this.execution.kill();
    if (this.isCalled) return false;
    this.end(failure('cancelled', ''));
    return true;
  }

  withdraw(): void {
    if (this.execution !== null) this.execution.withdraw?.();
    else if (!this.isCalled) this.end({ returned: 'it waited for its bundle', hasBegun: false, isSuspect: false });
  }
}
