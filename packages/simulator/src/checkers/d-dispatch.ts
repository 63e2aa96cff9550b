/** D. Dispatch and leases. */
import type {
  AttemptClaimed,
  AttemptEnded,
  ClaimRef,
  ClaimReturned,
  SpeculativeClaimed,
  SpeculativeEnded,
  SpeculativeReturned,
  SpeculativeTookOver,
  WorkerId,
} from '@signalbox/engine';
import { misfitOf, NOBODY, requestOf } from '@signalbox/engine';
import type { JournaledCommit } from '../fake-store/index.ts';
import { type Happening, name } from '../world/happening.ts';
import { NO_ROOM } from '../world/worker-life.ts';
import { isPaused, type RunBook } from './books.ts';
import type { Checker, Scene } from './checker.ts';
import { Claims, type WorkerSeen } from './d-claims.ts';
import { pathOf, taskSpecOf } from './map-book.ts';

/** Loans and assignments of a time before have arrived, or are void. */
const WELL_MS = 3_000;
/** Clocks run at slightly different paces. */
const PACE = 0.998;
/** Share of the lease after which a worker that was not heard may be gone. */
const DOUBT = 0.4;

/** What the server says of an attempt by itself, whatever its worker says. */
const SERVERS_OWN: ReadonlySet<string> = new Set(['timeout:attempt', 'timeout:total', 'stuck:progress']);

/** Stopped because another member of its gang ended the try: `f-retries.ts` looks at that. */
const isOfGang = (change: object): boolean => 'code' in change && change.code === 'gang';

export function dispatch(scene: Scene): Checker {
  const { ledger, world } = scene;
  const claims = new Claims(() => world.now);
  /** Claims that must never begin at their worker any more, by worker and claim. */
  const closed = new Map<string, string>();

  function checkClaim(change: AttemptClaimed): void {
    const run = ledger.run(change.runId);
    const task = run.tasks.get(change.taskNo);
    const what = name(change);
    if (change.fence <= (task?.topFence ?? 0)) scene.fail('I20', `${what} follows fence ${task?.topFence}`);
    if (task?.state === 'running' || task?.state === 'waiting')
      scene.fail('I23', `${what} was claimed while fence ${task.fence} runs`);
    const next = (task?.topNo ?? 0) + 1;
    if (change.attemptNo !== next) scene.fail('I23', `${what} was claimed, its next attempt is ${next}`);
    const worker = claims.workers.get(change.workerId);
    const { queue, child } = taskSpecOf(run, change.taskNo);
    if ((child !== undefined) !== (change.workerId === NOBODY)) {
      scene.fail('I54', `${what} was given to ${change.workerId}`);
    }
    if (child !== undefined) return;
    checkTenant(run, worker, what);
    if (!worker?.queues.includes(queue)) scene.fail('I24', `${what} of queue ${queue} was given to ${change.workerId}`);
    checkFit(run, change, worker);
  }

  /** Labels and resources that the worker never had (I24). */
  function checkFit(run: RunBook, change: AttemptClaimed | SpeculativeClaimed, worker: WorkerSeen | undefined): void {
    const request = requestOf(taskSpecOf(run, change.taskNo).placement);
    const misfit = request === null || worker === undefined ? null : misfitOf(request, worker.traits);
    if (misfit !== null)
      scene.fail('I24', `${name(change)} was given to ${change.workerId}: ${JSON.stringify(misfit)}`);
  }

  /** While all is well, nothing is sent to a worker that has no room for it: its resources are lent once (I24). */
  function checkRefused(workerId: WorkerId, claim: ClaimRef | null, reason: string): void {
    if (claim === null || reason !== NO_ROOM || scene.health.wellForMs() < WELL_MS) return;
    scene.fail('I24', `${workerId} has no room for ${name(claim)}`);
  }

  /** A worker gets no task of a tenant that it does not serve (I65). */
  function checkTenant({ created }: RunBook, worker: WorkerSeen | undefined, what: string): void {
    if (worker === undefined || worker.tenants === null || worker.tenants.includes(created.tenantId)) return;
    scene.fail('I65', `${what} of tenant ${created.tenantId} was given to a worker of ${worker.tenants.join(', ')}`);
  }

  /** A speculative attempt: of a task that opted in, in a map, that runs once, and is shown to run (I23). */
  function checkSpeculative(change: SpeculativeClaimed): void {
    const run = ledger.run(change.runId);
    const task = run.tasks.get(change.taskNo);
    const what = name(change);
    const { queue, speculate } = taskSpecOf(run, change.taskNo);
    if (speculate === undefined || change.taskNo < run.spec.tasks.length)
      scene.fail('I23', `${what} was claimed beside another, and its task did not opt in`);
    if (task?.state !== 'running' || task.speculative !== null)
      scene.fail('I23', `${what} was claimed beside another, its task is ${task?.state} (${task?.speculative?.fence})`);
    if (change.fence <= (task?.topFence ?? 0)) scene.fail('I20', `${what} follows fence ${task?.topFence}`);
    if (change.attemptNo !== (task?.topNo ?? 0) + 1)
      scene.fail('I23', `${what} was claimed, its next attempt is ${(task?.topNo ?? 0) + 1}`);
    if (run.phase !== 'open') scene.fail('I42', `${what} was claimed beside another, its run is ${run.phase}`);
    if (isPaused(run, change.taskNo)) scene.fail('I32', `${what} was claimed though it is paused`);
    checkTenant(run, claims.workers.get(change.workerId), what);
    if (!claims.workers.get(change.workerId)?.queues.includes(queue))
      scene.fail('I24', `${what} of queue ${queue} was given to ${change.workerId}`);
    checkFit(run, change, claims.workers.get(change.workerId));
  }

  /** One of two has ended: it was held, and one that was superseded was so by a success in the same commit. */
  function checkBeside(change: SpeculativeEnded | SpeculativeTookOver, commit: JournaledCommit): void {
    const task = ledger.run(change.runId).tasks.get(change.taskNo);
    const held = change.kind === 'SpeculativeTookOver' ? task : task?.speculative;
    const what = `${change.kind} of ${name(change)}`;
    if (task?.state !== 'running' || task.speculative === null || held?.fence !== change.fence)
      scene.fail('I21', `${what}: the task is ${task?.state} at ${task?.fence} and ${task?.speculative?.fence}`);
    if (change.kind === 'SpeculativeTookOver' && task?.speculative?.fence !== change.next.fence)
      scene.fail('I21', `${what} in favour of ${change.next.fence}, beside it runs ${task?.speculative?.fence}`);
    if (change.outcome === 'succeeded') scene.fail('I23', `${what} has succeeded, and decides nothing`);
    if (change.code !== 'superseded') return checkEnd(change, commit);
    const isWon = commit.changes.some(
      (other) =>
        other.kind === 'AttemptEnded' &&
        other.runId === change.runId &&
        other.taskNo === change.taskNo &&
        other.taskState === 'succeeded',
    );
    if (!isWon) scene.fail('I23', `${what} was superseded, and no other has succeeded`);
  }

  function checkHeld(change: AttemptEnded | ClaimReturned): void {
    const task = ledger.run(change.runId).tasks.get(change.taskNo);
    if (task?.speculative != null)
      scene.fail('I23', `${change.kind} of ${change.runId}/${change.taskNo} with two running`);
    const isHeld = task?.state === 'running' || (task?.state === 'waiting' && change.kind === 'AttemptEnded');
    if (!isHeld || task?.fence !== change.fence) {
      scene.fail(
        'I21',
        `${change.kind} of ${change.runId}/${change.taskNo} has fence ${change.fence}, the task is ${task?.state} at ${task?.fence}`,
      );
    }
  }

  function checkEnd(change: AttemptEnded | SpeculativeEnded | SpeculativeTookOver, commit: JournaledCommit): void {
    if (change.workerId === NOBODY) return;
    const seen = claims.of(change.workerId, change);
    const what = `${name(change)} of ${change.workerId}`;
    const { outcome } = change;
    if (outcome === 'lost') return checkLost(change, commit, what);
    if (SERVERS_OWN.has(change.code ?? '')) return;
    // Stopped by hand: that somebody asked for it is seen to in `e-touches.ts`.
    if (outcome === 'cancelled' && (change.error?.startsWith('Stopped by') || isOfGang(change))) return;
    if (seen.finished === null) return scene.fail('I21', `${what} ended as ${outcome}, its worker never said so`);
    const isSame = seen.finished.outcome === outcome || outcome === 'cancelled';
    if (!isSame) scene.fail('I21', `${what} ended as ${outcome}, its worker said ${seen.finished.outcome}`);
    if (change.kind === 'AttemptEnded' && outcome === 'succeeded' && change.output !== seen.finished.output) {
      scene.fail('I36', `${what} left ${change.output}, its worker said ${seen.finished.output}`);
    }
  }

  function checkLost(
    change: AttemptEnded | SpeculativeEnded | SpeculativeTookOver,
    { nodeId }: JournaledCommit,
    what: string,
  ): void {
    const worker = claims.workers.get(change.workerId);
    const seen = claims.of(change.workerId, change);
    if (['lost:stopped', 'preempted', 'evicted'].includes(change.code ?? '')) {
      if (seen.finished?.outcome !== 'lost') scene.fail('I21', `${what} ended as lost, its worker never said so`);
      return;
    }
    if (change.error?.startsWith('The worker no longer has')) {
      if (worker?.end === null && seen.startedAt !== null && seen.verdict === null) {
        scene.fail('I25', `${what} was given up, and its worker has it`);
      }
      return;
    }
    const isOverdue = change.code === 'lost:overdue';
    if (isOverdue) {
      const run = ledger.run(change.runId);
      const { timeoutMs, stuckMs } = taskSpecOf(run, change.taskNo);
      if (timeoutMs === null && stuckMs === undefined) scene.fail('I41', `${what} has no time that could be over`);
      // An owner that has loaded it, and was not shown it since, knows nothing of its worker.
      if (run.tasks.get(change.taskNo)!.claimEpoch < ledger.shard(run.shard).epoch) return;
    }
    if (!isOverdue && !change.error?.startsWith('The worker sent no heartbeat')) return;
    const { leaseMs } = world.settings;
    const boundMs = isOverdue ? DOUBT * leaseMs : leaseMs;
    // What its owner heard since it took the shard, and before it decided, renews the lease.
    const owner = world.nodes.find((one) => one.nodeId === nodeId);
    const decidedAt = ledger.at - ((owner?.process.wall() ?? 0) - change.endedAt);
    // Its clock may have been set meanwhile: then nobody knows when that was.
    if (decidedAt > ledger.at || decidedAt < ledger.at - 10_000) return;
    const { ownedSince } = ledger.shard(ledger.run(change.runId).shard);
    const heardAt = worker?.heardBy.get(nodeId)?.find((at) => at < decidedAt - 20) ?? Number.NEGATIVE_INFINITY;
    const silentMs = decidedAt - heardAt;
    if (heardAt > ownedSince + 1_000 && silentMs < boundMs * PACE - 50 && isHeardWell(nodeId, heardAt)) {
      scene.fail('I25', `${what} was given up ${silentMs} ms after ${nodeId} heard its worker`);
    }
  }

  /** The owner had the shard in memory when it heard: recovery drops what it knew of workers. */
  function isHeardWell(nodeId: string, heardAt: number): boolean {
    const node = world.nodes.find((one) => one.nodeId === nodeId);
    return node !== undefined && heardAt > (droppedAt.get(nodeId) ?? 0) + 500;
  }
  const droppedAt = new Map<string, number>();

  /** What was shown may still wait behind a batch that a slow database holds up. */
  const INBOX_MS = 3_000;

  function checkReturned(change: ClaimReturned | SpeculativeReturned, { nodeId }: JournaledCommit): void {
    const run = ledger.run(change.runId);
    const task = run.tasks.get(change.taskNo);
    if (task === undefined) return;
    const { workerId, claimEpoch } = change.kind === 'SpeculativeReturned' ? (task.speculative ?? task) : task;
    const seen = claims.of(workerId, change);
    const what = `claim ${change.runId}/${change.taskNo} fence ${change.fence} of ${workerId}`;
    const isHandedOver = claimEpoch < ledger.shard(run.shard).epoch;
    const isOver = seen.verdict !== null || claims.workers.get(workerId)?.end !== null;
    if (change.reason === 'refused' || isHandedOver) {
      if (seen.startedAt !== null && !isOver)
        scene.fail('I17', `${what} was returned (${change.reason}), and its worker runs it`);
      closed.set(`${workerId} ${change.runId}/${change.taskNo}/${change.fence}`, change.reason);
    }
    const shownAt = seen.shownTo.get(nodeId) ?? Number.NEGATIVE_INFINITY;
    const { ownedSince } = ledger.shard(run.shard);
    if (
      change.reason === 'undelivered' &&
      shownAt > ownedSince + 1_000 &&
      isHeardWell(nodeId, shownAt) &&
      ledger.at - shownAt > INBOX_MS
    ) {
      scene.fail('I25', `${what} was returned as undelivered, ${nodeId} was shown it`);
    }
  }

  function checkVerdict({ claim, verdict }: { claim: ClaimRef; verdict: string }, workerId: WorkerId): void {
    const run = ledger.runs.get(claim.runId);
    const task = run?.tasks.get(claim.taskNo);
    const ended = task?.ended.get(claim.fence) ?? task?.beside.get(claim.fence);
    const what = `${name(claim)} of ${workerId}`;
    if (run === undefined || run.isSetAside) return;
    if (verdict === 'accepted') {
      const { finished } = claims.of(workerId, claim);
      const isSame = ended !== undefined && ended.code !== 'superseded' && ended.outcome === finished?.outcome;
      if (!isSame)
        scene.fail('I21', `the report of ${what} (${finished?.outcome}) was accepted, it ended as ${ended?.outcome}`);
      return;
    }
    const held = task?.speculative?.fence === claim.fence ? task.speculative : task;
    const isHeld = task?.state === 'running' && held?.fence === claim.fence && held.workerId === workerId;
    if (isHeld) scene.fail('I21', `the report of ${what} was called stale, and it holds the task`);
    // Once the next attempt is claimed the rows show only that one: a repeat that comes so late is told stale.
    // So is one of an attempt that was stopped, once its task is cleared, also if the task then expires before its next attempt:
    // all older tokens are void (I32). So are those of an instance whose map was removed, for then the task itself is none of
    // the run's any more (I34).
    const isCleared = task?.state === 'cleared' || task?.state === 'expired';
    const isStopped = ended?.outcome === 'cancelled' && isCleared;
    const isVoid = isStopped || pathOf(run, claim.taskNo) === null;
    const isLast = task?.fence === claim.fence && !isVoid;
    if (isLast && ended?.outcome === claims.of(workerId, claim).finished?.outcome) {
      scene.fail('I22', `the report of ${what} was called stale, and it is what ended the attempt`);
    }
  }

  function see(happening: Happening): void {
    if (happening.kind === 'worker' && happening.what === 'refused')
      checkRefused(happening.workerId, happening.claim, happening.reason);
    claims.see(happening);
    if (happening.kind === 'verdict') checkVerdict(happening.answer, happening.workerId);
    if (happening.kind !== 'worker' || happening.claim === null) return;
    const { workerId, claim } = happening;
    if (happening.what === 'started') {
      const reason = closed.get(`${workerId} ${claim.runId}/${claim.taskNo}/${claim.fence}`);
      if (reason !== undefined) scene.fail('I17', `${workerId} starts ${name(claim)}, which was returned (${reason})`);
    }
    const worker = claims.workers.get(workerId);
    if (happening.what === 'started' && worker?.drainsSince !== null) {
      scene.fail('I27', `${workerId} starts ${name(claim)} though it drains`);
    }
  }

  return {
    invariants: ['I17', 'I20', 'I21', 'I22', 'I23', 'I24', 'I25', 'I26', 'I27', 'I54'],
    onChange(change, commit) {
      if (change.kind === 'AttemptClaimed') checkClaim(change);
      if (change.kind === 'AttemptEnded' || change.kind === 'ClaimReturned') checkHeld(change);
      if (change.kind === 'AttemptEnded') checkEnd(change, commit);
      if (change.kind === 'ClaimReturned' || change.kind === 'SpeculativeReturned') checkReturned(change, commit);
      if (change.kind === 'SpeculativeClaimed') checkSpeculative(change);
      if (change.kind === 'SpeculativeEnded' || change.kind === 'SpeculativeTookOver') checkBeside(change, commit);
    },
    onTake({ kind, nodeId, committedAt }) {
      if (kind === 'take') droppedAt.set(nodeId, committedAt);
    },
    onHappening: see,
  };
}
