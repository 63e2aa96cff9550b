/** `function:` — one of a bundle's functions, in a warm child process or, where the task says so, in the worker's own. */
import { pathToFileURL } from 'node:url';
import type { FunctionWork } from '@signalbox/protocol';
import type { Handler } from '@signalbox/sdk';
import type { BundleFile } from '../bundles/bundle-folder.ts';
import type { Bundles } from '../bundles/bundles.ts';
import { failure, type Result, resultOfFault } from '../result.ts';
import { callHandler } from './call-handler.ts';
import type { ChildHome } from './child-home.ts';
import type { Execution } from './execution.ts';
import { FunctionPool } from './function-pool.ts';
import type { Executor, Job } from './port.ts';

type Functions = ReadonlyMap<string, Handler>;

export class FunctionExecutor implements Executor {
  readonly #bundles: Bundles;
  readonly #pool: FunctionPool;
  /** How many bundles this process loads; they can't be unloaded. */
  readonly #loaded = new Map<string, Promise<Functions>>();

  constructor(bundles: Bundles, home: ChildHome, slots: number) {
    this.#bundles = bundles;
    this.#pool = new FunctionPool(home, slots);
  }

  start(job: Job, end: (result: Result) => void): Execution {
    const { bundle: hash } = job.assignment;
    const isInProcess = (job.work.shape as FunctionWork).inProcess === true;
    const bundle = this.#bundles.peek(hash);
    if (bundle !== null && !isInProcess) return this.#pool.run(job, bundle, end);
    const starting = new Starting(end);
    void this.#bundles.get(hash).then(
      async (file) => {
        if (starting.isOver) return;
        if (isInProcess) await this.#callHere(job, file, starting);
        else starting.execution = this.#pool.run(job, file, end);
      },
      (error: unknown) => starting.end(resultOfFault(error)),
    );
    return starting;
  }

  close(): Promise<void> {
    return this.#pool.close();
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
  readonly #end: (result: Result) => void;
  execution: Execution | null = null;
  isOver = false;
  /** In this process: from here on it can only be asked. */
  isCalled = false;

  constructor(end: (result: Result) => void) {
    this.#end = end;
  }

  end(result: Result): void {
    if (this.isOver) return;
    this.isOver = true;
    this.#end(result);
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
}
