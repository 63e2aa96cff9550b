/**
 * A. Delayed runs: one that was accepted begins once, as it was asked for, not before its time and soon after it, unless somebody has
 * cancelled or paused it or its dag is gone.
 */
import {
  type Change,
  type RunCreated,
  type RunUid,
  type ScheduleRemoved,
  type ScheduleSet,
  type SubmitRuns,
  scheduleIdOf,
  type TenantId,
  uidOfItem,
} from '@signalbox/engine';
import type { JournaledCommit } from '../fake-store/index.ts';
import type { Checker, Scene } from './checker.ts';
import { hasGoal } from './until-book.ts';

/** How long a well cluster may take to begin one that is due. */
const SOON_MS = 5_000;

type Item = Pick<SubmitRuns, 'actor'> & SubmitRuns['items'][number];

export function delayedRuns(scene: Scene): Checker {
  const { ledger, world, health } = scene;
  const asked = new Map<RunUid, Item>();
  /** Names that somebody wanted to pause or to resume, and to cancel. */
  const touched = { SetSchedulePaused: new Set<string>(), DeleteSchedule: new Set<string>() };
  /** What has become of those that were accepted. */
  const seen = new Map<RunUid, 'waits' | 'begun' | 'cancelled' | 'gone'>();
  const dueSince = new Map<RunUid, number>();
  /** Tenants that were deleted at some time. */
  const wereDeleted = new Set<TenantId>();

  function checkSet(change: ScheduleSet, uid: RunUid): void {
    const old = ledger.schedules.get(scheduleIdOf(change));
    if (old === undefined) return checkNew(change, uid);
    const isSame = JSON.stringify(old.spec) === JSON.stringify(change.spec) && old.name === change.name;
    if (!isSame) scene.fail('I10', `delayed run ${uid} was altered`);
    if (old.paused === change.paused || !touched.SetSchedulePaused.has(uid))
      scene.fail('I12', `delayed run ${uid} was ${change.paused ? 'paused' : 'resumed'}, and nobody asked for it`);
  }

  function checkNew({ spec, name, paused, dueAt, at, actor }: ScheduleSet, uid: RunUid): void {
    if (seen.has(uid) || ledger.byUid.has(uid)) scene.fail('I11', `delayed run ${uid} is there a second time`);
    seen.set(uid, 'waits');
    const item = asked.get(uid);
    const wanted = item && [item.at, item.params, item.priority, item.until ?? null, item.actor];
    const stored = [spec.at?.[0], spec.params ?? null, spec.priority ?? null, spec.run?.until ?? null, spec.run?.actor];
    if (JSON.stringify(wanted) !== JSON.stringify(stored) || actor !== item?.actor || name !== (uid as string)) {
      scene.fail('I10', `delayed run ${uid} is ${JSON.stringify(stored)}, asked for was ${JSON.stringify(wanted)}`);
    }
    if (paused || dueAt !== spec.at?.[0] || spec.at[0] <= at)
      scene.fail('I10', `delayed run ${uid} for ${spec.at?.[0]} is due at ${dueAt}, stored at ${at}`);
  }

  function checkBegun(change: RunCreated, { changes }: JournaledCommit): void {
    const { uid, dagId, at, dueAt, params, priority, until, cause, actor } = change;
    const state = seen.get(uid);
    if (state === undefined) return;
    if (state !== 'waits') return scene.fail('I1', `delayed run ${uid} was created, and had ${state} before`);
    const left = changes.some((other) => other.kind === 'ScheduleRemoved' && other.name === (uid as string));
    if (!left) scene.fail('I1', `delayed run ${uid} was created, and may be created again`);
    const schedule = [...ledger.schedules.values()].find((one) => one.spec.run?.uid === uid);
    const item = asked.get(uid);
    if (schedule?.paused !== false) scene.fail('I6', `delayed run ${uid} was created while it is paused`);
    if (item?.at === undefined || at < item.at) scene.fail('I4', `delayed run ${uid} for ${item?.at} began at ${at}`);
    const usual = ledger.dag(dagId).spec.priority;
    const isAsAsked =
      dueAt === item?.at && params === item?.params && priority === (item.priority ?? usual) && until === item.until;
    if (!isAsAsked || cause !== 'api' || actor !== item.actor)
      scene.fail('I10', `delayed run ${uid} is another than was asked for`);
  }

  function checkRemoved(change: ScheduleRemoved, uid: RunUid, { changes }: JournaledCommit): void {
    dueSince.delete(uid);
    if (changes.some((other) => other.kind === 'RunCreated' && other.uid === uid)) {
      seen.set(uid, 'begun');
      return;
    }
    const gone = changes.find(
      (other) => other.kind === 'WindowDecided' && scheduleIdOf(other) === scheduleIdOf(change),
    );
    seen.set(uid, gone === undefined ? 'cancelled' : 'gone');
    if (gone === undefined && !touched.DeleteSchedule.has(uid))
      scene.fail('I10', `delayed run ${uid} has vanished, and nobody cancelled it`);
    const { isRetired, spec, tenantId } = ledger.dag(change.dagId);
    const mayRun = !isRetired && !wereDeleted.has(tenantId) && hasGoal(spec, asked.get(uid)?.until);
    const isTaken = gone?.kind === 'WindowDecided' && gone.skipped === 'overlap' && spec.concurrency?.onFull === 'skip';
    if (gone !== undefined && mayRun && !isTaken) scene.fail('I10', `delayed run ${uid} was skipped, and could run`);
  }

  /** By the clock of its owner. */
  function checkSoon(): void {
    if (health.wellForMs() < SOON_MS) return dueSince.clear();
    for (const { spec, shard, paused } of ledger.schedules.values()) {
      if (spec.run === undefined) continue;
      const { uid } = spec.run;
      const { owner } = ledger.shard(shard);
      const node = world.nodes.find((one) => one.nodeId === owner);
      const isDue = !paused && node !== undefined && Number(spec.at?.[0]) <= node.process.wall();
      if (!isDue) dueSince.delete(uid);
      else if (!dueSince.has(uid)) dueSince.set(uid, world.now);
      else if (world.now - dueSince.get(uid)! > SOON_MS)
        scene.fail('I8', `delayed run ${uid} is due since ${dueSince.get(uid)}, and nobody begins it`);
    }
  }

  return {
    invariants: ['I1', 'I4', 'I6', 'I8', 'I10', 'I11', 'I12'],
    onHappening(happening) {
      if (happening.kind === 'tenant' && happening.isDeleted) wereDeleted.add(happening.tenantId);
      if (happening.kind !== 'asked') return;
      const { command } = happening.ask;
      if (command.kind === 'SubmitRuns') {
        command.items.forEach((item, index) => {
          asked.set(uidOfItem(command.uid, index), { ...item, actor: command.actor });
        });
      } else if (command.kind === 'SetSchedulePaused' || command.kind === 'DeleteSchedule') {
        if (command.name !== undefined) touched[command.kind].add(command.name);
      }
    },
    onChange(change: Change, commit) {
      if (change.kind === 'ScheduleSet' && change.spec.run !== undefined) checkSet(change, change.spec.run.uid);
      else if (change.kind === 'RunCreated') checkBegun(change, commit);
      else if (change.kind === 'ScheduleRemoved') {
        const { run } = ledger.schedules.get(scheduleIdOf(change))?.spec ?? {};
        if (run !== undefined) checkRemoved(change, run.uid, commit);
      }
    },
    onLook: checkSoon,
  };
}
