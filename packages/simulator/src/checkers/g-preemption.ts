/** G. Preemption: who may be stopped to make room, and for whom. */
import { PRIORITIES } from '@signalbox/engine';
import { name } from '../world/happening.ts';
import type { Checker, Scene } from './checker.ts';
import { taskSpecOf } from './map-book.ts';

const NORMAL = PRIORITIES.indexOf('normal');

export function preemption(scene: Scene): Checker {
  const { ledger } = scene;
  /** Attempts that a server has told to stop, for a critical task. */
  const told = new Set<string>();

  return {
    invariants: ['I39', 'I49'],
    onHappening(happening) {
      if (happening.kind !== 'killed' || happening.kill.reason !== 'preempted') return;
      const { claim } = happening.kill;
      // Said again, its run may have another priority.
      if (told.has(name(claim))) return;
      told.add(name(claim));
      const run = ledger.runs.get(claim.runId);
      if (run === undefined) return;
      if (PRIORITIES.indexOf(run.priority) < NORMAL)
        scene.fail('I49', `${name(claim)} of priority ${run.priority} is stopped for a critical task`);
      if (taskSpecOf(run, claim.taskNo).preemptible === false)
        scene.fail('I49', `${name(claim)} is stopped for a critical task, and its task opted out`);
      if (![...ledger.runs.values()].some(({ priority }) => priority === 'critical'))
        scene.fail('I49', `${name(claim)} is stopped for a critical task, and there is none`);
    },
    onChange(change) {
      if (change.kind !== 'AttemptEnded' || change.code !== 'preempted') return;
      if (!told.has(name(change))) scene.fail('I39', `${name(change)} was preempted, and nobody told it to stop`);
      if (change.taskState === 'failed')
        scene.fail('I39', `${name(change)} was preempted, and its task has failed for it`);
    },
  };
}
