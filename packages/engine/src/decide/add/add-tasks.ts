/**
 * A running attempt adds tasks to its run. They wait for the task that adds them. So none of them begins before an attempt
 * that named it has succeeded, and the next attempt can still change what a failed attempt has added.
 */

import type { Answer } from '../../model/answer.ts';
import { RECORDED, refuse } from '../../model/answer.ts';
import type { AddTasks, NewTask } from '../../model/command.ts';
import { type AddedTask, growSpec } from '../../model/dag/added.ts';
import { circleIn } from '../../model/dag/circle.ts';
import { newGates } from '../../model/dag/gates.ts';
import type { RunRow, TaskNo } from '../../model/ids.ts';
import { BLOCKED, EXPANDED } from '../../model/task/task-states.ts';
import { viewOf } from '../../propagate/move.ts';
import { visitNear } from '../../propagate/run-tasks-view.ts';
import type { Version } from '../../tables/dag/dag.ts';
import type { State } from '../../tables/state.ts';
import { mayRun } from '../../tables/task/may-run.ts';
import { slotOf, taskSpecOf } from '../../tables/task/task-slots.ts';
import { countTasks } from '../halt/halt.ts';
import type { Recorder } from '../recorder.ts';
import { heldAttempt, notHeld } from '../task/checkpoint.ts';

/** Of all that was added to one run. */
export const MAX_ADDED_EDGES = 100_000;

/** Resent, or said again by a later attempt, it changes nothing; what can't be added changes nothing either. */
export function addTasks(recorder: Recorder, { claim, tasks }: AddTasks): Answer {
  const { state } = recorder;
  const attempt = heldAttempt(state, claim);
  if (attempt === null) return notHeld(state, claim);
  const slot = state.attempts.task[attempt]!;
  if (!mayRun(state, slot)) return refuse('STALE_TOKEN', 'cancelled');
  const { name, adds } = taskSpecOf(state, slot);
  if (adds !== true) return no(`The task ${name} may not add tasks: deploy it with "adds: true".`);
  const plan = new Plan(state, state.tasks.run[slot]!, claim.taskNo, claim.fence);
  const fault = plan.take(tasks);
  if (fault !== null) return no(fault);
  if (plan.changed.length === 0) return RECORDED;
  const { runId, taskNo, fence } = claim;
  recorder.record({ kind: 'TasksAdded', runId, taskNo, fence, tasks: plan.changed, at: state.now });
  countTasks(recorder, state.runs.versionOf(state.tasks.run[slot]!).dag, plan.changed.length);
  return RECORDED;
}

function no(detail: string): Answer {
  return refuse('ADD_REFUSED', detail);
}

class Plan {
  changed: AddedTask[] = [];
  private readonly version: Version;
  private readonly known: ReadonlyMap<number, AddedTask>;
  private readonly numbers: Map<string, number>;
  private readonly state: State;
  private readonly run: RunRow;
  private readonly by: TaskNo;
  private readonly fence: AddedTask['fence'];

  constructor(state: State, run: RunRow, by: TaskNo, fence: AddedTask['fence']) {
    this.state = state;
    this.run = run;
    this.by = by;
    this.fence = fence;
    this.version = state.runs.versionOf(run);
    this.known = new Map((state.runs.added.get(run) ?? []).map((one) => [one.no as number, one]));
    this.numbers = new Map(this.version.spec.tasks.map(({ name }, taskNo) => [name, taskNo]));
  }

  /** What is wrong, as a sentence that says what to do; null when `changed` can be recorded. */
  take(tasks: readonly NewTask[]): string | null {
    const fault = this.number(tasks);
    if (fault !== null) return fault;
    for (const task of tasks) {
      const found = this.read(task);
      if (typeof found === 'string') return `The task ${task.name} can't be added: ${found}`;
      if (found !== null) this.changed.push(found);
    }
    this.changed.sort((a, b) => a.no - b.no);
    return this.changed.length === 0 ? null : this.checkGraph();
  }

  private number(tasks: readonly NewTask[]): string | null {
    const { taskCount, room } = this.version;
    const named = new Set<string>();
    let next = taskCount;
    for (const { name } of tasks) {
      if (named.has(name)) return `Two tasks to be added have the name ${name}: give each a name of its own.`;
      named.add(name);
      const known = this.numbers.get(name);
      if (known === undefined) this.numbers.set(name, next++);
      else if (this.known.get(known)?.by !== this.by) {
        return `The run has a task ${name} already, which this one has not added: give the new one another name.`;
      }
    }
    if (next <= room) return null;
    const seats = room - this.version.origin.taskCount;
    return `A run of this dag may have ${seats} added tasks and would have ${next - this.version.origin.taskCount}: raise maxAddedTasks of the dag.`;
  }

  /** Null for one that is there already, as it is. */
  private read(task: NewTask): AddedTask | string | null {
    const { templates = [] } = this.version.spec;
    const template = templates.findIndex(({ name }) => name === task.template);
    if (template < 0)
      return `the dag has no template ${task.template}; it has ${listed(templates.map(({ name }) => name))}.`;
    const taskNo = this.numbers.get(task.name) as TaskNo;
    const needs = this.resolve(task.needs, taskNo, (other) => this.faultOfNeed(other));
    if (typeof needs === 'string') return needs;
    const known = this.known.get(taskNo);
    const had = new Set(known === undefined || known.isDropped ? [] : known.before);
    const before = this.resolve(task.before, taskNo, (other) => this.faultOfTarget(other, had));
    if (typeof before === 'string') return before;
    const all = ascending([this.by, ...templates[template]!.needs, ...needs]);
    const { by, fence } = this;
    const one = {
      no: taskNo,
      by,
      fence,
      name: task.name,
      template,
      needs: all,
      before,
      inputs: task.inputs,
      isDropped: false,
    };
    return known === undefined ? one : this.compare(known, one);
  }

  private compare(known: AddedTask, one: AddedTask): AddedTask | string | null {
    const isSame = contentOf(known) === contentOf(one);
    const hasBegun = this.state.tasks.state[slotOf(this.state, this.run, known.no)] !== BLOCKED;
    if (isSame && (hasBegun || (known.fence === one.fence && !known.isDropped))) return null;
    if (isSame) return one;
    if (known.fence === one.fence)
      return 'this attempt has added it already, with another template, needs or inputs. Give the new one another name.';
    return hasBegun
      ? 'it was added by an earlier attempt, with another template, needs or inputs, and has begun. Give the new one another name.'
      : one;
  }

  private resolve(names: readonly string[], own: number, faultOf: (no: number) => string | null): number[] | string {
    const found: number[] = [];
    for (const name of names) {
      const other = this.numbers.get(name);
      if (other === undefined)
        return `there is no task ${name} in the run. Add it in the same call, or name one that is there.`;
      if (other === own) return 'it names itself.';
      const fault = faultOf(other);
      if (fault !== null) return `${name} ${fault}`;
      found.push(other);
    }
    return ascending(found);
  }

  private faultOfNeed(other: number): string | null {
    const { graph } = this.version;
    const isAside = graph.closing?.has(other) === true || graph.isBefore(other);
    return isAside ? 'only closes the run, or stands before a task: nothing can need it.' : null;
  }

  private faultOfTarget(other: number, had: ReadonlySet<number>): string | null {
    const { graph, taskCount } = this.version;
    if (other >= taskCount || had.has(other)) return null;
    const closes = graph.closing?.has(other) === true && graph.closing.get(other).kind !== 'teardown';
    if (closes || graph.isBefore(other)) return 'is a hook or an undo, which waits for no added task.';
    if (this.isMapped(other)) return 'is in a map: name a task that is in none.';
    // Where its hook before it may run, all else that it needs has ended.
    const befores = (graph.befores.get(other) ?? []).filter((before) => before !== graph.runBefore);
    const isToCome = (no: number) => this.state.tasks.state[slotOf(this.state, this.run, no)] === BLOCKED;
    if ([other, ...befores].every(isToCome)) return null;
    return "has begun or ended, and can't wait for it any more. Let it need the task that adds, so that it is still to come.";
  }

  private isMapped(other: number): boolean {
    return (this.version.graph.maps?.chains[other]?.length ?? 0) > 0;
  }

  private checkGraph(): string | null {
    const all = new Map([...this.known, ...this.changed.map((one) => [one.no as number, one] as const)]);
    const added = [...all.values()];
    const edges = added.reduce((sum, { needs, before }) => sum + needs.length + before.length, 0);
    if (edges > MAX_ADDED_EDGES)
      return `The added tasks of a run may have ${MAX_ADDED_EDGES} needs and befores, and would have ${edges}.`;
    const spec = growSpec(this.version.ungrown, added);
    // A circle would go through an edge that is new, and each of those begins or ends at one of these.
    const circle = circleIn(
      spec,
      this.changed.map((one) => one.no),
    );
    if (circle === null) return this.checkGates(this.version.grown(added));
    return `The tasks would form a cycle: ${[...circle, circle[0]!].map((each) => spec.tasks[each]!.name).join(' needs ')}.`;
  }

  /** Nothing gets a short circuit above it, which would have to end first, that is decided already by its own rule. */
  private checkGates({ graph, spec }: Version): string | null {
    const { state, run } = this;
    const isDecided = (task: number) => {
      const code = state.tasks.state[slotOf(state, run, task)];
      return code !== BLOCKED && code !== EXPANDED;
    };
    for (const { no: task, gates } of newGates(this.version.graph, graph)) {
      let isLate = false;
      visitNear(viewOf(state, run), task, task, (each) => {
        isLate ||= isDecided(each);
      });
      if (!isLate) continue;
      const [late, gate] = [spec.tasks[task]!.name, spec.tasks[gates[0]!]!.name];
      return `The task ${late} would come behind the short circuit ${gate}, and has begun or ended. Let it need the task that adds, so that it is still to come.`;
    }
    return null;
  }
}

const ascending = (numbers: readonly number[]) => [...new Set(numbers)].sort((a, b) => a - b);
const listed = (names: readonly string[]) => (names.length === 0 ? 'none' : names.join(', '));

function contentOf({ template, needs, before, inputs }: AddedTask): string {
  return JSON.stringify([template, needs, before, inputs]);
}
