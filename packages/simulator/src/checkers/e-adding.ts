/** E. Tasks that are added to runs: by the holder of the claim, as it asked, once under each name, and without a circle. */
import type { AddedTask, Change, ClaimRef, NewTask, TasksAdded, TasksDropped } from '@signalbox/engine';
import { name } from '../world/happening.ts';
import { circleIn, definitionWith } from './add-book.ts';
import type { RunBook } from './books.ts';
import type { Checker, Scene } from './checker.ts';
import { stateOf } from './task-states.ts';

export function adding(scene: Scene): Checker {
  const { ledger } = scene;
  /** What each claim has asked for. */
  const asked = new Map<string, NewTask[]>();
  const keyOf = ({ runId, taskNo, fence }: Pick<ClaimRef, 'runId' | 'taskNo' | 'fence'>) =>
    `${runId}/${taskNo}/${fence}`;

  function checkChange(change: TasksAdded | TasksDropped): void {
    const { runId, taskNo, fence } = change;
    const run = ledger.run(runId);
    const what = `${change.kind} of ${runId}/${taskNo} fence ${fence}`;
    const task = run.tasks.get(taskNo);
    if (task?.state !== 'running' || task.fence !== fence)
      return scene.fail('I21', `${what}: the task is ${task?.state} at fence ${task?.fence}`);
    if (run.phase !== 'open') scene.fail('I42', `${what}: the run is ${run.phase}`);
    // One that was added once more, by another template, may add no more; what it had added is dropped all the same.
    const mayAdd = change.kind === 'TasksDropped' || run.spec.tasks[taskNo]?.adds === true;
    if (!mayAdd) scene.fail('I38', `${what}: it may not add tasks`);
    for (const one of change.tasks) {
      const known = run.added.get(one.no);
      const state = known === undefined ? 'blocked' : stateOf(run, one.no);
      const isBelow = change.kind === 'TasksDropped' && change.tasks.some(({ no }) => no === one.by);
      if (one.by !== taskNo && !isBelow) scene.fail('I32', `${what}: ${one.name} was added by ${one.by}`);
      if (state !== 'blocked') scene.fail('I32', `${what} changes ${one.name}, which is ${state}`);
      if (change.kind === 'TasksDropped') checkDropped(what, known, one, change);
      else checkAdded(what, run, one, change);
    }
    const added = new Map([...run.added, ...change.tasks.map((one) => [one.no as number, one] as const)]);
    const most = run.deployed.maxAddedTasks ?? 100;
    if (added.size > most) scene.fail('I38', `${what}: the run has ${added.size} added tasks of ${most}`);
    const circle = circleIn(definitionWith(run.deployed, added));
    if (circle !== null) scene.fail('I38', `${what}: task ${circle} waits for itself`);
  }

  function checkDropped(
    what: string,
    known: AddedTask | undefined,
    one: AddedTask,
    { taskNo, fence }: TasksDropped,
  ): void {
    const isNamed = one.by === taskNo && known !== undefined && known.fence >= fence;
    if (known === undefined || !one.isDropped || known.isDropped || isNamed)
      scene.fail('I32', `${what} drops ${one.name}, which this attempt has named, or nobody`);
  }

  function checkAdded(what: string, run: RunBook, one: AddedTask, { taskNo, fence }: TasksAdded): void {
    const { tasks } = run.spec;
    const known = run.added.get(one.no);
    if (known === undefined && one.no !== tasks.length + count(run, one, what))
      scene.fail('I22', `${what} gives ${one.name} the number ${one.no}`);
    const twin = tasks.findIndex((task, no) => task.name === one.name && no !== one.no);
    if (twin >= 0) scene.fail('I22', `${what} adds ${one.name}, which is there as ${twin}`);
    if (known !== undefined && (known.name !== one.name || known.by !== one.by))
      scene.fail('I32', `${what} makes ${one.name} of ${known.name}`);
    const isAsked = (asked.get(keyOf({ runId: run.created.runId, taskNo, fence })) ?? []).some((request) =>
      isThat(run, one, request),
    );
    if (!isAsked) scene.fail('I21', `${what} adds ${JSON.stringify(one)}, which nobody has asked for`);
    const had = known === undefined || known.isDropped ? [] : known.before;
    for (const below of one.before) {
      if (had.includes(below) || below >= tasks.length) continue;
      const state = stateOf(run, below);
      if (state !== 'blocked') scene.fail('I30', `${what} lets ${below} wait for ${one.name}: it is ${state}`);
    }
  }

  /** How many of the same change come before it, that are new. */
  let batch: { what: string; news: number[] } = { what: '', news: [] };
  function count(run: RunBook, one: AddedTask, what: string): number {
    if (batch.what !== `${what}/${run.added.size}`) batch = { what: `${what}/${run.added.size}`, news: [] };
    batch.news.push(one.no);
    return batch.news.length - 1;
  }

  function isThat({ deployed, spec }: RunBook, one: AddedTask, request: NewTask): boolean {
    if (request.name !== one.name || request.template !== deployed.templates?.[one.template]?.name) return false;
    if (request.inputs !== one.inputs || one.isDropped) return false;
    const nameOf = (no: number) => spec.tasks[no]?.name ?? null;
    // A name that is new has its number from the same change.
    const isNamed = (no: number, names: readonly string[]) => nameOf(no) === null || names.includes(nameOf(no)!);
    const own = new Set([one.by, ...(deployed.templates?.[one.template]?.needs ?? [])] as number[]);
    return (
      one.needs.every((no) => own.has(no) || isNamed(no, request.needs)) &&
      [...own].every((no) => one.needs.includes(no)) &&
      one.before.every((no) => isNamed(no, request.before)) &&
      one.before.length === new Set(request.before).size
    );
  }

  /** An attempt has succeeded: what it did not name, and has not begun, is dropped with it. */
  function checkEnd(change: Change): void {
    if (change.kind !== 'AttemptEnded' || change.taskState !== 'succeeded') return;
    const run = ledger.run(change.runId);
    for (const one of run.added.values()) {
      if (one.by !== change.taskNo || one.isDropped || one.fence === change.fence) continue;
      const state = stateOf(run, one.no);
      if (state === 'blocked')
        scene.fail('I30', `${one.name} of ${change.runId} is left, which the attempt that succeeded did not name`);
    }
  }

  /** Whoever was told that its tasks were added finds them in the run, as it said. */
  function checkTold(claim: ClaimRef, tasks: readonly NewTask[]): void {
    const run = ledger.runs.get(claim.runId);
    for (const request of run === undefined ? [] : tasks) {
      const found = [...run!.added.values()].filter((one) => one.name === request.name && one.by === claim.taskNo);
      if (found.length !== 1)
        scene.fail('I15', `${name(claim)} was told that ${request.name} is added, it is there ${found.length} times`);
    }
  }

  return {
    invariants: ['I15', 'I21', 'I22', 'I30', 'I32', 'I38', 'I42'],
    onChange(change) {
      if (change.kind === 'TasksAdded' || change.kind === 'TasksDropped') checkChange(change);
      checkEnd(change);
    },
    onHappening(happening) {
      if (happening.kind !== 'worker' || happening.claim === null) return;
      if (happening.what === 'asks' && happening.request.kind === 'add') {
        const key = keyOf(happening.claim);
        asked.set(key, [...(asked.get(key) ?? []), ...happening.request.tasks]);
      }
      if (happening.what === 'told' && happening.ok && happening.request.kind === 'add')
        checkTold(happening.claim, happening.request.tasks);
    },
  };
}
