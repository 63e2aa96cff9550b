/** B. Assets: each time that one was produced it is part of one run of a dag at most, and no dag that waits is left out. */
import type { AssetProduced, AssetTold, Change, DagId, RunCreated } from '@signalbox/engine';
import { triggersOf } from '@signalbox/engine';
import type { Checker, Scene } from './checker.ts';

interface Produced {
  no: number;
  told: number;
  /** How many commits there were before it was produced. */
  since: number;
  at: number;
}

/** Longer than a healed world takes to tell everybody. */
const LONG_MS = 60_000;

type Ref = Pick<AssetTold, 'shard' | 'tenantId' | 'name'>;
const nameOf = ({ shard, tenantId, name }: Ref): string => `${shard}/${tenantId}/${name}`;

export function assets(scene: Scene): Checker {
  const { world, ledger } = scene;
  const produced = new Map<string, Produced>();
  const used = new Set<string>();
  /** When a dag was deployed, retired or revived the last time: before which commit. */
  const settledIn = new Map<DagId, number>();
  let commits = 0;
  let isHealed = false;

  function produce(change: AssetProduced, at: number): void {
    const known = produced.get(nameOf(change));
    const before = known?.no ?? 0;
    if (change.no !== before + 1) scene.fail('I11', `asset ${nameOf(change)} went from ${before} to ${change.no}`);
    produced.set(nameOf(change), { no: change.no, told: known?.told ?? 0, since: commits, at });
  }

  function checkRun({ runId, dagId, versionNo, tenantId, assets: sources = [] }: RunCreated): void {
    for (const { name, no, shard } of sources) {
      const key = `${dagId}/${shard}/${name}/${no}`;
      if (used.has(key)) scene.fail('I11', `asset ${key} has made a second run, ${runId}`);
      used.add(key);
      if ((produced.get(nameOf({ shard, tenantId, name }))?.no ?? 0) < no)
        scene.fail('I10', `run ${runId} was created by asset ${key}, which was not produced yet`);
    }
    const spec = ledger.dags.get(dagId)?.versions.get(versionNo) ?? {};
    const [trigger] = triggersOf(spec).flatMap(({ assets: own }) => own ?? []);
    const names = sources.map(({ name }) => name);
    const isWhole = trigger?.mode === 'any' ? names.length > 0 : trigger?.names.every((name) => names.includes(name));
    if (isWhole !== true) scene.fail('I11', `run ${runId} was created by ${names.join()}, which is not enough`);
  }

  /** Whoever waited when it was produced has taken it by now. */
  function checkTold(change: AssetTold): void {
    const known = produced.get(nameOf(change));
    if (known === undefined || change.no > known.no) return scene.fail('I10', `asset ${nameOf(change)} is told early`);
    known.told = Math.max(known.told, change.no);
    if (change.no !== known.no) return;
    const taken = world.database.tables.described.all('assetInputs');
    for (const { dagId, spec, isRetired } of ledger.dags.values()) {
      const waits = triggersOf(spec).some(({ assets: own }) => own?.names.includes(change.name));
      if (!waits || isRetired || (settledIn.get(dagId) ?? 0) >= known.since) continue;
      if (tenantOf(dagId) !== change.tenantId) continue;
      const row = taken.find((one) => one.dagId === dagId);
      if ((row?.inputs[change.name]?.taken[change.shard] ?? 0) < change.no)
        scene.fail('I10', `dag ${dagId} has not heard of asset ${nameOf(change)} ${change.no}, which counts as told`);
    }
  }

  const tenantOf = (dagId: DagId) => world.database.tables.dags.get(dagId)?.tenantId;

  return {
    invariants: ['I10', 'I11', 'I53'],
    onChange(change: Change, { committedAt }) {
      if (change.kind === 'AssetProduced') return produce(change, committedAt);
      if (change.kind === 'RunCreated' && change.assets !== undefined) return checkRun(change);
      if (change.kind === 'AssetTold') return checkTold(change);
      if (change.kind === 'DagDeployed' || change.kind === 'DagRetired' || change.kind === 'DagRevived')
        settledIn.set(change.dagId, commits);
    },
    onCommit() {
      commits += 1;
    },
    onHealed() {
      isHealed = true;
    },
    atEnd() {
      for (const [name, { no, told, at }] of produced) {
        if (isHealed && told < no && world.events.now() - at > LONG_MS)
          scene.fail('I53', `asset ${name} was produced, and nobody has heard of it`);
      }
    },
  };
}
