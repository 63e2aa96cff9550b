/** E. Child runs: one for each call, none outlives its call, and whoever waits for one learns of its end. */
import { type AttemptEnded, childUid, type RunCreated } from '@signalbox/engine';
import type { JournaledCommit } from '../fake-store/index.ts';
import type { RunBook, TaskBook } from './books.ts';
import { isOnlyMark } from './call-mark.ts';
import type { Checker, Scene } from './checker.ts';
import { taskSpecOf } from './map-book.ts';

/** For what is on its way, and for how often things are looked at. */
const SLACK_MS = 15_000;

type Call = { readonly runId: number; readonly taskNo: number; readonly attemptNo: number };
const keyOf = ({ runId, taskNo, attemptNo }: Call) => `${runId}/${taskNo} attempt ${attemptNo}`;

interface Child {
  readonly run: RunBook;
  /** When it ended, the first time. */
  endedAt: number | null;
}

export function children(scene: Scene): Checker {
  const { ledger, world, health } = scene;
  const claimedAt = new Map<string, Parameters<typeof childUid>[2]>();
  const made = new Map<string, Child>();
  const byRun = new Map<number, Child>();
  const over = new Map<string, AttemptEnded>();

  function checkCreated(change: RunCreated, commit: JournaledCommit): void {
    const { parent, uid, runId, tenantId, priority } = change;
    if (parent === undefined) return;
    const key = keyOf(parent);
    const at = claimedAt.get(key);
    if (made.has(key)) return scene.fail('I11', `run ${runId} is the second of call ${key}`);
    if (at === undefined) return scene.fail('I11', `run ${runId} has call ${key}, which there is not`);
    const { created, priorities, shard } = ledger.run(parent.runId);
    const own = Number.parseInt(uid.slice(34), 16) as typeof shard;
    if (uid !== childUid(own, parent, at)) scene.fail('I11', `run ${runId} of call ${key} has another name: ${uid}`);
    if (created.tenantId !== tenantId || !priorities.has(priority)) {
      // A call that is on its way has the priority of when it was sent.
      scene.fail('I65', `run ${runId} has not the tenant and priority of its parent`);
    }
    if (over.has(key) && !isOnlyMark(change, commit)) {
      scene.fail('I42', `run ${runId} began after call ${key} was ${over.get(key)?.outcome}`);
    }
  }

  function checkEnded(change: AttemptEnded): void {
    const { child: spec } = taskSpecOf(ledger.run(change.runId), change.taskNo);
    if (spec === undefined) return;
    const key = keyOf(change);
    const child = made.get(key);
    over.set(key, change);
    if (spec.wait && child !== undefined && child.endedAt === null && !child.run.isSetAside) {
      scene.fail('I42', `call ${key} ended (${change.outcome}) before run ${child.run.created.runId}, which is live`);
    }
    if (change.outcome !== 'succeeded') return;
    const isRight = spec.wait ? child?.endedAt != null && child.run.outcome !== 'cancelled' : child !== undefined;
    if (!isRight) scene.fail('I51', `call ${key} succeeded, its run is ${child?.run.outcome}`);
  }

  /** With nothing in the way word of an end, or of a stop, arrives by the next time that it is asked for. */
  function checkKnown(run: RunBook, task: TaskBook): void {
    const child = made.get(keyOf({ runId: run.created.runId, ...task }));
    const boundMs = world.settings.askChildMs + SLACK_MS;
    if (health.wellForMs() < boundMs + SLACK_MS) return;
    const what = `call ${run.created.runId}/${task.taskNo} attempt ${task.attemptNo}`;
    const endedAt = child?.endedAt ?? null;
    if (endedAt !== null && child?.run.phase === 'ended' && world.now - endedAt > boundMs) {
      scene.fail('I72', `${what} still waits for run ${child.run.created.runId}, which ended at ${endedAt}`);
    }
    if (child === undefined && world.now - task.claimedAt > boundMs) scene.fail('I72', `${what} has no run yet`);
    // A child that was closing for a reason of its own may be opened again by its policy: it is stopped the next time that it is asked.
    const toEndSince = Math.max(run.closedAt, child?.run.openedAt ?? 0);
    const isLeft = run.phase === 'closing' && world.now - toEndSince > boundMs && child?.run.phase === 'open';
    if (isLeft) scene.fail('I42', `${what} is to end since ${toEndSince}, run ${child?.run.created.runId} is open`);
  }

  return {
    invariants: ['I11', 'I42', 'I51', 'I65', 'I72'],
    onChange(change, commit) {
      if (change.kind === 'RunCreated') checkCreated(change, commit);
      if (change.kind === 'AttemptEnded') checkEnded(change);
      if (change.kind === 'AttemptClaimed') claimedAt.set(keyOf(change), change.at);
      const child = change.kind === 'RunEnded' ? byRun.get(change.runId) : undefined;
      if (child !== undefined) child.endedAt = ledger.at;
    },
    onCommit({ changes }) {
      for (const change of changes) {
        if (change.kind !== 'RunCreated' || change.parent === undefined) continue;
        const run = ledger.run(change.runId);
        const child: Child = { run, endedAt: run.phase === 'ended' ? ledger.at : null };
        made.set(keyOf(change.parent), child);
        byRun.set(change.runId, child);
      }
    },
    onLook() {
      for (const run of ledger.live) {
        if (run.isSetAside) continue;
        for (const task of run.tasks.values()) if (task.state === 'waiting') checkKnown(run, task);
      }
    },
  };
}
