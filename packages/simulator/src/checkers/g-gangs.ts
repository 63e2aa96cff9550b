/**
 * G. Gangs: all members are claimed in one commit, each on a worker of its own unless they share, and none runs after another has ended
 * the try.
 */
import type { AttemptClaimed, RunId, TaskNo } from '@signalbox/engine';
import type { JournaledCommit } from '../fake-store/index.ts';
import type { RunBook } from './books.ts';
import type { Checker, Scene } from './checker.ts';
import { type GangBook, gangOf } from './gang-book.ts';
import { pathOf } from './map-book.ts';

export function gangs(scene: Scene): Checker {
  const { ledger } = scene;
  /** Runs of which this commit changes tasks. */
  const touched = new Set<RunId>();

  function checkClaimed(run: RunBook, gang: GangBook, claims: readonly AttemptClaimed[]): void {
    const what = `the gang of ${run.created.runId}/${gang.members[0]}`;
    const own = claims.filter(({ runId, taskNo }) => runId === run.created.runId && gang.members.includes(taskNo));
    if (own.length !== gang.size || gang.members.length !== gang.size)
      scene.fail('I24', `${own.length} of ${gang.size} members of ${what} were claimed`);
    const workers = new Set(own.map(({ workerId }) => workerId));
    if (gang.share !== true && workers.size < own.length)
      scene.fail('I24', `${own.length} members of ${what} were claimed on ${workers.size} workers`);
  }

  function checkCommit({ changes }: JournaledCommit): void {
    const claims = changes.filter((change): change is AttemptClaimed => change.kind === 'AttemptClaimed');
    for (const claim of claims) {
      const run = ledger.run(claim.runId);
      const gang = gangOf(run, claim.taskNo);
      if (gang !== null) checkClaimed(run, gang, claims);
    }
    for (const runId of touched) checkTries(ledger.run(runId));
    touched.clear();
  }

  function checkTries(run: RunBook): void {
    if (run.phase !== 'open' || run.isSetAside) return;
    for (const { taskNo, state } of run.tasks.values()) {
      if (state !== 'running') continue;
      const gang = gangOf(run, taskNo);
      if (gang === null || pathOf(run, taskNo) === null) continue;
      const left = gang.members.find((no) => !['running', 'succeeded'].includes(stateOf(run, no)));
      if (left !== undefined)
        scene.fail('I24', `${run.created.runId}/${taskNo} runs, and ${left} of its gang is ${stateOf(run, left)}`);
    }
  }

  const stateOf = (run: RunBook, no: number): string => run.tasks.get(no as TaskNo)?.state ?? 'not claimed';

  return {
    invariants: ['I24'],
    onChange(change) {
      if ('taskNo' in change && 'runId' in change && change.runId !== null && ledger.run(change.runId).maps.length > 0)
        touched.add(change.runId);
    },
    onCommit: checkCommit,
  };
}
