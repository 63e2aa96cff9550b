/**
 * A. Requirements of windows: no run begins before they are met or its time is over, and none waits longer. How long it waits is
 * a span: its two instants are of the clock of the decision, and are compared with those of no other.
 */
import type { Change, DagId, RequirementsChecked, RunCreated, RunId } from '@signalbox/engine';
import { readRunNotes, shardOfRun } from '@signalbox/engine';
import type { JournaledCommit } from '../fake-store/index.ts';
import type { Checker, Scene } from './checker.ts';

/** Longer than anything takes that a well cluster has to do before a run that waits is decided. */
const OVERDUE_MS = 20_000;
/** Clocks run at slightly different paces. */
const PACE = 0.998;
const ROUNDING_MS = 3;

export function requirements(scene: Scene): Checker {
  const { ledger, world, health } = scene;
  /** Of each dag: when runs of it have succeeded, and the windows that they were for. */
  const succeeded = new Map<DagId, { readonly at: number; readonly window: number | null }[]>();
  /** By run that waits: its owner, and the instant of its creation in true time. */
  const began = new Map<RunId, { readonly epoch: number; readonly trueAt: number }>();
  let skewMs = 0;

  function isMet(dag: string, window: number, withinMs: number | undefined): boolean {
    const dagId = [...ledger.dags.values()].find(({ name }) => name === dag)?.dagId;
    const runs = (dagId === undefined ? undefined : succeeded.get(dagId)) ?? [];
    return runs.some((run) => (withinMs === undefined ? run.window === window : run.at >= window - withinMs));
  }

  function check(change: RequirementsChecked, { changes }: JournaledCommit): void {
    const { requires, created } = ledger.run(change.runId);
    const what = `run ${change.runId}`;
    if (requires === null) return scene.fail('I30', `${what} waits for no requirement, and was let go`);
    const { unmet = [] } = readRunNotes(change.notes);
    if (unmet.length > 0) checkWaited(change.runId, change.at, requires.until - created.at);
    const isSkipped = changes.some((other) => other.kind === 'WindowSkipped' && other.runId === change.runId);
    const mustBe = unmet.length > 0 && requires.unmet === 'skip';
    if (isSkipped !== mustBe) scene.fail('I2', `${what} has requirements unmet, and its window does not say so`);
    for (const { dag, withinMs } of requires.of) {
      if (unmet.includes(dag) || isMet(dag, created.firesAt ?? 0, withinMs)) continue;
      scene.fail('I30', `${what} was let go, and ${dag} has not succeeded for it`);
    }
  }

  /** By true time, or by the clock of its owner. Another owner guesses by its own clock how much is over. */
  function checkWaited(runId: RunId, at: number, wholeMs: number): void {
    const { created, shard } = ledger.run(runId);
    const { epoch, trueAt } = began.get(runId) ?? { epoch: 0, trueAt: 0 };
    const passedMs = Math.max(ledger.at - trueAt, at - created.at);
    const blurMs = epoch === ledger.shard(shard).epoch ? 0 : 2 * skewMs;
    if (passedMs + blurMs >= wholeMs * PACE - ROUNDING_MS) return;
    scene.fail('I30', `run ${runId} was decided after ${passedMs} ms, it was to wait for ${wholeMs}`);
  }

  function noteBegan({ runId, at }: RunCreated, { nodeId }: JournaledCommit): void {
    const owner = world.nodes.find((one) => one.nodeId === nodeId);
    const agoMs = Math.max(0, (owner?.process.wall() ?? at) - at);
    began.set(runId, { epoch: ledger.shard(shardOfRun(runId)).epoch, trueAt: ledger.at - agoMs });
  }

  /** An owner that takes the run over may start the wait anew: its clock may be behind the one that the wait began by. */
  function checkOverdue(): void {
    for (const { isUp, process } of world.nodes) if (isUp) skewMs = Math.max(skewMs, Math.abs(process.skewMs));
    const wellForMs = health.wellForMs();
    for (const { requires, created, phase, isSetAside, openedAt, shard } of ledger.live) {
      if (requires === null || phase !== 'open' || isSetAside) continue;
      const mostMs = OVERDUE_MS + (requires.until - created.at);
      const since = Math.max(openedAt, ledger.shard(shard).ownedSince);
      if (Math.min(wellForMs, world.now - since) > mostMs)
        scene.fail('I53', `run ${created.runId} waits for its requirements since ${since}`);
    }
  }

  return {
    invariants: ['I2', 'I30', 'I53'],
    onChange(change: Change, commit) {
      if (change.kind === 'RequirementsChecked') check(change, commit);
      if (change.kind === 'RunCreated' && change.requires !== undefined && change.admitted) {
        scene.fail('I30', `run ${change.runId} was admitted before its requirements were looked at`);
      }
      if (change.kind === 'RunCreated' && change.requires !== undefined) noteBegan(change, commit);
      if (change.kind !== 'RunEnded' || change.outcome !== 'succeeded') return;
      const { created } = ledger.run(change.runId);
      const list = succeeded.get(created.dagId) ?? [];
      list.push({ at: change.at, window: created.firesAt });
      succeeded.set(created.dagId, list);
    },
    onLook: checkOverdue,
  };
}
