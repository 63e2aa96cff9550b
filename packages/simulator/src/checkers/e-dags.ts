/** E. DAGs: nothing runs before its turn, runs go through their phases, versions and outputs are the right ones. */
import type { Change, TaskSpec } from '@signalbox/engine';
import { isClosing } from '@signalbox/engine/testing';
import type { Assignment } from '@signalbox/host';
import { name } from '../world/happening.ts';
import type { Checker, Scene } from './checker.ts';
import { numberNear, specNoOf } from './map-book.ts';
import { GONE, mayRun, stateOf, statesOf } from './task-states.ts';
import { isInGroup } from './until-book.ts';

/** Cancelled in an open run is what a person has cancelled by itself: it counts as failed. */
const ENDED: readonly string[] = ['succeeded', 'failed', 'upstream_failed', 'skipped', 'cancelled', GONE];

/** An undo or a hook sees what the task that it belongs to has left, and what that one saw. */
function seenBy(tasks: readonly TaskSpec[], no: number): readonly number[] {
  const { needs = [], undoes, hook } = tasks[no] ?? {};
  const of = undoes ?? hook?.of ?? null;
  return of === null ? needs : [of, ...(tasks[of]?.needs ?? [])];
}

export function dags(scene: Scene): Checker {
  const { ledger } = scene;

  function checkChange(change: Change): void {
    if (change.kind === 'AttemptClaimed') {
      const run = ledger.run(change.runId);
      const what = `task ${change.runId}/${change.taskNo}`;
      if (!mayRun(run, change.taskNo)) scene.fail('I42', `${what} was claimed though its run is ${run.phase}`);
      if (!run.isAdmitted && run.phase === 'open') scene.fail('I7', `${what} was claimed though its run waits`);
      if (run.paused.has(null) || run.paused.has(change.taskNo))
        scene.fail('I32', `${what} was claimed though it is paused`);
      const state = stateOf(run, change.taskNo);
      if (state === 'ready' || state === 'retrying') return;
      const isOver = state !== 'blocked' && state !== 'running';
      scene.fail(isOver ? 'I32' : 'I30', `${what} was claimed though it is ${state}`);
    }
    if (change.kind === 'RunClosing') {
      const run = ledger.run(change.runId);
      if (run.phase !== 'open') scene.fail('I33', `run ${change.runId} was closed though it is ${run.phase}`);
      if (change.outcome === 'cancelled') return;
      if (run.timedOutAt === ledger.at && change.outcome === 'failed') return; // its time is over: `f-limits.ts`
      // What closes it decides nothing.
      const all = [...statesOf(run)].filter(([no]) => !isClosing(run.spec.tasks[specNoOf(run, no)]!));
      const states = all.map(([, state]) => state);
      const { onFailure = 'continue' } = run.spec;
      // A hook before a task fails that, and nothing else.
      const isOrdinary = (task: TaskSpec) => !isClosing(task) && task.hook === undefined && task.outside !== true;
      const tasks = run.spec.tasks.filter(isOrdinary);
      const isFed = (no: number) =>
        run.spec.groups?.some(
          ({ map }, group) =>
            map?.over.some((from) => from.from === 'task' && from.task === no) &&
            tasks.some((task) => isInGroup(run.spec, task, group)),
        ) === true;
      const isLeaf = (no: number) => !isFed(no) && tasks.every(({ needs }) => !needs.includes(no));
      const hasFailed = all.some(
        ([no, state]) =>
          (state === 'failed' || state === 'upstream_failed' || state === 'cancelled') &&
          run.spec.tasks[specNoOf(run, no)]!.hook === undefined &&
          (onFailure !== 'continue' || isLeaf(specNoOf(run, no))),
      );
      const isOver = states.every((state) => ENDED.includes(state)) || (onFailure === 'fail_fast' && hasFailed);
      const outcome = hasFailed ? 'failed' : 'succeeded';
      if (!isOver || outcome !== change.outcome) {
        scene.fail('I33', `run ${change.runId} was closed as ${change.outcome}, its tasks are ${states.join(', ')}`);
      }
    }
    if (change.kind === 'RunEnded') {
      const run = ledger.run(change.runId);
      if (run.phase !== 'closing') scene.fail('I33', `run ${change.runId} was ended though it is ${run.phase}`);
      if (run.outcome !== change.outcome) scene.fail('I33', `run ${change.runId} changed its outcome`);
      run.spec.tasks.forEach((task, no) => {
        const state = stateOf(run, no);
        if (!isClosing(task) || ENDED.includes(state) || state === 'cancelled') return;
        scene.fail('I33', `run ${change.runId} was ended with ${task.name} left, which is ${state}`);
      });
      for (const task of run.tasks.values()) {
        if (task.state === 'running' || task.state === 'waiting' || task.speculative !== null)
          scene.fail('I33', `run ${change.runId} was ended with task ${task.taskNo} running`);
      }
    }
    if (change.kind === 'AttemptEnded' && change.taskState === 'succeeded') {
      const run = ledger.run(change.runId);
      if (!mayRun(run, change.taskNo))
        scene.fail('I42', `task ${change.runId}/${change.taskNo} succeeded after its run was ${run.outcome}`);
    }
  }

  /** What a worker is given: of the run's own version, and the outputs of the attempts that succeeded. */
  function checkAssignment(assignment: Assignment): void {
    const { claim, version, taskName, handler, upstream, params } = assignment;
    const run = ledger.runs.get(claim.runId);
    if (run === undefined) return;
    const spec: TaskSpec | undefined = run.spec.tasks[specNoOf(run, claim.taskNo)];
    if (version !== run.created.versionNo || spec?.name !== taskName || spec.handler !== handler) {
      scene.fail('I35', `${name(claim)} was sent as version ${version}, its run has ${run.created.versionNo}`);
    }
    if (params !== run.created.params) scene.fail('I36', `${name(claim)} was sent with other params: ${params}`);
    const needs = seenBy(run.spec.tasks, specNoOf(run, claim.taskNo));
    const near = new Map(needs.map((no) => [no, numberNear(run, claim.taskNo, no)]));
    const wanted = needs.flatMap((no) => {
      const up = near.get(no) ?? null;
      const task = up === null ? undefined : run.tasks.get(up as typeof claim.taskNo);
      return task?.output == null ? [] : [{ taskName: run.spec.tasks[no]!.name, output: task.output }];
    });
    // What may run before all upstream has ended may have been claimed before the last of it did.
    const isEarly = spec?.rule !== undefined || spec?.hook !== undefined || run.spec.onFailure === 'skip_failed';
    const found = isEarly ? wanted.filter(({ taskName: up }) => upstream.some((one) => one.taskName === up)) : wanted;
    // Of a mapped task it sees one list, of all instances.
    const single = new Set(needs.filter((no) => near.get(no) !== null).map((no) => run.spec.tasks[no]!.name));
    const given = upstream.filter(({ taskName: up }) => single.has(up));
    // Somebody may have cleared what it needs since it was claimed: then it sees what that had returned, whole.
    const isKnown = ({ taskName: up, output }: (typeof given)[number]) =>
      needs.some(
        (no) =>
          run.spec.tasks[no]!.name === up &&
          run.tasks.get((near.get(no) ?? -1) as typeof claim.taskNo)?.outputs.has(output),
      );
    if (run.byHand && given.every(isKnown)) return;
    if (JSON.stringify(found) !== JSON.stringify(given)) {
      scene.fail('I36', `${name(claim)} sees ${JSON.stringify(given)}, upstream has ${JSON.stringify(wanted)}`);
    }
  }

  return {
    invariants: ['I30', 'I31', 'I33', 'I35', 'I36', 'I42'],
    onChange: checkChange,
    onHappening(happening) {
      if (happening.kind === 'assigned') checkAssignment(happening.assignment);
    },
  };
}
