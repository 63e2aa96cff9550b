/** What the functions that define a dag or a map receive: one function per kind of task. */
import type { Priority, TriggerRule } from '@signalbox/protocol';
import type { HandlerContext } from '../handler.ts';
import type { MakeChild } from './child-options.ts';
import type { Jsonified } from './jsonified.ts';
import type { ItemOf, MapOver, Mapped, MappedTask } from './map-options.ts';
import type { OfTask, Ref } from './ref.ts';
import type { Side, UndoContext } from './side-options.ts';
import type { FunctionOptions, HttpOptions, HttpOutput, ProcessOptions, Task, WithInputs } from './task-options.ts';
import type { MakeTemplate } from './template-options.ts';

type Run<Inputs, Params, Item, Output> = (context: HandlerContext<Inputs, Params, Item>) => Output;
type NoInputs = object;

/**
 * What the function gets: with any rule but `all_success` a task may run though one that it needs has not succeeded, and
 * what comes from that one is null.
 */
type SeenInputs<Inputs, Wired, Rule> = [Rule] extends ['all_success']
  ? Inputs
  : {
      readonly [K in keyof Inputs]: K extends keyof Wired
        ? Wired[K] extends OfTask
          ? Inputs[K] | null
          : Inputs[K]
        : Inputs[K];
    };

/** A task with a map of its own has the items of that; another those of the map that it was made in. */
type ItemFor<Over, Item> = [Over] extends [never] ? Item : ItemOf<Over>;
type TaskOf<Output, Over> = [Over] extends [never]
  ? Task<Jsonified<Awaited<Output>>>
  : MappedTask<Jsonified<Awaited<Output>>>;

interface MakeTask<Params, Item = unknown> {
  <Output>(name: string, run: Run<NoInputs, Params, Item, Output>): Task<Jsonified<Awaited<Output>>>;
  <
    Output,
    Inputs = NoInputs,
    const Over extends MapOver = never,
    Rule extends TriggerRule = 'all_success',
    Wired = unknown,
    const Gang extends NonNullable<FunctionOptions['gang']> = never,
  >(
    name: string,
    options: FunctionOptions &
      WithInputs<Inputs> &
      WithMap<Over> & { readonly rule?: Rule; readonly inputs?: Wired; readonly gang?: Gang },
    run: Run<SeenInputs<Inputs, Wired, Rule>, Params, ItemFor<Over, Item>, Output>,
  ): TaskOf<Output, Over | Gang>;
}

interface WithMap<Over> {
  /**
   * Once for each item of a list, which the function gets as `item`. The output is then a list of what they return.
   *
   * @example task('load', { map: list.output.files }, ({ item }) => item.path.length);
   */
  readonly map?: Over;
}

/** Values of the run, like `${{ run.id }}` in YAML. Instants are text, such as 2026-01-31T07:00:00.000Z. */
export interface RunFields {
  readonly id: string;
  readonly dag: string;
  readonly createdAt: string;
  readonly priority: Priority;
}

/** As ISO 8601 texts. Null for a run on demand. */
export interface WindowFields {
  readonly at: string | null;
  /** The data interval: from the window before to this one. */
  readonly start: string | null;
  readonly end: string | null;
}

/** What the function that writes a dag is given. `Item` is what its tasks run for, within a map. */
export interface DagBuilder<Params, Item = unknown> {
  /** A task that is a function. What it returns is JSON, or a promise of it, and the `output` of the task. */
  readonly task: MakeTask<Params, Item>;
  /** A task that is a process. JSON that it writes to the file SIGNALBOX_OUTPUT is its output. */
  readonly process: <Output = unknown>(name: string, options: ProcessOptions) => Task<Output>;
  /** A task that is an HTTP call. `Body` is what its answer is expected to be, when that is JSON. */
  readonly http: <Body = unknown>(name: string, options: HttpOptions) => Task<HttpOutput<Body>>;
  /** A task that is a run of another dag, with its inputs as the params of that run. */
  readonly child: MakeChild;
  /**
   * What undoes a task, when the run fails or is cancelled and the dag has `compensate: true`. It has the inputs of the task,
   * and its output as the input `output`.
   *
   * @example
   * const charge = task('charge', ({ params }) => pay(params.order));
   * undo(charge, ({ inputs }) => refund(inputs.output.payment));
   */
  readonly undo: <Output>(
    task: Task<Output> | MappedTask<Output>,
    side: Side<UndoContext<Output, Params, Item>>,
  ) => void;
  /** Tasks that run once for each item of a list, each item by itself. */
  readonly map: MakeMap<Params>;
  /** Tasks that belong together: they are shown together. Returns what the function returns. */
  readonly group: <Made>(name: string, build: (builder: DagBuilder<Params, Item>) => Made) => Made;
  /** What the run will have been submitted with; a path into it is an input of a task. */
  readonly params: Ref<Params>;
  /** The run itself; a path into it is an input of a task. */
  readonly run: Ref<RunFields>;
  /** The window that the run is for: its scheduled time and its data interval. All null for a run on demand. */
  readonly window: Ref<WindowFields>;
  /** What tasks with `adds` may add to a run, with `addTasks`. */
  readonly template: MakeTemplate<Params>;
}

/** What the function that writes a map is given. Tasks made with it run once for each item. */
export interface MapBuilder<Params, Item> extends DagBuilder<Params, Item> {
  /** The item; a path into it is an input of a task. Functions also have it as `item` of their context. */
  readonly item: Ref<Item>;
  /** Its number, from 0. */
  readonly index: Ref<number>;
}

/**
 * @example
 * const loaded = map('each-file', list.output.files, ({ item, task }) => {
 *   const fetched = task('fetch', { inputs: { path: item.path } }, ({ inputs }) => read(inputs.path));
 *   return task('load', { inputs: { text: fetched.output } }, ({ inputs }) => ({ rows: inputs.text.length }));
 * });
 * task('sum', { inputs: { rows: loaded.output.rows } }, ({ inputs }) => inputs.rows.length);
 */
type MakeMap<Params> = <const Over extends MapOver, Made = void>(
  name: string,
  over: Over,
  build: (builder: MapBuilder<Params, ItemOf<Over>>) => Made,
) => Mapped<Made>;
