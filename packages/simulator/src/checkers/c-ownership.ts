/** C. Shard ownership: order of commits, nothing leaves too early, nothing starts twice over a handover. */
import type { ClaimRef, Command } from '@signalbox/engine';
import { shardOfRun } from '@signalbox/engine';
import type { Routed } from '@signalbox/host';
import type { JournaledCommit, JournaledTake } from '../fake-store/index.ts';
import type { Happening } from '../world/happening.ts';
import { name } from '../world/happening.ts';
import type { Checker, Scene } from './checker.ts';

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

  /** What an answer says is committed by the time it leaves. */
  function checkTold(command: Command, result: Routed): void {
    if (result.status !== 'answered' || !result.answer.ok) return;
    const { answer } = result;
    if (command.kind === 'CancelRun' && answer.kind === 'cancelled') {
      const run = ledger.runs.get(command.runId);
      if (run?.outcome !== 'cancelled')
        scene.fail('I15', `run ${command.runId} was told cancelled, and is ${run?.outcome}`);
    }
    if (command.kind === 'DeployDag' && answer.kind === 'deployed') {
      const version = ledger.dags.get(answer.dagId)?.versions.get(answer.versionNo);
      if (version === undefined)
        scene.fail('I15', `version ${answer.versionNo} of ${command.name} was told, and is not there`);
    }
  }

  function checkAssigned({ claim, epoch }: { claim: ClaimRef; epoch: number }, node: string): void {
    const task = ledger.runs.get(claim.runId)?.tasks.get(claim.taskNo);
    if (task === undefined || task.fence < claim.fence) {
      return scene.fail('I15', `${node} sent ${name(claim)} before it was committed`);
    }
    const { epoch: known } = ledger.shard(shardOfRun(claim.runId));
    if (epoch > known) scene.fail('I15', `${node} sent ${name(claim)} at epoch ${epoch}, the shard is at ${known}`);
    if (task.fence === claim.fence && task.claimEpoch !== epoch) {
      scene.fail('I17', `${node} sent ${name(claim)} at epoch ${epoch}, it was claimed at ${task.claimEpoch}`);
    }
  }

  return {
    invariants: ['I14', 'I15', 'I58'],
    onTake: checkTake,
    onChange(_change, commit) {
      // Once for each commit, before its first change.
      if (commit.changes[0] === _change) checkCommit(commit);
    },
    onHappening(happening: Happening) {
      if (happening.kind === 'told') checkTold(happening.ask.command, happening.result);
      else if (happening.kind === 'assigned') checkAssigned(happening.assignment, happening.node);
    },
  };
}
