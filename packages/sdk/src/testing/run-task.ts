/** Runs one function alone. */
import { type DagSpecShape, type MapItem, mapsAround, type TaskSpecShape, toDagSpec } from '@signalbox/protocol';
import type { NewTask } from '../attempt-requests.ts';
import type { Dag } from '../dag/dag-value.ts';
import { settle } from './attempt.ts';
import { definitionOf, functionsOf, type Testable } from './definition.ts';
import { type TestWindow, windowOf } from './test-window.ts';

export interface RunTaskOptions<Params = unknown> {
  /** What its function gets; without them they come from `params` and `upstream`, as the definition says. */
  readonly inputs?: Readonly<Record<string, unknown>>;
  readonly params?: Params;
  /** What the tasks that it needs have returned, by their names. */
  readonly upstream?: Readonly<Record<string, unknown>>;
  /** For a task of a map: what it runs for, and its number; of the innermost map, where it is in several. */
  readonly item?: unknown;
  readonly index?: number;
  /** For a task of maps within maps: all of them, outermost first. */
  readonly map?: readonly MapItem[];
  /** Names of tasks that it needs and that failed. */
  readonly failedUpstream?: readonly string[];
  readonly secrets?: Readonly<Record<string, string>>;
  /** The window that the run is for; its data interval begins at `start`, or is empty without one. */
  readonly window?: TestWindow;
  readonly attempt?: number;
  readonly signal?: AbortSignal;
  /** What an earlier attempt has saved. */
  readonly checkpoint?: unknown;
  /** Hears what it saves. */
  readonly onCheckpoint?: (value: unknown) => void;
  /** Hears what it adds to its run, where tasks and templates stand by their names. */
  readonly onAddTasks?: (tasks: readonly NewTask[]) => void;
}

function mapOf(spec: DagSpecShape, task: TaskSpecShape, { item, index = 0 }: RunTaskOptions): readonly MapItem[] {
  if (item === undefined) return [];
  const [inner] = mapsAround(spec, task).slice(-1);
  if (inner === undefined) throw new Error(`Task ${task.name} is in no map: it runs for no item.`);
  return [{ group: inner.name, index, item }];
}

/**
 * Calls the function of a task. Returns what the next task would get; throws what it throws.
 *
 * @example expect(await runTask(coffee, 'brew', { inputs: { grams: 16 } })).toBe('coffee of 16 g');
 */
export async function runTask<Params = unknown>(
  dag: Dag<Params> | Testable,
  name: string,
  options: RunTaskOptions<NoInfer<Params>> = {},
): Promise<unknown> {
  const { name: dagName, spec } = toDagSpec(definitionOf(dag));
  const task = [...spec.tasks, ...(spec.templates ?? [])].find((each) => each.name === name);
  if (task === undefined) {
    throw new Error(`There is no task ${name}; the tasks are ${spec.tasks.map((each) => each.name).join(', ')}.`);
  }
  const run = functionsOf(dag)[task.handler];
  if (run === undefined) throw new Error(`Task ${name} has no function that could be called here.`);
  const { params = null, upstream = {}, failedUpstream = [], secrets = {}, inputs, attempt = 1 } = options;
  const { outcome, output, error } = await settle(run, {
    dag: dagName,
    run: '00000000-0000-7000-8000-000000000000',
    task,
    attempt,
    fence: attempt,
    params,
    upstream,
    failedUpstream,
    missingUpstream: [],
    map: options.map ?? mapOf(spec, task, options),
    secrets,
    window: windowOf(options.window),
    ...(inputs === undefined ? {} : { inputs }),
    signal: options.signal ?? new AbortController().signal,
    log: [],
    checkpoint: options.checkpoint === undefined ? '' : JSON.stringify(options.checkpoint),
    requester: {
      progress: () => undefined,
      extend: async (ms) => ms,
      saveCheckpoint: async (value) => options.onCheckpoint?.(JSON.parse(value)),
      assertOwned: async () => undefined,
      addTasks: async (tasks) => options.onAddTasks?.(JSON.parse(tasks) as NewTask[]),
    },
  });
  if (outcome === 'succeeded') return output;
  throw error;
}
