/** C. Shard ownership: order of commits, nothing leaves too early, nothing starts twice over a handover. */
import type { Answer, Change, ClaimRef, Command, RetryTask, ScheduleSet, SetSchedulePaused } from '@signalbox/engine';
import { shardOfRun } from '@signalbox/engine';
import type { Kill, Routed } from '@signalbox/host';
import type { JournaledCommit, JournaledTake } from '../fake-store/index.ts';
import { type Ask, type Happening, name } from '../world/happening.ts';
import type { RunBook } from './books.ts';
import type { Checker, Scene } from './checker.ts';
import { isUnfolding, mayRun, stateOf, statesOf } from './task-states.ts';

export function ownership(scene: Scene): Checker {
  const { ledger } = scene;

  function checkCommit({ shards, nodeId }: JournaledCommit): void {
    for (const { shard, epoch, commitNo } of shards) {
      const book = ledger.shard(shard);
      if (epoch < book.epoch)
        scene.fail('I14', `${nodeId} committed to shard ${shard} at epoch ${epoch} after ${book.epoch}`);
      if (book.owner !== nodeId) scene.fail('I14', `${nodeId} committed to shard ${shard}, which ${book.owner} owns`);
      if (commitNo !== book.commitNo + 1) {
        scene.fail('I58', `shard ${shard} went from commit ${book.commitNo} to ${commitNo}`);
      }
      book.commitNo = commitNo;
    }
  }

  function checkTake({ kind, taken, nodeId }: JournaledTake): void {
    if (kind !== 'take') return;
    for (const { shard, epoch } of taken) {
      const before = ledger.shard(shard).epoch;
      if (epoch <= before) scene.fail('I14', `${nodeId} took shard ${shard} at epoch ${epoch} after ${before}`);
    }
  }

  /** By request that waits: what was true of its subject at any time since it was asked. */
  const truths = new Map<number, Set<string>>();
  const subjects = new Map<number, Command>();

  function begin({ no, command }: Ask): void {
    if (!isTold(command)) return;
    truths.set(no, new Set(truthsOf(command)));
    subjects.set(no, command);
  }

  function isTold({ kind }: Command): boolean {
    return kind === 'SetSchedulePaused' || kind === 'DeployDag' || kind === 'RetireDag' || kind === 'RetryTask';
  }

  function isAbout({ dagId, name }: SetSchedulePaused, schedule: ScheduleSet): boolean {
    // A pause of all does not mean delayed runs.
    const isMeant = name === undefined ? schedule.spec.run === undefined : schedule.name === name;
    return schedule.dagId === dagId && isMeant;
  }

  /** What is so right now. */
  function truthsOf(command: Command): readonly string[] {
    if (command.kind === 'SetSchedulePaused') {
      return [...ledger.schedules.values()]
        .filter((one) => isAbout(command, one))
        .map(({ paused }) => `paused ${paused}`);
    }
    if (command.kind === 'RetryTask') return retryTruths(command);
    if (command.kind === 'RetireDag') return [`retired ${ledger.dags.get(command.dagId)?.isRetired}`];
    if (command.kind !== 'DeployDag') return [];
    const dag = [...ledger.dags.values()].find(({ name }) => name === command.name);
    return [`version ${dag?.versionNo}`];
  }

  function retryTruths(command: RetryTask): readonly string[] {
    const run = ledger.runs.get(command.runId);
    // By the books a map has all its instances at once; what comes after them waits until they are there.
    const isToCome = run !== undefined && !run.tasks.has(command.taskNo) && isUnfolding(run);
    return isToCome ? [...truthsByState(command, run), 'it is blocked'] : truthsByState(command, run);
  }

  function truthsByState(command: RetryTask, run: RunBook | undefined): readonly string[] {
    const row = run?.tasks.get(command.taskNo);
    const state = stateNow(command);
    const isClosing = run?.phase === 'closing';
    // One that was stopped because its run's time was over may be retried, unless a failure has closed the run: once it has ended.
    if (state === 'cancelled' && isClosing && run.timedOutAt !== null) return [`it is ${state}`, 'its run is closing'];
    if (state !== 'failed') return [`it is ${state}`];
    if (row === undefined || row.state === 'cleared') return ['its condition cannot be evaluated'];
    return [isClosing ? 'its run is closing' : `it is ${state}`];
  }

  /** Whether a backoff is over is known to its owner alone: both read as ready. */
  function stateNow({ runId, taskNo }: RetryTask): string {
    const run = ledger.runs.get(runId);
    const state = run === undefined || !statesOf(run).has(taskNo) ? 'nowhere' : stateOf(run, taskNo);
    return state === 'retrying' ? 'ready' : state;
  }

  /** A refusal that names the state of a task rests on memory, as does an answer. */
  function checkRefused(no: number, command: RetryTask, answer: Answer): void {
    const isTrue = truths.get(no);
    truths.delete(no);
    if (isTrue === undefined || answer.ok || answer.code !== 'TASK_NOT_RETRYABLE') return;
    for (const truth of truthsOf(command)) isTrue.add(truth);
    if (!isTrue.has(answer.detail)) {
      scene.fail('I16', `#${no} was told ${answer.detail}, which was not so at any time since it was asked`);
    }
  }

  /** Several may become true in one commit, one after the other. */
  function noteTruth(change: Change): void {
    for (const [no, truth] of truths) {
      const command = subjects.get(no)!;
      if (command.kind === 'RetryTask' && 'runId' in change && change.runId === command.runId) {
        for (const one of truthsOf(command)) truth.add(one);
      }
      if (change.kind === 'ScheduleSet' && command.kind === 'SetSchedulePaused' && isAbout(command, change)) {
        truth.add(`paused ${change.paused}`);
      }
      if (change.kind === 'DagRetired' && command.kind === 'RetireDag' && command.dagId === change.dagId) {
        truth.add('retired true');
      }
      if (change.kind === 'DagDeployed' && command.kind === 'DeployDag' && command.name === change.name) {
        truth.add(`version ${change.versionNo}`);
      }
    }
  }

  function said(command: Command, answer: Answer): string {
    if (command.kind === 'SetSchedulePaused') return `paused ${command.paused}`;
    if (command.kind === 'RetireDag') return 'retired true';
    return answer.ok && answer.kind === 'deployed' ? `version ${answer.versionNo}` : '';
  }

  /** What an answer says is committed by the time it leaves. */
  function checkTold(no: number, command: Command, result: Routed): void {
    if (result.status === 'answered' && command.kind === 'RetryTask') return checkRefused(no, command, result.answer);
    if (result.status !== 'answered' || !result.answer.ok) return;
    const { answer } = result;
    if (command.kind === 'CancelRun' && answer.kind === 'cancelled') {
      const run = ledger.runs.get(command.runId);
      // One that failed may have been opened again since, by its own policy.
      const isAgain = answer.outcome === 'failed' && run?.outcome === null;
      if (run?.outcome !== answer.outcome && !isAgain)
        scene.fail('I15', `run ${command.runId} was told ${answer.outcome}, and is ${run?.outcome}`);
    }
    if (isTold(command)) {
      const isTrue = truths.get(no);
      truths.delete(no);
      if (isTrue !== undefined && !isTrue.has(said(command, answer))) {
        scene.fail('I16', `#${no} was told ${JSON.stringify(answer)}, which was not so at any time since it was asked`);
      }
    }
    if (command.kind === 'DeployDag' && answer.kind === 'deployed') {
      const version = ledger.dags.get(answer.dagId)?.versions.get(answer.versionNo);
      if (version === undefined)
        scene.fail('I15', `version ${answer.versionNo} of ${command.name} was told, and is not there`);
    }
  }

  function checkAssigned({ claim, epoch }: { claim: ClaimRef; epoch: number }, node: string): void {
    const task = ledger.runs.get(claim.runId)?.tasks.get(claim.taskNo);
    if (task === undefined || task.topFence < claim.fence) {
      return scene.fail('I15', `${node} sent ${name(claim)} before it was committed`);
    }
    const { epoch: known } = ledger.shard(shardOfRun(claim.runId));
    if (epoch > known) scene.fail('I15', `${node} sent ${name(claim)} at epoch ${epoch}, the shard is at ${known}`);
    if (task.fence === claim.fence && task.claimEpoch !== epoch) {
      scene.fail('I17', `${node} sent ${name(claim)} at epoch ${epoch}, it was claimed at ${task.claimEpoch}`);
    }
  }

  /** Nobody is told to stop what is rightfully his. */
  function checkKilled({ claim, reason }: Kill, workerId: string, node: string): void {
    const run = ledger.runs.get(claim.runId);
    const task = run?.tasks.get(claim.taskNo);
    const held = task?.speculative?.fence === claim.fence ? task.speculative : task;
    const isHeld = task?.state === 'running' && held?.fence === claim.fence && held.workerId === workerId;
    if (reason === 'preempted') {
      // It goes on holding its task until it has stopped. Which tasks may be stopped, and for whom: see `g-preemption.ts`.
      return;
    }
    if (isHeld && run !== undefined && mayRun(run, claim.taskNo) && !run.isSetAside) {
      scene.fail('I17', `${node} tells ${workerId} to stop ${name(claim)} (${reason}), which it holds`);
    }
  }

  return {
    invariants: ['I14', 'I15', 'I16', 'I58'],
    onTake: checkTake,
    onChange(change, commit) {
      // Once for each commit, before its first change.
      if (commit.changes[0] === change) checkCommit(commit);
      noteTruth(change);
    },
    onHappening(happening: Happening) {
      if (happening.kind === 'asked') begin(happening.ask);
      else if (happening.kind === 'told') checkTold(happening.ask.no, happening.ask.command, happening.result);
      else if (happening.kind === 'killed') checkKilled(happening.kill, happening.workerId, happening.node);
      else if (happening.kind === 'assigned') checkAssigned(happening.assignment, happening.node);
    },
  };
}
