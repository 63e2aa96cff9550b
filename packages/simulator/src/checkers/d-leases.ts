/** I25: what a dead worker ran is given up in time; handovers do not start that over, and time without an owner does not count. */
import type { WorkerId } from '@signalbox/engine';
import type { Happening } from '../world/happening.ts';
import type { RunBook, TaskBook } from './books.ts';
import type { Checker, Scene } from './checker.ts';

/** For what was on its way, and for how often things are looked at. */
const SLACK_MS = 6_000;

/** What a handover may cost: the last beat of an owner is up to a second old, and each has a second to hear the worker. */
const HANDOVER_MS = 2_500;

/** Since when it is stored that a worker is silent: by served time, by the database's clock, and by takeovers. */
interface Silence {
  readonly servedMs: number;
  readonly dbNow: number;
  readonly takeCount: number;
}

/** A claim whose worker is dead. All times are those that its shard was served. */
interface Orphan {
  readonly since: number;
  readonly heardCount: number;
  takeCount: number;
  lastTakeAt: number | null;
}

export function leases(scene: Scene): Checker {
  const { ledger, world, health } = scene;
  const dead = new Set<WorkerId>();
  const heardCount = new Map<WorkerId, number>();
  const orphans = new Map<string, Orphan>();
  /** By shard and worker. */
  const silences = new Map<string, Silence>();

  function see(happening: Happening): void {
    if (happening.kind === 'worker' && (happening.what === 'died' || happening.what === 'left')) {
      dead.add(happening.workerId);
    }
    // What it said before its end may arrive late.
    if (happening.kind === 'heard' || happening.kind === 'spoke') {
      heardCount.set(happening.workerId, (heardCount.get(happening.workerId) ?? 0) + 1);
    }
  }

  function check(run: RunBook, task: Pick<TaskBook, 'taskNo' | 'fence' | 'workerId'>): void {
    const key = `${run.created.runId}/${task.taskNo}/${task.fence}`;
    const { takeCount } = ledger.shard(run.shard);
    const servedMs = health.servedMs(run.shard);
    const heard = heardCount.get(task.workerId) ?? 0;
    const orphan = orphans.get(key);
    if (orphan === undefined || orphan.heardCount !== heard) {
      orphans.set(key, { since: servedMs, heardCount: heard, takeCount, lastTakeAt: null });
      return;
    }
    if (orphan.takeCount !== takeCount) Object.assign(orphan, { takeCount, lastTakeAt: servedMs });
    if (isOverdue(orphan, servedMs, silences.get(`${run.shard} ${task.workerId}`))) {
      scene.fail(
        'I25',
        `${key} of ${task.workerId} is not given up ${servedMs - orphan.since} ms after its worker ended`,
      );
    }
  }

  function isOverdue(
    { since, lastTakeAt, takeCount }: Orphan,
    servedMs: number,
    silence: Silence | undefined,
  ): boolean {
    const { leaseMs, reconcileMs } = world.settings;
    if (lastTakeAt === null) return servedMs - since > leaseMs + SLACK_MS;
    // An owner that could not store the silence leaves nothing to go by.
    if (silence === undefined) return servedMs - lastTakeAt > leaseMs + SLACK_MS;
    const silentMs = servedMs - silence.servedMs;
    // The database's clock may have been set back since.
    if (world.database.now() - silence.dbNow < silentMs) return false;
    // However often it has changed hands since.
    if (silentMs > leaseMs + SLACK_MS + HANDOVER_MS * (takeCount - silence.takeCount)) return true;
    return silentMs > leaseMs + SLACK_MS && servedMs - lastTakeAt > reconcileMs + SLACK_MS;
  }

  return {
    invariants: ['I25'],
    onHappening: see,
    onChange(change) {
      if (change.kind !== 'WorkerSilenced' && change.kind !== 'WorkerHeardAgain') return;
      const key = `${change.shard} ${change.workerId}`;
      if (change.kind === 'WorkerHeardAgain') silences.delete(key);
      else if (!silences.has(key)) {
        const { takeCount } = ledger.shard(change.shard);
        silences.set(key, { servedMs: health.servedMs(change.shard), dbNow: world.database.now(), takeCount });
      }
    },
    onLook() {
      if (dead.size === 0) return;
      for (const run of ledger.live) {
        if (run.isSetAside) continue;
        for (const task of run.tasks.values()) {
          if (task.state !== 'running') continue;
          if (dead.has(task.workerId)) check(run, task);
          if (task.speculative !== null && dead.has(task.speculative.workerId))
            check(run, { taskNo: task.taskNo, ...task.speculative });
        }
      }
    },
  };
}
