/** B. Submission. */
import { type Change, type RunCreated, type RunUid, type SubmitRuns, uidOfItem } from '@signalbox/engine';
import type { Routed } from '@signalbox/host';
import type { Checker, Scene } from './checker.ts';

export function submission(scene: Scene): Checker {
  const { ledger, world } = scene;
  const commands = new Map<RunUid, SubmitRuns>();
  const refused = new Set<RunUid>();
  /** By dag and key: what is stored. */
  const keys = new Map<string, { readonly bodyHash: string; readonly uid: RunUid }>();
  const accepted = new Set<RunUid>();
  const held = new Set<RunUid>();
  /** Accepted, to begin later: what becomes of them is looked after in `a-delayed.ts`. */
  const delayed = new Set<RunUid>();
  const isThere = (uid: RunUid) => ledger.byUid.has(uid) || delayed.has(uid);

  function checkAnswer(command: SubmitRuns, result: Routed): void {
    const { uid, key, dagId, items, window } = command;
    if (result.status === 'unknown') return;
    if (window !== undefined) return checkWindow(command, result, window.at);
    if (result.status !== 'answered' || !result.answer.ok) {
      if (isThere(uid)) scene.fail('I12', `submission ${uid} was refused, and is there`);
      refused.add(uid);
      const isConflict =
        result.status === 'answered' && !result.answer.ok && result.answer.code === 'IDEMPOTENCY_CONFLICT';
      const stored = key === null ? undefined : keys.get(`${dagId}/${key.key}`);
      if (isConflict && (stored === undefined || stored.bodyHash === key?.bodyHash)) {
        scene.fail('I11', `submission ${uid} was told of a conflict that there is not`);
      }
      return;
    }
    if (result.answer.kind !== 'submitted') return scene.fail('I10', `submission ${uid} got another's answer`);
    const told = result.answer;
    if (told.count !== items.length) scene.fail('I13', `submission ${uid} of ${items.length} was told ${told.count}`);
    const stored = key === null ? undefined : keys.get(`${dagId}/${key.key}`);
    if (key !== null && (stored?.uid !== told.uid || stored.bodyHash !== key.bodyHash)) {
      scene.fail('I11', `submission ${uid} with key ${key.key} was told ${told.uid}, stored is ${stored?.uid}`);
    }
    if (key === null && told.uid !== uid) scene.fail('I11', `submission ${uid} was told of ${told.uid}`);
    items.forEach((_, index) => {
      const item = uidOfItem(told.uid, index);
      if (!isThere(item)) scene.fail('I10', `submission ${item} was accepted, and is not there`);
      accepted.add(item);
    });
  }

  /** That of the run that is made again; for all others the one that is current when they are created. */
  function checkVersion({ runId, uid, dagId, versionNo }: RunCreated): void {
    const wanted = commands.get(uidOfItem(uid, 0))?.versionNo ?? ledger.dag(dagId).versionNo;
    if (versionNo !== wanted) scene.fail('I35', `run ${runId} has version ${versionNo}, not ${wanted}`);
  }

  /** Whoever has created it: the window has a run, and that is the one that was told. */
  function checkWindow({ uid, dagId }: SubmitRuns, result: Routed, at: number): void {
    if (result.status !== 'answered' || !result.answer.ok || result.answer.kind !== 'submitted') return;
    const run = ledger.byUid.get(result.answer.uid);
    if (run?.created.dagId !== dagId || run.created.firesAt !== at)
      scene.fail('I10', `submission ${uid} for window ${at} was told ${result.answer.uid}`);
    accepted.add(result.answer.uid);
  }

  /** The uid of a run that its submission has created; undefined for one that was made by something else, or that begins only now. */
  function submittedNow({ uid, cause, firesAt, assets }: RunCreated): RunUid | undefined {
    if (cause === 'schedule' || cause === 'parent' || cause === 'backfill') return undefined;
    if (firesAt !== null || assets !== undefined) return undefined;
    return held.has(uid) || delayed.has(uid) ? undefined : uid;
  }

  return {
    invariants: ['I10', 'I11', 'I12', 'I13', 'I35'],
    onHappening(happening) {
      if (happening.kind === 'asked' && happening.ask.command.kind === 'SubmitRuns') {
        commands.set(happening.ask.command.uid, happening.ask.command);
      }
      if (happening.kind === 'told' && happening.ask.command.kind === 'SubmitRuns') {
        checkAnswer(happening.ask.command, happening.result);
      }
    },
    onChange(change) {
      if (change.kind === 'RunCreated') checkVersion(change);
      const uid = change.kind === 'RunCreated' ? change.uid : newDelayed(change);
      if (uid !== undefined && refused.has(uid)) scene.fail('I12', `submission ${uid} was refused, and done later`);
      if (change.kind === 'ScheduleSet' && uid !== undefined) delayed.add(uid);
      // Its run has no submission.
      if (change.kind === 'EventHeld') held.add(change.uid);
      if (change.kind !== 'KeyStored') return;
      const name = `${change.target}/${change.key}`;
      if (keys.has(name)) scene.fail('I11', `key ${name} is stored a second time`);
      keys.set(name, { bodyHash: change.bodyHash, uid: change.uid });
    },
    onCommit({ changes }) {
      const counts = new Map<RunUid, number>();
      for (const change of changes) {
        const uid = change.kind === 'RunCreated' ? submittedNow(change) : newDelayed(change);
        if (uid === undefined) continue;
        const first = uidOfItem(uid, 0);
        counts.set(first, (counts.get(first) ?? 0) + 1);
      }
      for (const [uid, count] of counts) {
        const wanted = commands.get(uid)?.items.length;
        if (count !== wanted) scene.fail('I13', `${count} of ${wanted} runs of submission ${uid} were created`);
      }
    },
    atEnd() {
      const { runUids, runs } = world.database.tables;
      for (const uid of accepted) {
        // A delayed run may have been cancelled, or not begun yet.
        if (delayed.has(uid) && !ledger.byUid.has(uid)) continue;
        const runId = runUids.get(uid);
        if (runId === undefined || !runs.has(runId)) scene.fail('I10', `submission ${uid} was accepted, and is lost`);
      }
    },
  };
}

/** A delayed run that has just been accepted. */
function newDelayed(change: Change): RunUid | undefined {
  return change.kind === 'ScheduleSet' && change.revision === 1 ? change.spec.run?.uid : undefined;
}
