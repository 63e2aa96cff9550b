/**
 * Where the streams of workers end (D6). The gateway lends free slots to the owners of shards, delivers assignments to
 * workers and reports to owners, and tells owners which workers it hears. It decides nothing about tasks.
 */
import {
  type ClaimRef,
  type Command,
  type Demand,
  NOTHING,
  type NodeId,
  type RunId,
  type ShardNo,
  shardOfRun,
  type TenantId,
  type WorkerId,
} from '@signalbox/engine';
import type { Frozen, TenantRule } from '@signalbox/store';
import type { Directory } from '../directory.ts';
import type { PeerMessage, ProgressSeen, SlotsReturned } from '../peer/message.ts';
import type { Peers } from '../peer/peers.ts';
import type {
  Assignment,
  ClaimProgress,
  Clock,
  FleetHistory,
  Kill,
  Log,
  ShardEpoch,
  Tokens,
  WorkerDoor,
  WorkerHello,
  WorkerReport,
  WorkerRequest,
  WorkerSays,
} from '../ports.ts';
import type { Router } from '../router.ts';
import type { Turns } from '../turn/turns.ts';
import { PendingRequests } from './attempt-requests.ts';
import { Lending, type Loan } from './lending.ts';
import { lentWith, spotOf } from './lent-with.ts';
import { openOutput, reportCommand } from './open-output.ts';
import { claimKey, type HeldBooking, Session } from './session.ts';
import { WorkerNotes } from './worker-notes.ts';

export interface GatewayPorts {
  readonly self: NodeId;
  readonly clock: Clock;
  readonly log: Log;
  readonly tokens: Tokens;
  readonly router: Router;
  readonly turns: Turns;
  readonly peers: () => Peers;
  readonly directory: Directory;
  readonly leaseMs: number;
  readonly history: Pick<FleetHistory, 'worker'>;
}

/** A report that finds no owner for this long is dropped here; the worker keeps it, and sends it again. */
const REPORT_DEADLINE_MS = 30_000;
const SWEEP_MS = 1_000;
/** Claims of one hello whose tokens prove nothing, before the others are not looked at. */
const MOST_DOUBTED = 100;
/** Workers that left are remembered until their leases are over anyhow, also for an owner that was away for a while. */
const KEPT_LEASES = 4;

export class Gateway {
  private readonly ports: GatewayPorts;
  private readonly sessions = new Map<WorkerId, Session>();
  private readonly lending: Lending;
  private readonly requests: PendingRequests;
  private readonly notes: WorkerNotes;
  /** Workers that have left in order, and when. Owners that did not hear of it, or took a shard since, are told again. */
  private readonly departed = new Map<WorkerId, number>();
  /** Ids of workers that take nothing new. */
  private cordoned: ReadonlySet<string> = new Set();
  private lastStreamNo = 0;
  private cancelSweep: (() => void) | null = null;

  constructor(ports: GatewayPorts) {
    this.ports = ports;
    this.requests = new PendingRequests({ ...ports, isCurrent: (session) => this.isCurrent(session) });
    this.notes = new WorkerNotes(ports);
    this.lending = new Lending({
      self: ports.self,
      isServing: () => ports.turns.current() !== null,
      clock: ports.clock,
      lendHere: (session, loan, forTenant) => this.command(this.lendCommand(session, loan, forTenant)),
      recallHere: (session, count) => this.recallHere(session, count),
      lendThere: (nodeId, session, loan, tenantId) =>
        ports.peers().tell(nodeId, {
          kind: 'lent',
          workerId: session.workerId,
          tenantId,
          queues: session.queues,
          ...(session.weights === null ? {} : { weights: session.weights }),
          count: loan.count,
          stream: session.streamNo,
          ...(loan.isForRequest ? lentWith(session, loan, nodeId) : spotOf(session)),
          ...(loan.only === undefined ? {} : { only: loan.only }),
          agoMs: this.silentMs(session),
        }),
    });
  }

  start(): void {
    this.cancelSweep = this.ports.clock.after(SWEEP_MS, () => {
      this.sweep();
      this.start();
    });
  }

  /** Ends all streams: workers go to another gateway, with what they run. */
  stop(): void {
    this.cancelSweep?.();
    for (const session of [...this.sessions.values()]) {
      this.notes.disconnected(session, 'the server stops');
      this.drop(session);
    }
  }

  workers(): readonly Session[] {
    return [...this.sessions.values()];
  }

  /** How long the worker has not been heard, by the clock that its lease goes by. */
  silentMs({ heardAt }: Session): number {
    return this.ports.clock.mono() - heardAt;
  }

  /** What attempts of a run have told of their progress, those whose worker's stream ends here. */
  progressOf(runId: RunId): ProgressSeen[] {
    return [...this.sessions.values()].flatMap((session) => {
      const silentMs = this.silentMs(session);
      return session.progressOf(runId).map((told) => ({ ...told, agoMs: Math.round(told.agoMs + silentMs) }));
    });
  }

  /** Only the workers of this tenant, if one is named. */
  drain(workerId: WorkerId, tenantId: TenantId | null, evictMs = 0): boolean {
    const session = this.sessions.get(workerId);
    if (session === undefined || (tenantId !== null && session.tenantId !== tenantId)) return false;
    session.door.drain(evictMs);
    return true;
  }

  /** A worker has said hello. What it says from now on goes to the answer. */
  attach(hello: WorkerHello, door: WorkerDoor): WorkerSays {
    const older = this.sessions.get(hello.workerId);
    if (older !== undefined) this.drop(older);
    this.departed.delete(hello.workerId);
    const { proven, unproven } = this.proveHolds(hello);
    const session = new Session(hello, proven, door, this.ports.clock.mono());
    session.isCordoned = this.cordoned.has(session.workerId);
    this.lastStreamNo += 1;
    session.streamNo = this.lastStreamNo;
    this.sessions.set(session.workerId, session);
    this.notes.connected(session);
    this.ports.log('info', 'A worker has come.', { worker: session.workerId, slots: session.slots });
    door.epochs(this.ports.directory.knownEpochs());
    this.disown(session, unproven);
    this.tellOwners(
      session,
      proven.map(({ claim }) => claim),
    );
    this.lending.offer(session);
    return {
      heartbeat: (no, holds, progress, clockMs) => {
        this.heartbeat(session, no, holds, progress ?? []);
        if (clockMs !== undefined && this.isCurrent(session)) this.notes.clock(session, clockMs);
      },
      requests: (requests) => this.takeRequests(session, requests),
      reports: (reports) => this.reports(session, reports),
      refusals: (refusals) => this.refusals(session, refusals),
      holdings: (epochs, holds) => this.holdings(session, epochs, holds),
      draining: () => {
        if (!session.isDraining) this.notes.draining(session);
        this.draining(session);
      },
      ahead: (count) => this.ahead(session, count),
      mostHolds: () => session.mostHolds,
      leaving: () => this.leaving(session),
      closed: () => this.closed(session),
    };
  }

  // ── from owners ──

  assign(from: NodeId, workerId: WorkerId, assignments: readonly Assignment[]): void {
    const session = this.sessions.get(workerId);
    if (session === undefined || this.departed.has(workerId)) {
      // The worker has gone elsewhere, or for good. Its owner learns it now instead of after two seconds.
      for (const { claim } of assignments) this.refuse(claim, workerId);
      return;
    }
    for (const { claim, booking, stream } of assignments) {
      if (session.isOfStream(stream)) session.endLoan(from, booking?.slots ?? 1, booking?.resources);
      session.hold(claim, booking);
    }
    // Claimed with a slot of the stream before: it fills one that may be lent from this stream.
    if (session.free < 0) this.lending.recall(session, -session.free);
    session.door.assign(assignments);
  }

  kill(workerId: WorkerId, kills: readonly Kill[]): void {
    this.sessions.get(workerId)?.door.kill(kills);
  }

  slotsReturned(from: NodeId, { workerId, count, room = NOTHING, stream }: Omit<SlotsReturned, 'kind'>): void {
    const session = this.sessions.get(workerId);
    if (session === undefined || !session.isOfStream(stream)) return;
    session.endLoan(from, count, room);
    this.lending.offer(session);
  }

  demand(from: NodeId, demand: readonly Demand[]): void {
    this.lending.demand(from, demand, this.sessions.values());
  }

  /** New owners: each worker is asked what it runs of their shards, and takes nothing of older owners from then on. */
  reconcile(epochs: readonly ShardEpoch[]): void {
    for (const session of this.sessions.values()) session.door.epochs(epochs);
  }

  /** A worker has left, here or at another node. All nodes remember it: the one that heard its last word may be killed. */
  hasDeparted(workerId: WorkerId): void {
    this.departed.set(workerId, this.ports.clock.mono());
    this.notes.forget(workerId);
  }

  /**
   * A node can be reached anew, or has taken shards, perhaps with claims of a worker that left before: the word that it left
   * was never heard there, and must not be waited for (I27).
   */
  tellDeparted(nodeId: NodeId): void {
    const { self, peers } = this.ports;
    for (const workerId of this.departed.keys()) {
      if (nodeId === self) this.command({ kind: 'WorkerLeft', gateway: self, workerId });
      else peers().tell(nodeId, { kind: 'left', workerId });
    }
  }

  /** An owner is gone, or has lost its memory: its loans are void. */
  ownerLost(nodeId: NodeId): void {
    this.lending.forget(nodeId);
    for (const session of this.sessions.values()) {
      session.endAllLoans(nodeId);
      this.lending.offer(session);
    }
  }

  /** The engine begins anew, knowing of no worker: it is told of all of them. */
  engineBegan(): void {
    // What threw in the engine before it is tried again ahead of this, loans too: none of them counts (I24).
    this.command({ kind: 'GatewayLost', gateway: this.ports.self });
    for (const session of this.sessions.values()) {
      session.endAllLoans(this.ports.self);
      this.tellOfShown(session);
      this.lending.offer(session);
    }
  }

  /** Tells the engine of this node what the worker has shown; what was sent to it since proves nothing (I25). */
  private tellOfShown({ workerId, shown, isDraining }: Session): void {
    const { self, clock, turns } = this.ports;
    const covers = [...(turns.current()?.shards.keys() ?? [])];
    const agoMs = clock.mono() - shown.at;
    const { holds } = shown;
    this.command({ kind: 'WorkerHeard', gateway: self, workerId, agoMs, holds, isDraining, covers, knows: [] });
  }

  // ── from workers ──

  /** Splits what hello says it holds by whether the tokens prove it. Claims of a restored database prove nothing any more (I64). */
  private proveHolds({ workerId, holds }: WorkerHello): { proven: HeldBooking[]; unproven: ClaimRef[] } {
    const [proven, unproven]: [HeldBooking[], ClaimRef[]] = [[], []];
    for (const { claim, token, booking } of holds) {
      // One that lies in a hundred cases lies in all: no time is spent on the rest.
      const isProven =
        unproven.length < MOST_DOUBTED && this.ports.tokens.check(shardOfRun(claim.runId), claim, workerId, token);
      if (isProven) proven.push({ claim, booking });
      else unproven.push(claim);
    }
    return { proven, unproven };
  }

  /** Tells the worker to stop what it does not own; until it has heard, its heartbeats may name it. */
  private disown(session: Session, claims: readonly ClaimRef[]): void {
    if (claims.length === 0) return;
    for (const claim of claims) session.answered.add(claimKey(claim));
    session.door.answer(claims.map((claim) => ({ claim, verdict: 'stale' })));
  }

  private heartbeat(
    session: Session,
    no: number,
    claims: readonly ClaimRef[],
    progress: readonly ClaimProgress[],
  ): void {
    if (!this.isCurrent(session)) return;
    // Its next stream proves what it holds, or is told that it does not.
    if (!claims.every((claim) => session.knowsOf(claimKey(claim)))) return this.dropUnproven(session);
    session.heardAt = this.ports.clock.mono();
    // What was answered is over, whatever a heartbeat on its way still shows.
    const isOpen = (claim: ClaimRef) => !session.answered.has(claimKey(claim));
    const holds = session.hearProgress(
      claims.filter(isOpen),
      progress.filter(({ claim }) => session.held.has(claimKey(claim))),
    );
    session.shown = { at: session.heardAt, holds };
    this.syncHeld(session, claims);
    session.door.heartbeatAnswered(no);
    this.tellOwners(session, holds);
  }

  private takeRequests(session: Session, requests: readonly WorkerRequest[]): void {
    if (!this.isCurrent(session)) return;
    session.heardAt = this.ports.clock.mono();
    this.requests.take(session, requests);
  }

  private holdings(session: Session, epochs: readonly ShardEpoch[], holds: readonly ClaimRef[]): void {
    if (!this.isCurrent(session)) return;
    // As for a heartbeat. An owner that is not told of a claim takes it for undelivered, and the worker may well run it (I17).
    if (!holds.every((claim) => session.knowsOf(claimKey(claim)))) return this.dropUnproven(session);
    session.heardAt = this.ports.clock.mono();
    for (const { shard, epoch } of epochs) session.knows.set(shard, epoch);
    const shards = new Set(epochs.map(({ shard }) => shard));
    const theirs = holds.filter((claim) => shards.has(shardOfRun(claim.runId)));
    this.tellOwners(session, theirs, shards);
  }

  private reports(session: Session, reports: readonly WorkerReport[]): void {
    if (!this.isCurrent(session)) return;
    session.heardAt = this.ports.clock.mono();
    for (const report of reports) this.report(session, report);
    this.lending.offer(session);
  }

  private report(session: Session, report: WorkerReport): void {
    const { claim, token } = report;
    const key = claimKey(claim);
    const wasKnown = session.knowsOf(key);
    session.release(key);
    if (session.reporting.has(key)) return;
    if (!this.ports.tokens.check(shardOfRun(claim.runId), claim, session.workerId, token)) {
      if (wasKnown) session.answered.add(key);
      session.door.answer([{ claim, verdict: 'stale' }]);
      return;
    }
    session.reporting.set(key, claim);
    const said = openOutput(claim, report, this.ports.tokens);
    const command = reportCommand(session.workerId, claim, said);
    this.ports.router.send(command, REPORT_DEADLINE_MS, (result) => {
      session.reporting.delete(key);
      if (result.status !== 'answered') {
        // The worker still holds it, and sends the report again.
        session.held.set(key, claim);
        return;
      }
      session.answered.add(key);
      if (this.isCurrent(session)) session.door.answer([{ claim, verdict: result.answer.ok ? 'accepted' : 'stale' }]);
    });
  }

  private refusals(session: Session, refusals: readonly { claim: ClaimRef; token: Uint8Array }[]): void {
    if (!this.isCurrent(session)) return;
    session.heardAt = this.ports.clock.mono();
    for (const { claim, token } of refusals) {
      session.release(claimKey(claim));
      if (!this.ports.tokens.check(shardOfRun(claim.runId), claim, session.workerId, token)) continue;
      this.refuse(claim, session.workerId);
    }
    this.lending.offer(session);
  }

  /** Fewer than before: what is lent beyond that comes back, unless a task has taken it. */
  private ahead(session: Session, count: number): void {
    if (!this.isCurrent(session)) return;
    session.ahead = count;
    if (session.free < 0) this.lending.recall(session, -session.free);
    else this.lending.offer(session);
  }

  private draining(session: Session): void {
    session.isDraining = true;
    this.lending.recallAll(session);
  }

  /** Its last word. Whatever was sent to it and is not reported was never started: it leaves with nothing. */
  private leaving(session: Session): void {
    if (!this.isCurrent(session) || this.departed.has(session.workerId)) return;
    this.draining(session);
    this.notes.left(session);
    this.hasDeparted(session.workerId);
    this.command({ kind: 'WorkerLeft', gateway: this.ports.self, workerId: session.workerId });
    this.ports.peers().tellAll({ kind: 'left', workerId: session.workerId });
  }

  private closed(session: Session): void {
    if (!this.isCurrent(session)) return;
    if (!this.departed.has(session.workerId)) this.notes.disconnected(session, 'its stream ended');
    this.drop(session);
  }

  // ── inside ──

  private isCurrent(session: Session): boolean {
    return this.sessions.get(session.workerId) === session;
  }

  private dropUnproven(session: Session): void {
    const { workerId } = session;
    this.ports.log('warn', 'A worker named claims that were not assigned to it on this stream.', { worker: workerId });
    this.notes.disconnected(session, 'it named claims that were not its own');
    this.drop(session, 'unproven');
  }

  private drop(session: Session, reason: 'closed' | 'unproven' = 'closed'): void {
    this.sessions.delete(session.workerId);
    session.isGone = true;
    this.lending.recallAll(session);
    session.door.close(reason);
  }

  /** Workers that are silent for the whole lease: their streams are of no use, though nobody closed them. */
  private sweep(): void {
    const { leaseMs, clock } = this.ports;
    for (const [workerId, at] of this.departed) {
      if (clock.mono() - at > KEPT_LEASES * leaseMs) this.departed.delete(workerId);
    }
    for (const session of [...this.sessions.values()]) {
      if (this.silentMs(session) <= leaseMs) continue;
      if (!this.departed.has(session.workerId)) this.notes.silent(session);
      this.drop(session);
    }
    this.notes.sweep();
  }

  /** What the worker does not hold fills no slot, once it has had time to arrive. */
  private syncHeld(session: Session, holds: readonly ClaimRef[]): void {
    const held = new Set(holds.map(claimKey));
    for (const key of session.answered) if (!held.has(key)) session.answered.delete(key);
    for (const key of session.held.keys()) {
      if (held.has(key)) session.absent.delete(key);
      else if (session.absent.has(key)) session.release(key);
      else session.absent.add(key);
    }
    this.lending.offer(session);
  }

  private refuse(claim: ClaimRef, workerId: WorkerId): void {
    this.ports.router.send({ kind: 'RefuseClaim', claim, workerId }, REPORT_DEADLINE_MS, () => undefined);
  }

  /** A heartbeat goes to every owner, each with what it owns: renewing costs no database anything. */
  private tellOwners(session: Session, holds: readonly ClaimRef[], only?: ReadonlySet<ShardNo>): void {
    const { self, directory, peers, turns } = this.ports;
    const agoMs = this.silentMs(session);
    const knows = [...session.knows].map(([shard, epoch]) => ({ shard, epoch }));
    for (const [nodeId, owned] of directory.shardsByNode()) {
      const covers = only === undefined ? owned : owned.filter((shard) => only.has(shard));
      if (covers.length === 0) continue;
      const theirs = new Set(covers);
      const part = {
        workerId: session.workerId,
        agoMs,
        holds: holds.filter((claim) => theirs.has(shardOfRun(claim.runId))),
        isDraining: session.isDraining,
        covers,
        knows: knows.filter(({ shard }) => theirs.has(shard)),
      };
      if (nodeId !== self) peers().tell(nodeId, { kind: 'heard', ...part } satisfies PeerMessage);
      else if (turns.current() !== null) this.command({ kind: 'WorkerHeard', gateway: self, ...part });
    }
  }

  private recallHere(session: Session, count: number): void {
    const { self, turns } = this.ports;
    // With no engine to answer they are free at once: another node waits for them.
    if (turns.current() === null) {
      session.endAllLoans(self);
      return this.slotsReturned(self, { workerId: session.workerId, count: 0 });
    }
    const { workerId, streamNo: stream } = session;
    this.command({ kind: 'RecallSlots', gateway: self, workerId, count, withRoom: true, stream });
  }

  /** Until recalled, or for one decision about one tenant. */
  private lendCommand(session: Session, loan: Loan, forTenant: TenantId | null): Command {
    const { self } = this.ports;
    const { count } = loan;
    const { workerId, queues, streamNo: stream } = session;
    const agoMs = this.silentMs(session);
    const standing = forTenant === null;
    const tenants = forTenant === null ? session.tenants : [forTenant];
    const weights = session.weights === null ? {} : { weights: session.weights };
    const only = loan.only === undefined ? {} : { only: loan.only };
    const whose = { gateway: self, workerId, tenants, queues, ...weights, ...only };
    const lent = { kind: 'LendSlots', ...whose, count, standing, stream, agoMs } as const;
    return session.traits === null ? lent : { ...lent, ...lentWith(session, loan, self) };
  }

  /** What is known of tenants has changed. */
  setTenants(tenants: readonly TenantRule[]): void {
    for (const { tenantId, weight } of tenants) this.lending.turns.setWeight(tenantId, weight);
  }

  /** Workers that are frozen take nothing new; what they run goes on. */
  setFrozen(frozen: readonly Frozen[]): void {
    this.cordoned = new Set(frozen.flatMap(({ kind, name }) => (kind === 'worker' ? [name] : [])));
    for (const session of this.workers()) this.cordon(session);
  }

  private cordon(session: Session): void {
    const isCordoned = this.cordoned.has(session.workerId);
    if (session.isCordoned === isCordoned) return;
    session.isCordoned = isCordoned;
    if (isCordoned) this.lending.recallAll(session);
    else this.lending.offer(session);
  }

  private command(command: Command): void {
    this.ports.turns.inbox.offer({ command, reply: null });
  }
}
