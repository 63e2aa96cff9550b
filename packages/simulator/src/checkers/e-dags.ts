/** E. DAGs: nothing runs before its turn, runs go through their phases, versions and outputs are the right ones. */
import type { Change } from '@signalbox/engine';
import type { Assignment } from '@signalbox/host';
import { name } from '../world/happening.ts';
import type { Checker, Scene } from './checker.ts';

const ENDED: readonly string[] = ['succeeded', 'failed', 'upstream_failed', 'skipped'];

export function dags(scene: Scene): Checker {
  const { ledger } = scene;

  function checkChange(change: Change): void {
    if (change.kind === 'AttemptClaimed') {
      const run = ledger.run(change.runId);
      const what = `task ${change.runId}/${change.taskNo}`;
      if (run.phase !== 'open') scene.fail('I42', `${what} was claimed though its run is ${run.phase}`);
      if (!run.isAdmitted) scene.fail('I7', `${what} was claimed though its run waits`);
      const state = ledger.stateOf(run, change.taskNo);
      if (state === 'ready' || state === 'retrying') return;
      const isOver = state !== 'blocked' && state !== 'running';
      scene.fail(isOver ? 'I32' : 'I30', `${what} was claimed though it is ${state}`);
    }
    if (change.kind === 'RunClosing') {
      const run = ledger.run(change.runId);
      if (run.phase !== 'open') scene.fail('I33', `run ${change.runId} was closed though it is ${run.phase}`);
      if (change.outcome === 'cancelled') return;
      const states = run.spec.tasks.map((_, no) => ledger.stateOf(run, no));
      const { onFailure = 'continue', tasks } = run.spec;
      const isLeaf = (no: number) => tasks.every(({ needs }) => !needs.includes(no));
      const hasFailed = states.some(
        (state, no) => (state === 'failed' || state === 'upstream_failed') && (onFailure !== 'continue' || isLeaf(no)),
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
      for (const task of run.tasks.values()) {
        if (task.state === 'running' || task.state === 'waiting')
          scene.fail('I33', `run ${change.runId} was ended with task ${task.taskNo} running`);
      }
    }
    if (change.kind === 'AttemptEnded' && change.taskState === 'succeeded') {
      const run = ledger.run(change.runId);
      if (run.phase !== 'open')
        scene.fail('I42', `task ${change.runId}/${change.taskNo} succeeded after its run was ${run.outcome}`);
    }
  }

  /** What a worker is given: of the run's own version, and the outputs of the attempts that succeeded. */
  function checkAssignment(assignment: Assignment): void {
    const { claim, version, taskName, handler, upstream, params } = assignment;
    const run = ledger.runs.get(claim.runId);
    if (run === undefined) return;
    const spec = run.spec.tasks[claim.taskNo];
    if (version !== run.created.versionNo || spec?.name !== taskName || spec.handler !== handler) {
      scene.fail('I35', `${name(claim)} was sent as version ${version}, its run has ${run.created.versionNo}`);
    }
    if (params !== run.created.params) scene.fail('I36', `${name(claim)} was sent with other params: ${params}`);
    const wanted = (spec?.needs ?? []).flatMap((no) => {
      const task = run.tasks.get(no as typeof claim.taskNo);
      return task?.output == null ? [] : [{ taskName: run.spec.tasks[no]!.name, output: task.output }];
    });
    // What may run before all upstream has ended may have been claimed before the last of it did.
    const isEarly = spec?.rule !== undefined || run.spec.onFailure === 'skip_failed';
    const found = isEarly ? wanted.filter(({ taskName: up }) => upstream.some((one) => one.taskName === up)) : wanted;
    if (JSON.stringify(found) !== JSON.stringify(upstream)) {
      scene.fail('I36', `${name(claim)} sees ${JSON.stringify(upstream)}, upstream has ${JSON.stringify(wanted)}`);
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
