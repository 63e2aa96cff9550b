/** One worker process, from its start to its end. */
import { type Booking, type ClaimRef, hasAmounts, type Room, subtractAmounts, type WorkerId } from '@signalbox/engine';
import type {
  Assignment,
  AttemptRequestAnswer,
  ClaimProgress,
  Kill,
  ReportAnswer,
  ShardEpoch,
  WorkerRequest,
} from '@signalbox/host';
import { Attempt, type AttemptOwner, keyOf } from './attempt.ts';
import type { Chance } from './chance.ts';
import type { Environment } from './environment.ts';
import type { WorkerTold } from './happening.ts';
import type { Process } from './process.ts';
import type { WorkerFrame } from './worker-frames.ts';
import { type LineOwner, WorkerLine } from './worker-line.ts';
import { type AskSender, WorkerAsks } from './worker-requests.ts';
import type { WorkerShape } from './worker-shape.ts';

const RESEND_MS = 5_000;
/** Its resources are taken, or it is somebody's alone. */
export const NO_ROOM = 'no room';
const EARLY_HEARTBEAT_MS = 500;

/** The machine that the process runs on. */
interface WorkerMachine {
  readonly machine: string;
  readonly shape: WorkerShape;
  /** How often it says things twice. */
  readonly repeats: number;
  /** The process has ended by itself. */
  ended(): void;
}

export class WorkerLife implements AttemptOwner, AskSender, LineOwner {
  readonly workerId: WorkerId;
  readonly world: Environment;
  readonly process: Process;
  readonly chance: Chance;
  readonly shape: WorkerShape;
  phase: 'working' | 'draining' | 'left' = 'working';
  readonly #worker: WorkerMachine;
  readonly #line: WorkerLine;
  readonly #asks = new WorkerAsks(this);
  readonly #holds = new Map<string, Attempt>();
  readonly #over = new Set<string>();
  readonly #epochs = new Map<number, number>();

  constructor(world: Environment, worker: WorkerMachine, workerId: WorkerId, process: Process, chance: Chance) {
    this.world = world;
    this.#worker = worker;
    this.workerId = workerId;
    this.process = process;
    this.chance = chance;
    this.shape = worker.shape;
    this.#line = new WorkerLine(this, worker.machine);
  }

  begin(): void {
    this.tell({ what: 'began', claim: null, ...this.shape });
    this.#line.open();
  }

  tell(happening: WorkerTold): void {
    const { machine: worker } = this.#worker;
    this.world.history.add({ kind: 'worker', worker, workerId: this.workerId, ...happening });
  }

  died(): void {
    this.tell({ what: this.phase === 'left' ? 'left' : 'died', claim: null });
  }

  progress(): ClaimProgress[] {
    return [...this.#holds.values()].flatMap((attempt) => {
      const agoMs = attempt.isActive ? attempt.progressAgoMs : null;
      return agoMs === null ? [] : [{ claim: attempt.claim, agoMs, fraction: null, note: '' }];
    });
  }

  holds(shards?: ReadonlySet<number>): ClaimRef[] {
    const claims: ClaimRef[] = [];
    for (const attempt of this.#holds.values()) {
      if (shards !== undefined && !shards.has(attempt.assignment.shard)) continue;
      attempt.isNamed = true;
      claims.push(attempt.claim);
    }
    return claims;
  }

  /** The same, all of them, with what proves them. */
  proofs(): { readonly claim: ClaimRef; readonly token: Uint8Array; readonly booking?: Booking }[] {
    this.holds();
    return Array.from(this.#holds.values(), ({ claim, assignment: { token, booking }, isActive }) => ({
      claim,
      token: bytesOf(token),
      ...(booking !== undefined && isActive && { booking }),
    }));
  }

  /** What its attempts have left of its resources. */
  roomLeft(): Room {
    const room: Room = { ...this.shape.traits?.resources };
    for (const { assignment } of this.active) subtractAmounts(room, assignment.booking?.resources ?? {});
    return room;
  }

  get active(): Attempt[] {
    return [...this.#holds.values()].filter((attempt) => attempt.isActive);
  }

  get heldCount(): number {
    return this.#holds.size;
  }

  get isConnected(): boolean {
    return this.#line.isUp;
  }

  /** The line is up: what was not answered is said again. */
  cameUp(): void {
    this.tell({ what: 'connected', claim: null });
    for (const attempt of this.#holds.values()) if (attempt.report !== null) this.#report(attempt);
    this.#asks.sendAgain();
    if (this.phase === 'draining') this.#line.sayDraining();
  }

  wentDown(): void {
    this.tell({ what: 'lost the line', claim: null });
    this.leaveIfDone();
  }

  assign(assignments: readonly Assignment[]): void {
    for (const assignment of assignments) this.#take(assignment);
  }

  kill(kills: readonly Kill[]): void {
    for (const { claim, reason, graceMs } of kills) {
      const attempt = this.#holds.get(keyOf(claim));
      if (reason === 'preempted') attempt?.displace('preempted', graceMs);
      else attempt?.stop(reason === 'timeout' || reason === 'stuck' ? reason : 'cancelled', graceMs);
    }
  }

  answer(answers: readonly ReportAnswer[]): void {
    for (const { claim, verdict } of answers) {
      const attempt = this.#holds.get(keyOf(claim));
      if (attempt === undefined || (verdict === 'accepted' && attempt.report === null)) continue;
      this.tell({ what: 'verdict', claim, verdict });
      attempt.drop();
      this.#holds.delete(attempt.key);
      this.#over.add(attempt.key);
      this.#repeatLater(attempt);
    }
    this.leaveIfDone();
  }

  askAnswered(answers: readonly AttemptRequestAnswer[]): void {
    for (const answer of answers) this.#asks.answered(answer);
  }

  /** A user's function asks for something. */
  ask(attempt: Attempt, request: WorkerRequest['request']): void {
    this.#asks.ask(attempt, request);
  }

  say(frame: WorkerFrame): void {
    this.#line.say(frame);
  }

  /** How often it says things twice. */
  get repeats(): number {
    return this.#worker.repeats;
  }

  hearEpochs(epochs: readonly ShardEpoch[]): void {
    for (const { shard, epoch } of epochs) this.#epochs.set(shard, Math.max(epoch, this.#epochs.get(shard) ?? 0));
    const shards = new Set<number>(epochs.map(({ shard }) => shard));
    this.#line.say({ kind: 'holdings', epochs, holds: this.holds(shards) });
  }

  drain(): void {
    if (this.phase !== 'working') return;
    this.phase = 'draining';
    this.tell({ what: 'drains', claim: null });
    this.#line.sayDraining();
    this.leaveIfDone();
  }

  /** It is about to be taken away. */
  evict(): void {
    this.drain();
    for (const attempt of this.active) attempt.displace('evicted', 2_000);
  }

  leaveIfDone(): void {
    if (this.phase !== 'draining' || this.#holds.size > 0 || !this.#line.knowsOfDraining) return;
    this.phase = 'left';
    this.#line.say({ kind: 'leaving' });
    this.#line.close();
    this.process.after(100, () => this.#worker.ended());
  }

  /** A user's function has ended, or was stopped. */
  finished(attempt: Attempt): void {
    const { outcome, output } = attempt.report!;
    this.tell({ what: 'finished', claim: attempt.claim, outcome, output });
    this.#report(attempt);
  }

  killedByUser(): void {
    this.#worker.ended();
  }

  /** The lease may be over: whoever listens stops. */
  lapse(heardAt: number, leaseMs: number): void {
    for (const attempt of this.active) {
      if (this.process.mono() - Math.max(heardAt, attempt.arrivedAt) >= leaseMs) attempt.abort();
    }
  }

  #take(assignment: Assignment): void {
    const { claim, token } = assignment;
    this.tell({ what: 'got', claim, assignment });
    const key = keyOf(claim);
    const held = this.#holds.get(key);
    if (held !== undefined) {
      if (held.report !== null) this.#report(held);
      return;
    }
    if (this.#over.has(key)) return;
    const reason = this.#reasonToRefuse(assignment);
    if (reason !== null) {
      this.#over.add(key);
      this.tell({ what: 'refused', claim, reason });
      this.#line.say({ kind: 'refusals', refusals: [{ claim, token: bytesOf(token) }] });
      return;
    }
    this.#epochs.set(assignment.shard, Math.max(assignment.epoch, this.#epochs.get(assignment.shard) ?? 0));
    const attempt = new Attempt(this, assignment);
    this.#holds.set(key, attempt);
    this.tell({ what: 'started', claim, assignment });
    attempt.start();
    this.process.after(EARLY_HEARTBEAT_MS, () => {
      if (!attempt.isNamed && this.#holds.has(key)) this.#line.heartbeat();
    });
  }

  #reasonToRefuse({ shard, epoch, booking }: Assignment): string | null {
    if (this.phase !== 'working') return 'stopping';
    if (epoch < (this.#epochs.get(shard) ?? 0)) return 'a higher epoch is known';
    if (this.active.length >= this.shape.slots) return 'no slot is free';
    if (this.active.some(({ assignment }) => assignment.booking?.exclusive === true)) return NO_ROOM;
    if (booking === undefined) return null;
    if (booking.exclusive && this.active.length > 0) return NO_ROOM;
    return hasAmounts(this.roomLeft(), booking.resources) ? null : NO_ROOM;
  }

  #report(attempt: Attempt): void {
    attempt.isNamed = true;
    attempt.sendCount += 1;
    const { sendCount } = attempt;
    const report = attempt.report!;
    this.#line.say({ kind: 'reports', reports: [report] });
    if (this.chance.happens(this.#worker.repeats)) this.#line.say({ kind: 'reports', reports: [report] });
    this.process.after(RESEND_MS, () => {
      if (this.#holds.get(attempt.key) !== attempt || sendCount !== attempt.sendCount) return;
      this.#report(attempt);
    });
  }

  /** A report that was answered long ago comes once more: late, repeated, over whatever line there is. */
  #repeatLater({ report }: Attempt): void {
    if (report === null || !this.chance.happens(this.#worker.repeats)) return;
    this.process.after(this.chance.wait(4_000), () => this.#line.say({ kind: 'reports', reports: [report] }));
  }
}

function bytesOf(token: string): Uint8Array {
  return new Uint8Array(Buffer.from(token, 'base64'));
}
