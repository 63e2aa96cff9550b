/** The options of a dag and its tasks in TypeScript. They have the names of the YAML definition. */
import type { DagDefinition, TriggerRule } from '@signalbox/protocol';
import type { Duration, Size } from './amounts.ts';
import type { OfTask, Ref, RefOf } from './ref.ts';
import type { Hooks } from './side-options.ts';

/** How an attempt may end, as an exit code or a status says. */
type ExitClass = 'succeeded' | 'transient' | 'permanent' | 'resource';
type TaskDefinition = DagDefinition['tasks'][number];

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
  readonly needs?: readonly Pick<Task, 'name'>[];
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
  /** How many attempts of it may run at a time, over all runs of the dag. */
  readonly maxActive?: number;
  /** How many attempts of it may start in any time of this length, over all runs of the dag: `{ limit: 100, per: '1m' }`. */
  readonly rate?: { readonly limit: number; readonly per: Duration };
  /** Slots of a pool that it takes while it runs, 1 unless told. Pools are set with `signalbox limits set`; tasks of many dags share them. */
  readonly pool?: { readonly name: string; readonly slots?: number };
  /**
   * What it takes of its worker while it runs. `cpu` in processors, `memory` and `disk` as sizes, anything else in pieces. It waits until
   * a worker has as much left.
   *
   * @example resources: { cpu: 2, memory: '4GiB', gpu: 1 }
   */
  readonly resources?: Readonly<Record<string, number | string>>;
  /** Only on workers with these labels: `signalbox worker --labels disk=ssd`. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Only on workers of this zone. */
  readonly zone?: string;
  /** Rather on workers with these labels, or on the worker that ran one of these tasks of the same run. */
  readonly prefer?: { readonly labels?: Readonly<Record<string, string>>; readonly near?: readonly string[] };
  /** Rather where fewer tasks of the same run, or dag, are running: per worker, or per value of the label `over`. */
  readonly spread?: NonNullable<TaskDefinition['spread']>;
  /** A worker of its own: it waits for an idle one, and nothing runs beside it. */
  readonly exclusive?: boolean;
  /**
   * So many attempts that begin together or not at all, each on a worker of its own; with `share` several may run on one. `ctx.gang`
   * tells rank, size and hosts. When one member fails, the others are stopped, and all of them run again.
   *
   * @example gang: 4
   */
  readonly gang?: NonNullable<TaskDefinition['gang']>;
  /** `never`: not on workers that may be taken away at short notice (`signalbox worker --spot`). `allowed` unless told. */
  readonly spot?: 'allowed' | 'never';
  /** False: its attempts are not stopped to make room for critical tasks. */
  readonly preemptible?: boolean;
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
   * In a map only: an item that takes far longer than its siblings gets a speculative attempt beside the first, at another worker. The
   * first of the two to succeed counts, the other is stopped: its signal fires with `superseded`. True: `{ factor: 3, after: '10s' }`.
   */
  readonly speculate?: NonNullable<TaskDefinition['speculate']>;
  /** In a run for a window: waits until the same task of the window before has succeeded or was skipped. The first window does not wait. */
  readonly dependsOnPast?: boolean;
  /** Like `dependsOnPast`, and also waits for the tasks directly downstream of the earlier one. */
  readonly waitForDownstream?: boolean;
  /** Assets that are fresh once the task has succeeded: dags that wait for them run then. */
  readonly produces?: readonly string[];
}

export interface FunctionOptions extends CommonOptions {
  /** In the worker's own process: faster, and a hot loop in it stops the whole worker. */
  readonly inProcess?: boolean;
  /** How many attempts may run at a time in one child process. For functions that mostly wait, such as for a network. Default: 1. */
  readonly concurrency?: number;
  /** `process`: no other attempt runs or waits in its child process meanwhile. */
  readonly isolation?: 'process';
  /** Names of the secrets that it asks for with `secret(name)`. */
  readonly secrets?: readonly string[];
  /** It may add tasks to its run, with `addTasks`, made of the templates of the dag. */
  readonly adds?: boolean;
}

/** The inputs by name, each the value or the place that it comes from. */
type Wires<Inputs> = { readonly [K in keyof Inputs]: Wire<Inputs[K]> };

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

type NoInputs = object;
/** Inputs may be left out where the function wants none. */
export type WithInputs<Inputs> = NoInputs extends Inputs
  ? { readonly inputs?: Wires<Inputs> }
  : { readonly inputs: Wires<Inputs> };
