/** Tasks that run another dag, in a test: that dag runs separately, on the same production engine. */
import type { DagSpecShape } from '@signalbox/protocol';
import { toDagSpec } from '@signalbox/protocol';
import { isDag } from '../dag/dag-value.ts';
import { PermanentError } from '../handler.ts';
import { definitionOf, type Testable } from './definition.ts';
import { type Stub, takes } from './stubs.ts';
import type { TestRun } from './test-result.ts';
import type { TestRunOptions } from './test-run-options.ts';

type Run = (dag: Testable, options: TestRunOptions) => Promise<TestRun>;
type ChildTask = DagSpecShape['tasks'][number] & {
  readonly child: NonNullable<DagSpecShape['tasks'][number]['child']>;
};

/** Runs the tasks that run other dags, by name. Tasks with a stub use the stub. */
export function childStubs(
  dag: Testable,
  spec: DagSpecShape,
  options: TestRunOptions,
  run: Run,
): Readonly<Record<string, Stub>> {
  const found: Record<string, Stub> = {};
  for (const task of spec.tasks) {
    const called = task.child === undefined ? undefined : findDag(dag, task.child.dag, options);
    if (called === undefined || options.stubs?.[task.name] !== undefined) continue;
    found[task.name] = runsDag(task as ChildTask, called, options, run);
  }
  return found;
}

function findDag(dag: Testable, name: string, { dags = [] }: TestRunOptions): Testable | undefined {
  return dags.find((one) => one.name === name) ?? (isDag(dag) ? dag.calls[name] : undefined);
}

/** Stubs named `<task>/<task of the other dag>` are for the other one. */
const stubsWithin = (task: string, stubs: TestRunOptions['stubs'] = {}): Record<string, Stub> =>
  Object.fromEntries(
    Object.entries(stubs).flatMap(([name, stub]) =>
      name.startsWith(`${task}/`) ? [[name.slice(task.length + 1), stub]] : [],
    ),
  );

/** It takes as long as the other run does by its clock, and fails as that does. */
function runsDag({ name, child, work }: ChildTask, called: Testable, options: TestRunOptions, run: Run): Stub {
  return async (context) => {
    const { params: _, stubs, ...same } = options;
    const params = work?.inputs === undefined ? {} : { params: context.inputs };
    const made = await run(called, { ...same, ...params, stubs: stubsWithin(name, stubs) });
    if (!child.wait) return { run: `run-of-${child.dag}` };
    return takes(`${made.elapsedMs}ms`, () => outputOf(child.dag, called, made))(context);
  };
}

function outputOf(dag: string, called: Testable, run: TestRun): Readonly<Record<string, unknown>> {
  if (run.outcome === 'cancelled') throw new PermanentError(`The run of dag ${dag} was cancelled.`);
  if (run.outcome === 'failed') {
    const failed = run.tasks.filter(({ state }) => state === 'failed').map((task) => task.name);
    throw new Error(`The run of dag ${dag} failed: ${failed.join(', ')}.`);
  }
  const { spec } = toDagSpec(definitionOf(called));
  const needed = new Set(spec.tasks.flatMap(({ needs }) => needs));
  const leaves = spec.tasks.filter((task, no) => !needed.has(no) && run.task(task.name).state === 'succeeded');
  return Object.fromEntries(leaves.map(({ name }) => [name, run.task(name).output]));
}
