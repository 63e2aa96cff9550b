/** The workers of all nodes. Each node knows the workers whose streams end at it, and is asked for them. */
import {
  addBlocker,
  type Blocker,
  type LimitName,
  MOST_AHEAD,
  type NodeId,
  type RunId,
  type SlotsSeen,
  type TenantId,
  type WaitingTask,
  type WaitSeen,
  type WorkerId,
} from '@signalbox/engine';
import type { Gateway } from '../gateway/gateway.ts';
import type { Reservation } from '../gateway/session.ts';
import type { PeerAnswer, PeerQuestion, ProgressSeen, QueueSeen, Served, WorkerSeen } from '../peer/message.ts';
import type { Peers } from '../peer/peers.ts';
import type { Clock } from '../ports.ts';
import { sumQueues } from './queues.ts';

interface FleetPorts {
  readonly self: NodeId;
  readonly clock: Clock;
  readonly gateway: Pick<Gateway, 'workers' | 'silentMs' | 'drain' | 'progressOf'>;
  readonly peers: () => Pick<Peers, 'ask'>;
  /** The queues in the shards of this node. */
  readonly queues: () => readonly QueueSeen[];
  /** Who has slots of a limit, in the shards of this node. */
  readonly slots: (limit: LimitName, most: number) => SlotsSeen;
  /** What holds back work of a tenant, in the shards of this node. */
  readonly blockers: (tenantId: TenantId) => readonly Blocker[];
  /** What a task waits for, in the shards of this node. */
  readonly wait: (task: WaitingTask) => WaitSeen;
  /** The living nodes, including this one. */
  readonly nodes: () => readonly NodeId[];
}

/** A node that does not answer by then is named, and not waited for. */
const PATIENCE_MS = 1_000;
/** Heartbeats come more often than this. */
const SILENT_MS = 10_000;
/** How many attempts of one worker are listed. */
const MOST_HOLDS = 100;
/** How many attempts that have slots of a limit are listed. */
const MOST_HOLDERS = 1_000;

export interface FleetSeen {
  readonly workers: WorkerSeen[];
  /** Nodes that gave no answer. */
  readonly missing: NodeId[];
}

export interface QueuesSeen {
  readonly queues: QueueSeen[];
  /** Nodes that gave no answer: the counts are too low. */
  readonly missing: NodeId[];
}

export interface BlockersSeen {
  readonly blockers: readonly Blocker[];
  /** Nodes that gave no answer. */
  readonly missing: readonly NodeId[];
}

export interface TaskWaitSeen extends WaitSeen {
  /** Nodes that gave no answer. */
  readonly missing: readonly NodeId[];
}

export class Fleet {
  private readonly ports: FleetPorts;

  constructor(ports: FleetPorts) {
    this.ports = ports;
  }

  async list(): Promise<FleetSeen> {
    const here = this.here();
    const answers = await this.askOthers({ what: 'workers' });
    const found = new Map<WorkerId, WorkerSeen>();
    const missing: NodeId[] = [];
    for (const [nodeId, answer] of answers) if (answer?.what !== 'workers') missing.push(nodeId);
    const all = [here, ...[...answers.values()].map((answer) => (answer?.what === 'workers' ? answer.workers : []))];
    for (const worker of all.flat()) {
      const known = found.get(worker.workerId);
      // One that has moved on may leave a stream behind that nobody closed: where it was heard last, there it is.
      if (known === undefined || worker.silentMs < known.silentMs) found.set(worker.workerId, worker);
    }
    const workers = [...found.values()].sort((a, b) => compare(a.name, b.name) || compare(a.workerId, b.workerId));
    return { workers, missing };
  }

  async queues(): Promise<QueuesSeen> {
    const lists = [this.ports.queues()];
    const missing: NodeId[] = [];
    for (const [nodeId, answer] of await this.askOthers({ what: 'queues' })) {
      if (answer?.what === 'queues') lists.push(answer.queues);
      else missing.push(nodeId);
    }
    return { queues: sumQueues(lists), missing };
  }

  /** Tells a worker, wherever it is, to take nothing new and to leave when it is done, or within a time. False when no node knows it. */
  async drain(workerId: WorkerId, tenantId: TenantId | null, evictMs = 0): Promise<boolean> {
    // All are told, also when it was found here: it may be on its way from one gateway to another.
    const isHere = this.ports.gateway.drain(workerId, tenantId, evictMs);
    const answers = await this.askOthers({ what: 'drain', workerId, tenantId, evictMs });
    return isHere || [...answers.values()].some((answer) => answer?.what === 'drain' && answer.isFound);
  }

  /** What running attempts of a run have told, the newest word of each. A node that gives no answer is not waited for. */
  async progressOf(runId: RunId): Promise<ProgressSeen[]> {
    const answers = await this.askOthers({ what: 'progress', runId });
    const there = [...answers.values()].flatMap((answer) => (answer?.what === 'progress' ? answer.told : []));
    const newest = new Map<string, ProgressSeen>();
    for (const told of [...this.ports.gateway.progressOf(runId), ...there]) {
      const key = `${told.taskNo}/${told.fence}`;
      const known = newest.get(key);
      if (known === undefined || told.agoMs < known.agoMs) newest.set(key, told);
    }
    return [...newest.values()];
  }

  /** Who has slots of a limit, over all nodes. */
  async slots(limit: LimitName): Promise<SlotsSeen & { readonly missing: readonly NodeId[] }> {
    const answers = await this.askOthers({ what: 'slots', limit });
    const missing = [...answers].flatMap(([nodeId, answer]) => (answer?.what === 'slots' ? [] : [nodeId]));
    const there = [...answers.values()].flatMap((answer) => (answer?.what === 'slots' ? [answer.seen] : []));
    const all = [this.ports.slots(limit, MOST_HOLDERS), ...there];
    const holders = all.flatMap((seen) => seen.holders).sort((a, b) => a.since - b.since);
    return {
      holders: holders.slice(0, MOST_HOLDERS),
      used: all.reduce((sum, { used }) => sum + used, 0),
      waiting: all.reduce((sum, { waiting }) => sum + waiting, 0),
      missing,
    };
  }

  /** What holds back work of a tenant, over all nodes. */
  async blockers(tenantId: TenantId): Promise<BlockersSeen> {
    const answers = await this.askOthers({ what: 'blockers', tenantId });
    const missing = [...answers].flatMap(([nodeId, answer]) => (answer?.what === 'blockers' ? [] : [nodeId]));
    const there = [...answers.values()].flatMap((answer) => (answer?.what === 'blockers' ? answer.blockers : []));
    const found = new Map<string, Blocker>();
    for (const one of [...this.ports.blockers(tenantId), ...there]) addBlocker(found, one);
    return { blockers: [...found.values()], missing };
  }

  /** What a task waits for: the node that has its run knows what holds it back, and each node what is before it. */
  async wait(task: WaitingTask): Promise<TaskWaitSeen> {
    const answers = await this.askOthers({ what: 'wait', task });
    const missing = [...answers].flatMap(([nodeId, answer]) => (answer?.what === 'wait' ? [] : [nodeId]));
    const there = [...answers.values()].flatMap((answer) => (answer?.what === 'wait' ? answer.seen : []));
    const all = [this.ports.wait(task), ...there];
    const ahead = all.reduce((sum, one) => sum + one.ahead, 0);
    const blockers = all.find((one) => one.blockers !== null)?.blockers ?? null;
    return { blockers, ahead: Math.min(ahead, MOST_AHEAD), missing };
  }

  /** How many slots the workers of all nodes have for each of these; null: some node gave no answer. */
  async capacity(of: readonly Served[]): Promise<readonly number[] | null> {
    const answers = await this.askOthers({ what: 'capacity', of });
    const sums = this.capacityHere(of);
    for (const answer of answers.values()) {
      if (answer?.what !== 'capacity') return null;
      answer.slots.forEach((slots, i) => {
        sums[i] = (sums[i] ?? 0) + slots;
      });
    }
    return sums;
  }

  /** What another node wants to know of this one. */
  answer(question: PeerQuestion): PeerAnswer {
    if (question.what === 'workers') return { what: 'workers', workers: this.here() };
    if (question.what === 'queues') return { what: 'queues', queues: this.ports.queues() };
    if (question.what === 'reach') return { what: 'reach' };
    if (question.what === 'blockers') return { what: 'blockers', blockers: this.ports.blockers(question.tenantId) };
    if (question.what === 'wait') return { what: 'wait', seen: this.ports.wait(question.task) };
    if (question.what === 'slots') return { what: 'slots', seen: this.ports.slots(question.limit, MOST_HOLDERS) };
    if (question.what === 'capacity') return { what: 'capacity', slots: this.capacityHere(question.of) };
    if (question.what === 'progress') {
      return { what: 'progress', told: this.ports.gateway.progressOf(question.runId) };
    }
    const { workerId, tenantId, evictMs } = question;
    return { what: 'drain', isFound: this.ports.gateway.drain(workerId, tenantId, evictMs) };
  }

  private here(): WorkerSeen[] {
    const { gateway, self } = this.ports;
    return gateway.workers().map((session) => ({
      workerId: session.workerId,
      tenantId: session.tenantId,
      tenants: session.tenants,
      name: session.name,
      nodeId: self,
      queues: session.queues,
      ...(session.weights === null ? {} : { weights: session.weights }),
      slots: session.slots,
      ...(session.traits === null ? {} : { traits: session.traits, free: session.untaken() }),
      // What it has ahead of its slots has not begun.
      running: Math.min(session.slots, session.held.size),
      holds: [...session.held.values()].slice(0, MOST_HOLDS),
      draining: session.isDraining,
      ...(session.version === undefined ? {} : { version: session.version }),
      ...(session.isCordoned ? { cordoned: true } : {}),
      ...(session.reserved === null ? {} : { reserved: reservedFor(session.reserved) }),
      silentMs: Math.round(gateway.silentMs(session)),
    }));
  }

  /** Without workers that take nothing new, and streams that nobody has closed and whose worker may be elsewhere by now. */
  private capacityHere(of: readonly Served[]): number[] {
    const { gateway } = this.ports;
    const taking = gateway
      .workers()
      .filter((one) => !one.isDraining && !one.isCordoned && gateway.silentMs(one) < SILENT_MS);
    return of.map(({ tenantId, queues }) => {
      const serving = taking.filter((session) => queues.some((queue) => session.serves(tenantId, queue)));
      return serving.reduce((sum, { slots }) => sum + slots, 0);
    });
  }

  /** By node; null for one that gave no answer. */
  private async askOthers(question: PeerQuestion): Promise<Map<NodeId, PeerAnswer | null>> {
    const { self, nodes } = this.ports;
    const others = nodes().filter((nodeId) => nodeId !== self);
    const answers = await Promise.all(others.map((nodeId) => this.ask(nodeId, question)));
    return new Map(others.map((nodeId, i) => [nodeId, answers[i] ?? null]));
  }

  private ask(nodeId: NodeId, question: PeerQuestion): Promise<PeerAnswer | null> {
    return new Promise((resolve) => {
      const cancel = this.ports.clock.after(PATIENCE_MS, () => {
        forget();
        resolve(null);
      });
      const forget = this.ports.peers().ask(nodeId, question, (answer) => {
        cancel();
        resolve(answer);
      });
    });
  }
}

function reservedFor({ tenantId, queue, requestKey }: Reservation): NonNullable<WorkerSeen['reserved']> {
  return { tenantId, queue, requestKey };
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
