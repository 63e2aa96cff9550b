/** Tasks that run another dag. */
import type { Dag } from './dag-value.ts';
import type { CommonOptions, Task, WithInputs } from './task-options.ts';

/** What a run leaves: what each of its leaves returns, by the name of the task. Known where its dag says so. */
type OutputOf<Output> = unknown extends Output ? Readonly<Record<string, unknown>> : Output;

export interface ChildOptions extends CommonOptions {
  /**
   * False: the task has succeeded as soon as the run is stored, with `{ run }`, its id, as output. Otherwise it ends with that
   * run, which is cancelled when this one is.
   */
  readonly wait?: boolean;
}

/**
 * @example
 * const loaded = child('load-north', { dag: loadRegion, inputs: { region: 'north', day: params.day } });
 * task('sum', { inputs: { rows: loaded.output.load.rows } }, ({ inputs }) => inputs.rows);
 */
export interface MakeChild {
  <Params, Output>(
    name: string,
    options: ChildOptions & { readonly dag: Dag<Params, Output>; readonly wait: false } & WithInputs<Params>,
  ): Task<{ readonly run: string }>;
  <Params, Output>(
    name: string,
    options: ChildOptions & { readonly dag: Dag<Params, Output>; readonly wait?: true } & WithInputs<Params>,
  ): Task<OutputOf<Output>>;
  /** A dag of another file, or of another language, by its name. */
  <Output = Readonly<Record<string, unknown>>>(
    name: string,
    options: ChildOptions & { readonly dag: string; readonly inputs?: Readonly<Record<string, unknown>> },
  ): Task<Output>;
}
