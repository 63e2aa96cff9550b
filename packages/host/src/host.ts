/**
 * One node: the scheduling loop over the shards that it owns, the gateway of its workers, and its links to other nodes. This
 * file only connects them. Read `turn/turns.ts` for the loop and `ownership/ownership.ts` for ownership.
 */
import {
  blockersOf,
  type Change,
  type Command,
  demandOf,
  type EngineSettings,
  type Epoch,
  type KeptRule,
  type LimitName,
  type NodeId,
  type QuotaRule,
  type RunId,
  type State,
  shardOfCommand,
  slotsOf,
  type TenantId,
  type WaitingTask,
  type WorkerId,
  waitOf,
} from '@signalbox/engine';
import type { CapRule, Frozen, NodeSeen, Store, TenantRule } from '@signalbox/store';
import { Assets } from './assets/assets.ts';
import { AttentiveClock } from './attentive-clock.ts';
import { Children } from './children/children.ts';
import { Directory } from './directory.ts';
import { Effects } from './effects.ts';
import { Fleet, type FleetSeen, type QueuesSeen } from './fleet/fleet.ts';
import { QueueCounts } from './fleet/queues.ts';
import { StartRates } from './fleet/start-rates.ts';
import { Gateway } from './gateway/gateway.ts';
import { KeptSlots } from './limits/kept-slots.ts';
import { Limits } from './limits/limits.ts';
import { type HostMetrics, Metrics } from './metrics/metrics.ts';
import { LOAD_SIZES, type LoadSizes } from './ownership/load.ts';
import { Ownership } from './ownership/ownership.ts';
import { Payloads } from './payloads.ts';
import type { ForwardResult, PeerMessage, ProgressSeen } from './peer/message.ts';
import { Peers } from './peer/peers.ts';
import { Reach } from './peer/reach.ts';
import {
  type ChildParams,
  type Clock,
  type FleetHistory,
  type LeaseRenewer,
  type Log,
  NO_HISTORY,
  type PeerNetwork,
  type Random,
  type Tokens,
  type Unfit,
} from './ports.ts';
import { type Routed, Router } from './router.ts';
import { Tenants } from './tenants/tenants.ts';
import { MOST_LIVE_RUNS } from './turn/shedding.ts';
import { Turns, WORTH_A_COMMIT } from './turn/turns.ts';

interface HostOptions {
  readonly nodeId: NodeId;
  readonly peerAddress: string;
  readonly gatewayAddress: string;
  /** Where it takes logs and gives out bundles; empty when it does neither. */
  readonly dataAddress: string;
  /** Of the product, for lists of servers. */
  readonly version: string;
  readonly settings: EngineSettings;
  /** How much must wait before a commit is sent behind another one. The simulator draws it, so that commits overlap there too. */
  readonly worthACommit?: number;
  /** Live runs beyond which this server refuses submissions. */
  readonly mostLiveRuns?: number;
  /** How much a takeover loads before it serves. The simulator draws it, so that a part comes later there too. */
  readonly loadSizes?: LoadSizes;
}

interface HostPorts {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly tokens: Tokens;
  readonly network: PeerNetwork;
  readonly renewer: LeaseRenewer;
  readonly childParams: ChildParams;
  /** Kept nowhere without it. */
  readonly history?: FleetHistory;
  readonly unfit: Unfit;
  /** Of all tenants. */
  readonly readTenants: () => Promise<readonly TenantRule[]>;
  /** Caps of tenants, queues and the cluster that are set, or were. */
  readonly readCaps: () => Promise<readonly CapRule[]>;
  readonly readQuotas: () => Promise<readonly QuotaRule[]>;
  readonly readFrozen: () => Promise<readonly Frozen[]>;
  /** Slots that are kept for a dag or a tenant now. */
  readonly readKept: () => Promise<readonly KeptRule[]>;
}

const NO_DEMAND = '[]';
const RETELL_MS = 500;

export class Host {
  readonly nodeId: NodeId;
  readonly gateway: Gateway;
  readonly directory = new Directory();
  private readonly turns: Turns;
  private readonly router: Router;
  private readonly peers: Peers;
  private readonly ownership: Ownership;
  private readonly clock: AttentiveClock;
  private readonly fleet: Fleet;
  private readonly reach: Reach;
  private readonly tenants: Tenants;
  private readonly counts = new Metrics();
  private toldDemand = NO_DEMAND;
  private cancelTelling: (() => void) | null = null;
  private isStopped = false;
  private nodes: readonly NodeSeen[] = [];

  constructor(options: HostOptions, given: HostPorts) {
    const { nodeId, settings, worthACommit = WORTH_A_COMMIT, loadSizes = LOAD_SIZES } = options;
    const { mostLiveRuns = MOST_LIVE_RUNS } = options;
    const clock = new AttentiveClock(given.clock);
    const { history = NO_HISTORY } = given;
    const ports = { ...given, clock, history };
    const { log } = ports;
    this.clock = clock;
    this.nodeId = nodeId;
    const { directory } = this;
    const peers = () => this.peers;
    const payloads = new Payloads(ports.store);
    this.turns = new Turns({
      ...ports,
      worthACommit,
      mostLiveRuns,
      loadSizes,
      onCommitted: (changes, batch) => {
        keepPayloads(payloads, changes);
        this.counts.committed(changes, batch);
      },
      onEffects: (sent) => effects.send(sent),
      onTurn: (state) => this.tellDemand(state),
      onFailure: (reason) => this.ownership.recover(reason),
    });
    const { turns } = this;
    this.router = new Router(nodeId, { turns, peers, directory, clock });
    const { router } = this;
    this.gateway = new Gateway({ ...ports, self: nodeId, router, turns, peers, directory, leaseMs: settings.leaseMs });
    this.tenants = new Tenants({
      ...ports,
      tell: (command) => turns.tell(command),
      onRead: (tenants) => this.gateway.setTenants(tenants),
      onFrozen: (frozen) => this.gateway.setFrozen(frozen),
      onKept: (kept, caps) => void keptSlots.settle(kept, caps),
    });
    const keptSlots = new KeptSlots({
      owns: (shard) => turns.owns(shard),
      tell: (command) => turns.tell(command),
      capacity: (of) => this.fleet.capacity(of),
    });
    const children = new Children({ ...ports, payloads, router });
    const assets = new Assets({ ...ports, router });
    const starts = new StartRates(clock);
    const queueCounts = new QueueCounts(starts, clock);
    const limits = new Limits({ router, turns });
    const own = { self: nodeId, gateway: this.gateway, peers, payloads, router, children, assets, starts, limits };
    const effects = new Effects({ ...ports, ...own });
    this.peers = new Peers(nodeId, ports, {
      onForward: (_from, epoch, command, reply, isVoid) => {
        if (!this.ownsAt(command, epoch)) return reply({ status: 'not_done', reason: 'not_owner' });
        const isTaken = turns.inbox.offer({
          command,
          isVoid: () => isVoid() || this.isOvertaken(command, epoch, reply),
          reply,
        });
        if (!isTaken) reply({ status: 'not_done', reason: 'overloaded' });
      },
      onQuestion: (question) => this.fleet.answer(question),
      onNotice: (from, message) => this.takeNotice(from, message),
      onLinked: (other) => this.introduce(other),
      onCalled: (other) => this.introduce(other),
      onUnlinked: (other) => this.loseNode(other),
    });
    const nodes = () => this.nodes.map((node) => node.nodeId);
    this.fleet = new Fleet({
      ...{ self: nodeId, clock, gateway: this.gateway, peers, nodes },
      queues: () => queueCounts.of(turns.current()),
      blockers: (tenantId) => {
        const state = turns.current();
        return state === null ? [] : blockersOf(state, tenantId);
      },
      wait: (task) => {
        const state = turns.current();
        return state === null ? { blockers: null, ahead: 0 } : waitOf(state, task);
      },
      slots: (limit, most) => {
        const state = turns.current();
        return state === null ? { holders: [], used: 0, waiting: 0 } : slotsOf(state, limit, most);
      },
    });
    const hasWorkers = () => this.gateway.workers().some(({ isDraining }) => !isDraining);
    this.reach = new Reach({ self: nodeId, clock, peers, nodes, hasWorkers });
    this.ownership = new Ownership({
      ...ports,
      node: options,
      turns,
      directory,
      settings: { ...settings, areWaitsTold: () => this.ownership.areWaitsTold() },
      loadSizes,
      reach: () => this.reach.seen(),
      onNodes: (nodes) => {
        this.nodes = nodes;
        this.peers.update(nodes);
      },
      onBegan: () => {
        this.toldDemand = '';
        // Before any slot is lent: nothing of a suspended tenant may begin.
        this.tenants.tellEngine();
        this.gateway.engineBegan();
      },
      onTaken: (epochs) => {
        payloads.forgetAll();
        this.gateway.reconcile(epochs);
        this.gateway.tellDeparted(nodeId);
        this.peers.tellAll({ kind: 'reconcile', epochs });
      },
      onReleased: () => this.peers.tellAll({ kind: 'released' }),
      onDropped: () => {
        this.counts.reloaded();
        this.gateway.ownerLost(nodeId);
      },
    });
    log('info', 'The node begins.', { nodeId });
  }

  async start(): Promise<void> {
    this.clock.start();
    this.gateway.start();
    this.reach.start();
    this.keepTelling();
    await this.tenants.start();
    if (this.isStopped) return;
    await this.ownership.start();
  }

  /** Leaves in order: shards go to others within a second, workers find another gateway (I18, I27). */
  async stop(): Promise<void> {
    this.isStopped = true;
    await this.ownership.stop();
    this.gateway.stop();
    this.reach.stop();
    this.tenants.stop();
    this.peers.stop();
    this.cancelTelling?.();
    this.clock.stop();
  }

  /** Drops what is in memory and loads it again: what it was computed from has changed. */
  reload(reason: string): void {
    this.ownership.recover(reason);
  }

  /** Decides on a command, here or where its shard is. */
  ask(command: Command, deadlineMs: number): Promise<Routed> {
    return this.router.ask(command, deadlineMs);
  }

  /** The gateway addresses of all living nodes that are not stopping, including this one. */
  gateways(): string[] {
    return this.nodes.flatMap(({ leaving, gatewayAddress }) => (leaving ? [] : [gatewayAddress]));
  }

  /** The workers of all nodes. `missing` are nodes that did not answer within a second. */
  listWorkers(): Promise<FleetSeen> {
    return this.fleet.list();
  }

  /** What the queues of all nodes have to do. `missing` are nodes that did not answer within a second. */
  listQueues(): Promise<QueuesSeen> {
    return this.fleet.queues();
  }

  /**
   * Tells a worker, wherever its stream ends, to finish what it has and leave; with a time, to stop what it has within it. False when no node knows it, or when it is
   * another tenant's than the one named.
   */
  drainWorker(workerId: WorkerId, tenantId: TenantId | null = null, evictMs = 0): Promise<boolean> {
    return this.fleet.drain(workerId, tenantId, evictMs);
  }

  /** What holds back work of a tenant, over all nodes. */
  blockersOf(tenantId: TenantId): ReturnType<Fleet['blockers']> {
    return this.fleet.blockers(tenantId);
  }

  /** What a task waits for, over all nodes. */
  waitOf(task: WaitingTask): ReturnType<Fleet['wait']> {
    return this.fleet.wait(task);
  }

  /** Who has slots of a limit, over all nodes. */
  slotsOf(limit: LimitName): ReturnType<Fleet['slots']> {
    return this.fleet.slots(limit);
  }

  /** The progress that running attempts of a run have reported, on all nodes. */
  progressOf(runId: RunId): Promise<ProgressSeen[]> {
    return this.fleet.progressOf(runId);
  }

  /** Plain numbers, gathered when asked for. */
  metrics(): HostMetrics {
    return this.counts.seen(this.turns.current(), this.gateway.workers(), this.turns.inbox.size);
  }

  /** How many shards this node serves right now. */
  shardsServed(): number {
    return this.turns.current()?.shards.size ?? 0;
  }

  /** The working set as of the last decision: for readers inside this process, who must not alter it. */
  inspect(): State | null {
    return this.turns.current();
  }

  /** Workers whose streams end here and that are kept for a large task, each with the class of that task. */
  reservations(): ReadonlyMap<WorkerId, number> {
    const reserved = this.gateway.workers().flatMap((session) => {
      return session.reserved === null ? [] : [[session.workerId, session.reserved.priority] as const];
    });
    return new Map(reserved);
  }

  private ownsAt(command: Command, epoch: number): boolean {
    const state = this.turns.current();
    const shard = shardOfCommand(command);
    return state !== null && shard !== null && state.shards.get(shard)?.epoch === epoch;
  }

  /** The shard has moved to another node. The sender learns it here and sends the command to the new owner. */
  private isOvertaken(command: Command, epoch: number, reply: (result: ForwardResult) => void): boolean {
    const shard = shardOfCommand(command);
    if (shard !== null && this.ownership.hasHeldSince(shard, epoch as Epoch)) return false;
    reply({ status: 'not_done', reason: 'not_owner' });
    return true;
  }

  private takeNotice(from: NodeId, message: PeerMessage): void {
    const { turns } = this;
    switch (message.kind) {
      case 'demand':
        return this.gateway.demand(from, message.demand);
      case 'assigned':
        return this.gateway.assign(from, message.workerId, message.assignments);
      case 'killed':
        return this.gateway.kill(message.workerId, message.kills);
      case 'returned':
        return this.gateway.slotsReturned(from, message);
      case 'reconcile':
        this.directory.announce(from, message.epochs);
        this.gateway.reconcile(message.epochs);
        return this.gateway.tellDeparted(from);
      case 'released':
        return this.ownership.kick();
      case 'lent': {
        const { tenantId, ...loan } = message;
        return turns.tell({ ...loan, kind: 'LendSlots', gateway: from, tenants: [tenantId], standing: false });
      }
      case 'heard':
        return turns.tell({ ...message, kind: 'WorkerHeard', gateway: from });
      case 'left':
        this.gateway.hasDeparted(message.workerId);
        return turns.tell({ kind: 'WorkerLeft', gateway: from, workerId: message.workerId });
      case 'calls':
      case 'asks':
      case 'answers':
      case 'forward':
      case 'forwarded':
        return;
    }
  }

  /** A node that we can reach anew, or that has found us again, knows nothing of us. */
  private introduce(other: NodeId): void {
    this.gateway.tellDeparted(other);
    const state = this.turns.current();
    if (state === null) return;
    const epochs = [...state.shards.values()].map(({ shard, epoch }) => ({ shard, epoch }));
    this.peers.tell(other, { kind: 'reconcile', epochs });
    this.peers.tell(other, { kind: 'demand', demand: demandOf(state) });
  }

  private loseNode(other: NodeId): void {
    this.gateway.ownerLost(other);
    this.turns.tell({ kind: 'GatewayLost', gateway: other });
  }

  /** What waits is told on change, and again while it waits: a gateway may have lost it with its own link to us (I29). */
  private keepTelling(): void {
    this.cancelTelling = this.clock.after(RETELL_MS, () => {
      const state = this.turns.current();
      if (this.toldDemand !== NO_DEMAND) this.toldDemand = '';
      if (state !== null) this.tellDemand(state);
      this.keepTelling();
    });
  }

  private tellDemand(state: State): void {
    // Without other nodes all slots stand lent here, unless a worker is to be reserved.
    const isNeeded = this.peers.count > 0 || !state.longWaits.isEmpty;
    if (!isNeeded && this.toldDemand === NO_DEMAND) return;
    const demand = isNeeded ? demandOf(state) : [];
    const told = JSON.stringify(demand);
    if (told === this.toldDemand) return;
    this.toldDemand = told;
    this.gateway.demand(this.nodeId, demand);
    this.peers.tellAll({ kind: 'demand', demand });
  }
}

/**
 * What a commit has written may be asked for by the very next assignment. Not so checkpoints: few attempts fail, and one that saves
 * often would push out all others.
 */
function keepPayloads(payloads: Payloads, changes: readonly Change[]): void {
  for (const change of changes) {
    if (change.kind === 'RunCreated' && change.params !== null) {
      payloads.keep({ runId: change.runId, taskNo: null }, change.params);
    }
    if (change.kind === 'AttemptEnded' && change.taskState === 'succeeded') {
      payloads.put({ runId: change.runId, taskNo: change.taskNo }, change.output);
    }
    if (change.kind === 'TaskMarked' && change.state === 'succeeded') {
      payloads.put({ runId: change.runId, taskNo: change.taskNo }, change.output);
    }
  }
}
