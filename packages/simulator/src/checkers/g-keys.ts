/** G. Runs by key: never more active runs with one key than the dag allows, and what becomes of a run too many. */
import type { DagSpec, RunClosing, RunCreated, RunId, RunUid } from '@signalbox/engine';
import type { JournaledCommit } from '../fake-store/index.ts';
import type { RunBook } from './books.ts';
import type { Checker, Scene } from './checker.ts';

const CONCURRENCY = 'concurrency';

export function runKeys(scene: Scene): Checker {
  const { ledger, world } = scene;
  /** Runs of events that wait: they were promised. */
  const held = new Set<RunUid>();

  function checkKey({ runId, dagId, versionNo, params, key, parent }: RunCreated, { changes }: JournaledCommit): void {
    const own = keyOf(ledger.dag(dagId).versions.get(versionNo), params);
    const isMark = parent !== undefined && changes.some((one) => one.kind === 'RunForced' && one.runId === runId);
    const isCancelled = changes.some((one) => one.kind === 'RunClosing' && one.runId === runId);
    // One that stands for a call that was stopped has none.
    if (key !== own && !(key === undefined && (isMark || isCancelled)))
      scene.fail('I7', `run ${runId} has key ${key}, not ${own}`);
  }

  type Keyed = Pick<RunCreated, 'runId' | 'dagId' | 'key'>;
  const limitOf = ({ dagId }: Keyed) => ledger.dags.get(dagId)?.spec.concurrency;

  /** Others with its key. */
  function* beside(run: Keyed): Generator<RunBook> {
    for (const other of ledger.live) {
      const { dagId, key, runId } = other.created;
      if (dagId === run.dagId && key === run.key && runId !== run.runId && !other.isSetAside) yield other;
    }
  }

  function checkRoom(run: Keyed): void {
    const limit = limitOf(run)?.limit;
    if (limit === undefined || run.key === undefined) return;
    const active = [...beside(run)].filter(({ isAdmitted }) => isAdmitted).length;
    if (active >= limit)
      scene.fail('I7', `run ${run.runId} is active beside ${active} of ${limit} with key ${run.key}`);
  }

  /** Nobody is cancelled unless there are too many, by the policy of the dag: it may be newer than the run, by the same commit. */
  function checkCancel({ runId }: RunClosing): void {
    const run = ledger.run(runId).created;
    const { limit = 0, onFull } = limitOf(run) ?? {};
    const wasPromised = held.has(run.uid) || run.parent !== undefined || run.cause === 'backfill';
    const live = 1 + [...beside(run)].filter(({ phase, isAdmitted }) => phase === 'open' || isAdmitted).length;
    if (onFull === undefined || onFull === 'queue')
      return scene.fail('I7', `run ${runId} was cancelled by its key, and the policy is ${onFull}`);
    if (onFull === 'skip' && !wasPromised)
      scene.fail('I7', `run ${runId} was created with key ${run.key}, which is full, and should be skipped`);
    if (live <= limit) scene.fail('I7', `run ${runId} was cancelled with ${live} of ${limit} runs of its key`);
    const newest = [...beside(run)].filter(({ phase }) => phase === 'open').every((one) => one.created.runId < runId);
    if (onFull === 'cancel_running' && newest) scene.fail('I7', `run ${runId}, the newest of its key, was cancelled`);
  }

  /** The rows that the next owner will go by. */
  function checkRows(): void {
    const rows = new Map<RunId, string>();
    for (const { runId, dagId, key, isActive } of world.database.tables.described.all('runKeys'))
      rows.set(runId, `${dagId} ${key} ${isActive}`);
    for (const { created, isAdmitted, phase, isSetAside } of ledger.live) {
      // One that was cancelled while it waited leaves its key at once.
      if (created.key === undefined || isSetAside || (phase !== 'open' && !isAdmitted)) continue;
      const wanted = `${created.dagId} ${created.key} ${isAdmitted}`;
      if (rows.get(created.runId) !== wanted)
        scene.fail('I45', `run ${created.runId} has key ${wanted}, stored is ${rows.get(created.runId)}`);
      rows.delete(created.runId);
    }
    for (const [runId, row] of rows) scene.fail('I45', `run ${runId} has a key no more, stored is ${row}`);
  }

  return {
    invariants: ['I7', 'I45'],
    onChange(change, commit) {
      if (change.kind === 'EventHeld') held.add(change.uid);
      if (change.kind === 'RunCreated') {
        checkKey(change, commit);
        if (change.admitted) checkRoom(change);
      } else if (change.kind === 'RunAdmitted' || (change.kind === 'RunReopened' && change.admitted)) {
        checkRoom(ledger.run(change.runId).created);
      } else if (change.kind === 'RunClosing' && (change.actor as string) === CONCURRENCY) checkCancel(change);
    },
    onLook: checkRows,
  };
}

/** Told without the code under test, for the keys that histories have. */
function keyOf(spec: DagSpec | undefined, params: string | null): string | undefined {
  const parts = spec?.concurrency?.key;
  if (parts === undefined) return undefined;
  if (parts[0] === 'all') return 'all';
  const { of = '' } = (params === null || params === '' ? {} : JSON.parse(params)) as { readonly of?: string };
  return of;
}
