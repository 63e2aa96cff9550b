/** A worker's stream to its gateway, made again whenever it is lost; heartbeats and what their answers prove. */
import type { Booking, ClaimRef, TenantId, WorkerId } from '@signalbox/engine';
import type { Assignment, AttemptRequestAnswer, ClaimProgress, Kill, ReportAnswer, ShardEpoch } from '@signalbox/host';
import type { Chance } from './chance.ts';
import type { Environment } from './environment.ts';
import type { Line } from './line.ts';
import { openLine } from './node-lines.ts';
import type { Process } from './process.ts';
import type { GatewayFrame, WorkerFrame } from './worker-frames.ts';
import type { WorkerShape } from './worker-shape.ts';

/** All users of a history are one tenant's. */
const TENANT = 1 as TenantId;

const HEARTBEAT_MS = 3_000;
const WELCOME_MS = 5_000;
const FIRST_WELCOME_MS = 1_500;
const PING_MS = 1_000;
/** As in the worker: a gateway that says nothing for so long is taken for hung. */
const HUNG_MS = 3 * PING_MS;

/** The worker process that speaks over the line. */
export interface LineOwner {
  readonly workerId: WorkerId;
  readonly world: Environment;
  readonly process: Process;
  readonly chance: Chance;
  readonly shape: WorkerShape;
  readonly phase: 'working' | 'draining' | 'left';
  /** The claims that it holds. */
  holds(): ClaimRef[];
  /** The same with what proves them. */
  proofs(): { readonly claim: ClaimRef; readonly token: Uint8Array; readonly booking?: Booking }[];
  progress(): ClaimProgress[];
  cameUp(): void;
  wentDown(): void;
  assign(assignments: readonly Assignment[]): void;
  kill(kills: readonly Kill[]): void;
  answer(answers: readonly ReportAnswer[]): void;
  askAnswered(answers: readonly AttemptRequestAnswer[]): void;
  hearEpochs(epochs: readonly ShardEpoch[]): void;
  drain(): void;
  leaveIfDone(): void;
  /** The lease may be over: whoever listens stops. */
  lapse(heardAt: number, leaseMs: number): void;
}

export class WorkerLine {
  readonly #life: LineOwner;
  readonly #machine: string;
  #line: Line | null = null;
  isUp = false;
  #gateways: readonly string[];
  #next: number;
  #failures = 0;
  /** Tries since the last welcome. */
  #tries = 0;
  /** When anything came from the gateway. */
  #anythingAt = 0;
  #lastNo = 0;
  #lastSentAt = 0;
  readonly #pending = new Map<number, number>();
  /** When the last heartbeat was sent that has been answered. */
  #heardAt: number;
  #drainNo: number | null = null;
  #answeredNo = 0;

  constructor(life: LineOwner, machine: string) {
    this.#life = life;
    this.#machine = machine;
    this.#gateways = life.world.nodes.map((node) => node.machine);
    this.#next = life.chance.int(0, this.#gateways.length - 1);
    this.#heardAt = life.process.mono();
  }

  open(): void {
    const { process, world, workerId, shape } = this.#life;
    if (this.#life.phase === 'left') return;
    const gateway = this.#gateways[this.#next % this.#gateways.length]!;
    const sentAt = process.mono();
    const hello = {
      workerId,
      tenantId: TENANT,
      tenants: shape.tenants,
      name: this.#machine,
      queues: shape.queues,
      ...(shape.weights !== undefined && { weights: shape.weights }),
      slots: shape.slots,
      ...(shape.traits !== undefined && { traits: shape.traits }),
      holds: this.#life.proofs(),
      draining: this.#life.phase !== 'working',
    };
    const isCurrent = () => this.#line === line;
    const line: Line = openLine(
      world,
      gateway,
      { opens: 'worker', hello },
      {
        at: this.#machine,
        onFrame: (frame) =>
          process.deliver(() => {
            if (isCurrent()) this.#receive(frame as GatewayFrame, sentAt);
          }),
        onClose: () =>
          process.deliver(() => {
            if (isCurrent()) this.#lose();
          }),
      },
    );
    this.#line = line;
    const rounds = Math.floor(this.#tries / this.#gateways.length);
    this.#tries += 1;
    process.after(Math.min(WELCOME_MS, FIRST_WELCOME_MS * 2 ** Math.min(rounds, 20)), () => {
      if (isCurrent() && !this.isUp) this.#lose();
    });
  }

  say(frame: WorkerFrame): void {
    if (this.isUp && this.#life.process.isAlive) this.#line?.send(0, frame);
  }

  heartbeat(): void {
    if (!this.isUp) return;
    this.#lastNo += 1;
    this.#lastSentAt = this.#life.process.mono();
    this.#pending.set(this.#lastNo, this.#lastSentAt);
    this.say({ kind: 'heartbeat', no: this.#lastNo, holds: this.#life.holds(), progress: this.#life.progress() });
  }

  sayDraining(): void {
    if (!this.isUp) return;
    this.say({ kind: 'draining' });
    this.#drainNo = this.#lastNo + 1;
    this.heartbeat();
  }

  /** The gateway has answered after it knew: no assignment is on its way any more. */
  get knowsOfDraining(): boolean {
    return this.isUp && this.#drainNo !== null && this.#answeredNo >= this.#drainNo;
  }

  close(): void {
    this.#line?.close(0);
    this.#line = null;
    this.isUp = false;
  }

  #receive(frame: GatewayFrame, helloSentAt: number): void {
    this.#anythingAt = this.#life.process.mono();
    switch (frame.kind) {
      case 'welcome':
        this.isUp = true;
        this.#tries = 0;
        this.#gateways = [...new Set([this.#gateways[this.#next % this.#gateways.length]!, ...frame.machines])];
        this.#next = 0;
        this.#pending.clear();
        this.#heardAt = Math.max(this.#heardAt, helloSentAt);
        this.#lastSentAt = helloSentAt;
        this.#drainNo = null;
        this.#beatOn(this.#line);
        this.#pingOn(this.#line, 0);
        return this.#life.cameUp();
      case 'assign':
        return this.#life.assign(frame.assignments);
      case 'kill':
        return this.#life.kill(frame.kills);
      case 'answer':
        return this.#life.answer(frame.answers);
      case 'askAnswers':
        return this.#life.askAnswered(frame.answers);
      case 'epochs':
        return this.#life.hearEpochs(frame.epochs);
      case 'heartbeatAnswered':
        return this.#answered(frame.no);
      case 'drain':
        return this.#life.drain();
      case 'pingAnswered':
        return;
    }
  }

  #pingOn(line: Line | null, askedAt: number): void {
    const { process } = this.#life;
    process.after(PING_MS, () => {
      if (this.#line !== line || this.#life.phase === 'left') return;
      // After a pause of its own it asks once more before it believes the gateway hung.
      const hasListened = process.mono() - askedAt < 2 * PING_MS;
      if (hasListened && process.mono() - this.#anythingAt >= HUNG_MS) return this.#lose(true);
      this.say({ kind: 'ping' });
      this.#pingOn(line, process.mono());
    });
  }

  #beatOn(line: Line | null): void {
    const { process, world } = this.#life;
    const waitMs = Math.max(1, this.#lastSentAt + HEARTBEAT_MS - process.mono());
    process.after(waitMs, () => {
      if (this.#line !== line || this.#life.phase === 'left') return;
      const { leaseMs } = world.settings;
      this.#life.lapse(this.#heardAt, leaseMs);
      if (process.mono() - this.#heardAt >= 3 * HEARTBEAT_MS) return this.#lose();
      if (process.mono() - this.#lastSentAt >= HEARTBEAT_MS) this.heartbeat();
      this.#beatOn(line);
    });
  }

  #answered(no: number): void {
    for (const [sentNo, sentAt] of this.#pending) {
      if (sentNo > no) continue;
      this.#heardAt = Math.max(this.#heardAt, sentAt);
      this.#pending.delete(sentNo);
    }
    this.#answeredNo = Math.max(this.#answeredNo, no);
    this.#failures = 0;
    this.#life.leaveIfDone();
  }

  #lose(isHung = false): void {
    const wasUp = this.isUp;
    this.close();
    this.#failures += 1;
    if (!wasUp || isHung || this.#failures > 1) this.#next += 1;
    if (wasUp) this.#life.wentDown();
    const { process, chance, world } = this.#life;
    const waitMs = chance.between(50, Math.min(2_000, 50 * 2 ** (this.#failures + 1)));
    process.after(waitMs, () => {
      this.#life.lapse(this.#heardAt, world.settings.leaseMs);
      if (this.#line === null) this.open();
    });
  }
}
