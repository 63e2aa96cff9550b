/** What may be said about a dag and its tasks in TypeScript. The words are those of the definition in YAML. */
import type { DagDefinition, Priority, TriggerRule } from '@signalbox/protocol';
import type { HandlerContext } from '../handler.ts';
import type { MakeChild } from './child-options.ts';
import type { Jsonified } from './jsonified.ts';
import type { ItemOf, MakeMap, MapOver, MappedTask } from './map-options.ts';
import type { OfTask, Ref, RefOf } from './ref.ts';
import type { Hooks, Side, UndoContext } from './side-options.ts';
import type { MakeTemplate } from './template-options.ts';

/** How an attempt may end, as an exit code or a status says. */
type ExitClass = 'succeeded' | 'transient' | 'permanent' | 'resource';
type TaskDefinition = DagDefinition['tasks'][number];

/** A span with its unit: `'30s'`, `'5m'`, `'1.5h'`. */
export type Duration = `${number}${'ms' | 's' | 'm' | 'h' | 'd'}`;

/** Bytes, or a size as it is spoken: `'512MiB'`, `'4GiB'`. */
export type Size = number | `${number}${'KiB' | 'MiB' | 'GiB' | 'kB' | 'MB' | 'GB'}`;

/** A value, or where it comes from: `grind.output.grams`, `params.day`. */
export type Wire<T> = T | RefOf<T>;

/** A task of the dag, for `needs` and `inputs` of others. */
export interface Task<Output = unknown> {
  readonly name: string;
  /** What it will have returned; a path into it is an input of another task. */
  readonly output: Ref<Output, OfTask>;
}

/** What may be said of a task of any kind. */
export interface CommonOptions {
  /** Tasks that come first, and by default must succeed. Those that its inputs come from need not be named. */
  readonly needs?: readonly Pick<Task | MappedTask, 'name'>[];
  /** What must have become of them; `all_success` unless told. */
  readonly rule?: TriggerRule;
  /**
   * A condition over params and outputs; where it does not hold, the task is skipped. It needs the tasks that it looks at.
   *
   * @example when: "params.mode == 'full' && length(tasks.find.output.files) > 0"
   * @example when: "tasks.load.error.class == 'timeout'" // with a rule such as one_failed
   */
  readonly when?: string;
  /** Its output is the name, or a list of names, of the tasks needing it that go on; the others are skipped. */
  readonly branch?: boolean;
  /** An output that is empty or false skips the tasks needing it; with `'all'`, everything behind it whatever its rule. */
  readonly shortCircuit?: boolean | 'all';
  /** Makes something that a teardown takes down; the rule `all_done_setup_success` asks for the success of these. */
  readonly setup?: boolean;
  /**
   * Takes down what these tasks have made, however the run goes: runs once all that works with it has ended, if one of them
   * succeeded. `true`: whatever came before it.
   *
   * @example task('drop-cluster', { teardown: makeCluster }, ({ upstream }) => …)
   */
  readonly teardown?: true | Pick<Task, 'name'> | readonly Pick<Task, 'name'>[];
  /** Tasks of their own around this one. */
  readonly hooks?: Hooks;
  /** Workers take tasks of the queues that they were started with. */
  readonly queue?: string;
  /** For one attempt. */
  readonly timeout?: Duration;
  readonly retries?: NonNullable<TaskDefinition['retries']>;
  /** How long it may be ready without a worker taking it; then it fails. */
  readonly queueTimeout?: Duration;
  /** How long one attempt may go without telling of progress. */
  readonly stuckAfter?: Duration;
  /** For the whole task: all attempts and the waits between them, from the first on. */
  readonly totalTimeout?: Duration;
  /** An attempt that takes longer is told of as slow, and goes on. */
  readonly softTimeout?: Duration;
  /** What one attempt may have of memory: bytes, or a size as it is spoken. */
  readonly memory?: Size;
  /** After an attempt ran out of memory the next one gets what it asked for, or `factor` times as much, up to `max`. */
  readonly onResource?: { readonly factor?: number; readonly max: Size };
  /** Given up early when it fails at once `count` times `within` a time, each sooner than `under`; false: never. 3, 1m, 1s unless told. */
  readonly poison?: NonNullable<TaskDefinition['poison']>;
  /**
   * In a map only: an item that takes far longer than its siblings gets a second attempt beside the first, at another worker. The
   * first of the two to succeed counts, the other is stopped: its signal fires with `superseded`. True: `{ factor: 3, after: '10s' }`.
   */
  readonly speculate?: NonNullable<TaskDefinition['speculate']>;
}

export interface FunctionOptions extends CommonOptions {
  /** In the worker's own process: faster, and a hot loop in it stops the whole worker. */
  readonly inProcess?: boolean;
  /** Names of the secrets that it asks for with `secret(name)`. */
  readonly secrets?: readonly string[];
  /** It may add tasks to its run, with `addTasks`, made of the templates of the dag. */
  readonly adds?: boolean;
}

/** The inputs by name, each the value or the place that it comes from. */
export type Wires<Inputs> = { readonly [K in keyof Inputs]: Wire<Inputs[K]> };

export interface ProcessOptions extends CommonOptions {
  /** A command line for the shell, or a program and its arguments. */
  readonly run: string | readonly string[];
  readonly shell?: 'sh' | 'bash';
  readonly env?: Readonly<Record<string, string>>;
  /** Its working folder; a fresh empty one unless told. */
  readonly cwd?: string;
  /** What its exit codes mean, by number or range: `{ 3: 'permanent', '10-19': 'transient' }`. */
  readonly exitCodes?: Readonly<Record<string | number, ExitClass>>;
  /** Each is the variable INPUT_<name> (lists and objects as JSON text), and all of them are JSON in SIGNALBOX_INPUTS. */
  readonly inputs?: Readonly<Record<string, unknown>>;
  readonly secrets?: readonly string[];
  /** It may add tasks to its run, made of the templates of the dag. */
  readonly adds?: boolean;
}

type HttpCall = NonNullable<TaskDefinition['http']>;

export interface HttpOptions extends CommonOptions {
  readonly url: string;
  readonly method?: NonNullable<HttpCall['method']>;
  readonly headers?: Readonly<Record<string, string>>;
  /** Left out: the task's inputs are sent, where the method has a body. */
  readonly body?: unknown;
  /** Statuses that mean success; 200 to 299 unless told. */
  readonly expect?: readonly number[];
  /** What other statuses mean, by number or range: `{ 404: 'transient' }`. */
  readonly statuses?: Readonly<Record<string | number, Exclude<ExitClass, 'succeeded'>>>;
  readonly inputs?: Readonly<Record<string, unknown>>;
  /** For the whole call; 30 s unless told. */
  readonly timeout?: Duration;
}

/** What a call has answered. */
export interface HttpOutput<Body = unknown> {
  readonly status: number;
  /** Some of them, such as content-type and etag; names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Parsed when it is JSON, text otherwise. */
  readonly body: Body;
}

export type DagOptions = Omit<
  DagDefinition,
  'name' | 'tasks' | 'groups' | 'bundle' | 'files' | 'hooks' | 'templates'
> & {
  /**
   * Files and folders that processes find in their working folder: paths and patterns (`*`, `**`) within the folder of this
   * file. Files that a `run` names need not be listed.
   *
   * @example files: ['etl/', 'sql/*.sql']
   */
  readonly files?: readonly string[];
  /** Tasks of their own around each run. */
  readonly hooks?: Hooks;
};

type Run<Inputs, Params, Item, Output> = (context: HandlerContext<Inputs, Params, Item>) => Output;
type NoInputs = object;
/** Inputs may be left out where the function wants none. */
export type WithInputs<Inputs> = NoInputs extends Inputs
  ? { readonly inputs?: Wires<Inputs> }
  : { readonly inputs: Wires<Inputs> };

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

export interface MakeTask<Params, Item = unknown> {
  <Output>(name: string, run: Run<NoInputs, Params, Item, Output>): Task<Jsonified<Awaited<Output>>>;
  <
    Output,
    Inputs = NoInputs,
    const Over extends MapOver = never,
    Rule extends TriggerRule = 'all_success',
    Wired = unknown,
  >(
    name: string,
    options: FunctionOptions & WithInputs<Inputs> & WithMap<Over> & { readonly rule?: Rule; readonly inputs?: Wired },
    run: Run<SeenInputs<Inputs, Wired, Rule>, Params, ItemFor<Over, Item>, Output>,
  ): TaskOf<Output, Over>;
}

interface WithMap<Over> {
  /**
   * Once for each item of a list, which the function gets as `item`. The output is then a list of what they return.
   *
   * @example task('load', { map: list.output.files }, ({ item }) => item.path.length);
   */
  readonly map?: Over;
}

/** Of the run, as `${{ run.id }}` in YAML. Instants are text, such as 2026-01-31T07:00:00.000Z. */
export interface RunFields {
  readonly id: string;
  readonly dag: string;
  readonly createdAt: string;
  readonly priority: Priority;
}

export interface WindowFields {
  readonly at: string | null;
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
  /** What made the run. `window.at` is the instant that its schedule made it for, and null for other runs. */
  readonly window: Ref<WindowFields>;
  /** What tasks with `adds` may add to a run, with `addTasks`. */
  readonly template: MakeTemplate<Params>;
}
