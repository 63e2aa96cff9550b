/** A. Requirements of windows: no run begins before they are met or its time is over, and none waits longer. */
import type { Change, DagId, RequirementsChecked } from '@signalbox/engine';
import { readRunNotes } from '@signalbox/engine';
import type { Checker, Scene } from './checker.ts';

/** Longer than anything takes that a well cluster has to do before a run that waits is decided. */
const OVERDUE_MS = 20_000;

export function requirements(scene: Scene): Checker {
  const { ledger, world, health } = scene;
  /** Of each dag: when runs of it have succeeded, and the windows that they were for. */
  const succeeded = new Map<DagId, { readonly at: number; readonly window: number | null }[]>();

  function isMet(dag: string, window: number, withinMs: number | undefined): boolean {
    const dagId = [...ledger.dags.values()].find(({ name }) => name === dag)?.dagId;
    const runs = (dagId === undefined ? undefined : succeeded.get(dagId)) ?? [];
    return runs.some((run) => (withinMs === undefined ? run.window === window : run.at >= window - withinMs));
  }

  function check(change: RequirementsChecked): void {
    const { requires, created } = ledger.run(change.runId);
    const what = `run ${change.runId}`;
    if (requires === null) return scene.fail('I30', `${what} waits for no requirement, and was let go`);
    const { unmet = [] } = readRunNotes(change.notes);
    if (unmet.length > 0 && change.at < requires.until) {
      scene.fail('I30', `${what} was decided at ${change.at}, it was to wait until ${requires.until}`);
    }
    for (const { dag, withinMs } of requires.of) {
      if (unmet.includes(dag) || isMet(dag, created.firesAt ?? 0, withinMs)) continue;
      scene.fail('I30', `${what} was let go, and ${dag} has not succeeded for it`);
    }
  }

  function checkOverdue(): void {
    for (const { requires, created, phase, isSetAside, shard } of ledger.live) {
      if (requires === null || phase !== 'open' || isSetAside || health.wellForMs() < OVERDUE_MS) continue;
      const node = world.nodes.find(({ nodeId }) => nodeId === ledger.shards.get(shard)?.owner);
      const now = node?.process.wall() ?? 0;
      if (now - requires.until > 2 * OVERDUE_MS)
        scene.fail('I29', `run ${created.runId} waits since ${requires.until}`);
    }
  }

  return {
    invariants: ['I29', 'I30'],
    onChange(change: Change) {
      if (change.kind === 'RequirementsChecked') check(change);
      if (change.kind === 'RunCreated' && change.requires !== undefined && change.admitted) {
        scene.fail('I30', `run ${change.runId} was admitted before its requirements were looked at`);
      }
      if (change.kind !== 'RunEnded' || change.outcome !== 'succeeded') return;
      const { created } = ledger.run(change.runId);
      const list = succeeded.get(created.dagId) ?? [];
      list.push({ at: change.at, window: created.firesAt });
      succeeded.set(created.dagId, list);
    },
    onLook: checkOverdue,
  };
}
