/**
 * G. Halted dags: from the commit that halts a dag to the one that resumes it, nothing of it starts, its maps make no instances, and no
 * backfill makes runs of it.
 */
import type { DagId, RunId } from '@signalbox/engine';
import type { Checker, Scene } from './checker.ts';

/** As the database has it. */
export function isHalted({ database }: Scene['world'], dagId: DagId): boolean {
  return database.tables.described.all('haltedDags').some((one) => one.dagId === dagId);
}

export function halts(scene: Scene): Checker {
  const { ledger } = scene;
  const halted = new Set<DagId>();

  function check(runId: RunId, what: string, dagId: DagId = ledger.run(runId).created.dagId): void {
    if (halted.has(dagId)) scene.fail('I46', `${runId} ${what}, and its dag ${dagId} is halted`);
  }

  return {
    invariants: ['I46'],
    onChange(change) {
      if (change.kind === 'DagHalted') halted.add(change.dagId);
      if (change.kind === 'DagResumed') halted.delete(change.dagId);
      if (change.kind === 'AttemptClaimed' || change.kind === 'SpeculativeClaimed')
        check(change.runId, `has a claim of task ${change.taskNo}`);
      if (change.kind === 'MapUnfolded') check(change.runId, 'has more instances of a map');
      if (change.kind === 'RunCreated' && change.cause === 'backfill')
        check(change.runId, 'was created by a backfill', change.dagId);
    },
  };
}
