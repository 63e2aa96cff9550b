/** Templates of tasks that can be added to a run while it runs. */
import type { HandlerContext } from '../handler.ts';
import type { CommonOptions, FunctionOptions, HttpOptions, ProcessOptions } from './task-options.ts';

declare const INPUTS: unique symbol;

/** A task without a place in the graph. `addTasks` of a running task creates tasks from it. */
export interface Template<Inputs = unknown> {
  readonly name: string;
  /** For types only. */
  readonly [INPUTS]?: Inputs;
}

/** What has to do with the place of a task is said when it is added. */
type Placed = 'when' | 'branch' | 'shortCircuit' | 'setup' | 'teardown' | 'hooks' | 'produces';
type WithoutPlace<Options extends CommonOptions> = Omit<Options, Placed>;

/**
 * @example
 * const load = template('load', ({ inputs }: Inputs<{ file: string }>) => readRows(inputs.file));
 * const plan = task('plan', { adds: true }, async ({ addTasks }) => {
 *   const files = await listFiles();
 *   await addTasks(files.map((file) => ({ name: `load-${file}`, template: load, inputs: { file }, before: ['sum'] })));
 * });
 * task('sum', { needs: [plan] }, ({ upstream }) => Object.values(upstream).length);
 */
export interface MakeTemplate<Params> {
  <Inputs = object>(name: string, run: (context: HandlerContext<Inputs, Params>) => unknown): Template<Inputs>;
  <Inputs = object>(
    name: string,
    options: WithoutPlace<FunctionOptions> & { readonly inputs?: Readonly<Record<string, unknown>> },
    run: (context: HandlerContext<Inputs, Params>) => unknown,
  ): Template<Inputs>;
  /** A process, an HTTP call, or a run of another dag, by its name. */
  (
    name: string,
    options:
      | WithoutPlace<ProcessOptions>
      | (WithoutPlace<CommonOptions> & {
          readonly http: Omit<HttpOptions, keyof CommonOptions | 'inputs'> & {
            readonly timeout?: HttpOptions['timeout'];
          };
        } & {
          readonly inputs?: Readonly<Record<string, unknown>>;
        })
      | (WithoutPlace<CommonOptions> & { readonly dag: string; readonly inputs?: Readonly<Record<string, unknown>> }),
  ): Template;
}
