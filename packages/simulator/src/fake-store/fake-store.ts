/**
 * One node's way to the fake database: the `Store` that a host is given in the simulator. Several of them on one
 * `FakeDatabase` are several nodes.
 */
import {
  type Epoch,
  type Need,
  type NodeId,
  type RunId,
  type Seen,
  type ShardNo,
  type TenantId,
  triggersOf,
  WAITS_SINCE,
} from '@signalbox/engine';
import { dagNameKey, readNeeds, silentKey, versionKey } from '@signalbox/engine/testing';
import type {
  ClusterSeen,
  CommitChain,
  DagFound,
  DagPlace,
  LoadedHeads,
  LoadedRest,
  NodeReach,
  NodeRegistration,
  PayloadKey,
  RestCursor,
  Store,
  TakenShard,
  TakeShards,
} from '@signalbox/store';
import { payloadName } from '@signalbox/store';
import { type Call, type Caller, call, RefusedCall } from './call.ts';
import { FakeChain } from './chain.ts';
import type { FakeDatabase } from './database.ts';
import { inOrder } from './locks.ts';
import { readCluster, readHeads, readRest } from './reads.ts';
import type { NodeRow, ShardRow } from './tables.ts';

export interface FakeStoreOptions {
  /** Shown to faults and in the journal. */
  readonly name: string;
  /** Runs what the node does on hearing an answer; the simulator keeps it back while the node is paused. */
  readonly deliver?: (run: () => void) => void;
}

export class FakeStore implements Store {
  readonly name: string;
  readonly #database: FakeDatabase;
  readonly #caller: Caller;
  readonly #chains: FakeChain[] = [];
  #gone = false;
  /** Only with sabotage: what a take saw before it raised the epoch. */
  #staleHeads: ((shards: readonly ShardNo[], headsPerPriority: number) => LoadedHeads) | null = null;

  constructor(database: FakeDatabase, { name, deliver }: FakeStoreOptions) {
    this.name = name;
    this.#database = database;
    const pass = deliver ?? ((run: () => void) => run());
    this.#caller = {
      store: name,
      deliver: (run) => (this.#gone ? undefined : pass(() => (this.#gone ? undefined : run()))),
    };
  }

  /** The process is killed: what it has sent still arrives, then its connections close. Nothing is answered any more. */
  kill(): void {
    this.#gone = true;
    for (const { connection } of this.#chains) connection.hangUp();
  }

  /** Its machine is gone: what has not arrived never will, and its open transaction keeps its locks. */
  losePower(): void {
    this.#gone = true;
    for (const { connection } of this.#chains) connection.fallSilent();
  }

  registerNode({ nodeId, peerAddress, gatewayAddress, dataAddress }: NodeRegistration): Promise<void> {
    const { nodes } = this.#database.tables;
    return this.#write('node', nodeId, [], () => {
      const known = nodes.get(nodeId);
      nodes.set(nodeId, {
        nodeId,
        peerAddress,
        gatewayAddress,
        dataAddress,
        beat: (known?.beat ?? 0) + 1,
        leaving: false,
        reach: { cutFrom: [], hasWorkers: false },
        journalFormat: WAITS_SINCE,
        beatAt: known?.beatAt ?? this.#database.now(),
        breakEndedAt: known?.breakEndedAt ?? null,
      });
    });
  }

  beat(nodeId: NodeId, windowGraceMs: number): Promise<void> {
    return this.#changeNode(nodeId, (node) => {
      const now = this.#database.now();
      const breakEndedAt = node.beatAt < now - windowGraceMs ? now : node.breakEndedAt;
      return { ...node, beat: node.beat + 1, beatAt: now, breakEndedAt };
    });
  }

  markLeaving(nodeId: NodeId): Promise<void> {
    return this.#changeNode(nodeId, (node) => ({ ...node, leaving: true }));
  }

  tellReach(nodeId: NodeId, reach: NodeReach): Promise<void> {
    return this.#changeNode(nodeId, (node) => ({ ...node, reach }));
  }

  forgetNode(nodeId: NodeId): Promise<void> {
    const { tables } = this.#database;
    return this.#write('node', nodeId, [], () => {
      const ownsSome = [...tables.shards.values()].some(({ owner }) => owner === nodeId);
      if (ownsSome) return;
      tables.nodes.delete(nodeId);
      tables.writers.delete(nodeId);
    });
  }

  observe(): Promise<ClusterSeen> {
    return this.#read(() => readCluster(this.#database.tables));
  }

  takeShards({ nodeId, shards, lockTimeoutMs, windowGraceMs }: TakeShards): Promise<readonly TakenShard[]> {
    const { sabotage } = this.#database;
    const wanted = [...shards].sort((a, b) => a.shard - b.shard);
    const rows = inOrder(wanted.map(({ shard }) => shard));
    return this.#call({
      kind: 'take',
      nodeId,
      shards: rows,
      locks: rows,
      lockTimeoutMs,
      ...(sabotage.loadBeforeTake && { arrived: () => this.#keepStaleHeads(rows) }),
      run: () => {
        const taken = wanted.flatMap(({ shard, seenEpoch }) =>
          this.#takeOne({ nodeId, shard, seenEpoch, windowGraceMs }),
        );
        if (taken.length > 0) this.#journal('take', nodeId, taken);
        return taken;
      },
    });
  }

  releaseShards(nodeId: NodeId, shards: readonly { readonly shard: ShardNo; readonly epoch: Epoch }[]): Promise<void> {
    const locks = inOrder(shards.map(({ shard }) => shard));
    return this.#write('release', nodeId, locks, () => {
      const owned = shards.filter(({ shard, epoch }) => {
        const row = this.#database.tables.shard(shard);
        return row.owner === nodeId && row.epoch === epoch;
      });
      const noted = this.#database.tables.nodes.get(nodeId)?.breakEndedAt ?? null;
      for (const { shard } of owned) {
        const breakEndedAt = later(this.#database.tables.shard(shard).breakEndedAt, noted);
        this.#creditWaiting(shard, this.#database.now());
        this.#changeShard(shard, { owner: null, servedUntil: this.#database.now(), breakEndedAt });
      }
      if (owned.length > 0) this.#journal('release', nodeId, owned);
    });
  }

  noteCurrentRun(shard: ShardNo, epoch: Epoch, runId: RunId | null): Promise<void> {
    return this.#write('touch', null, [shard], () => {
      if (this.#database.tables.shard(shard).epoch !== epoch) throw new RefusedCall(`shard ${shard} has another epoch`);
      this.#changeShard(shard, { currentRun: runId });
    });
  }

  loadHeads(shards: readonly ShardNo[], headsPerPriority: number): Promise<LoadedHeads> {
    const read = this.#staleHeads ?? ((of: readonly ShardNo[], heads: number) => this.#heads(of, heads));
    return this.#read(() => read(shards, headsPerPriority));
  }

  loadRest(shards: readonly ShardNo[], after: RestCursor | null, limit: number): Promise<LoadedRest> {
    return this.#read(() => readRest(this.#database.tables, shards, after, limit));
  }

  fetch(needs: readonly Need[]): Promise<Seen> {
    return this.#read(() => readNeeds(this.#database.tables, needs));
  }

  fetchPayloads(keys: readonly PayloadKey[]): Promise<ReadonlyMap<string, string>> {
    const { payloads } = this.#database.tables;
    return this.#read(() => {
      const found = new Map<string, string>();
      for (const name of keys.map(payloadName)) {
        const payload = payloads.get(name);
        if (payload !== undefined) found.set(name, payload);
      }
      return found;
    });
  }

  findDag(tenantId: TenantId, name: string): Promise<DagFound | null> {
    const { dagNames, dags, versions } = this.#database.tables;
    return this.#read(() => {
      const dagId = dagNames.get(dagNameKey(tenantId, name));
      if (dagId === undefined) return null;
      const { shard, versionNo } = dags.get(dagId)!;
      const paramsSchema = versions.get(versionKey(dagId, versionNo))?.spec.paramsSchema ?? null;
      return { shard, dagId, versionNo, paramsSchema };
    });
  }

  dagsOnAsset(tenantId: TenantId, asset: string): Promise<readonly DagPlace[]> {
    const { dags, versions } = this.#database.tables;
    return this.#read(() =>
      [...dags.values()].flatMap(({ shard, dagId, versionNo, isRetired, tenantId: owner }) => {
        if (owner !== tenantId || isRetired) return [];
        const triggers = triggersOf(versions.get(versionKey(dagId, versionNo))?.spec ?? {});
        return triggers.some(({ assets }) => assets?.names.includes(asset)) ? [{ shard, dagId }] : [];
      }),
    );
  }

  openChain(nodeId: NodeId): Promise<CommitChain> {
    const { writers } = this.#database.tables;
    const run = () => {
      // Older chains of the node can commit nothing from here on, whichever store they were opened on.
      const chainNo = (writers.get(nodeId)?.chainNo ?? 0) + 1;
      writers.set(nodeId, { chainNo, commitNo: 0 });
      const chain = new FakeChain(this.#database, this.#caller, nodeId, chainNo);
      this.#chains.push(chain);
      return chain;
    };
    const waits = { shards: [], locks: [nodeId], lockTimeoutMs: this.#database.chainLockTimeoutMs };
    return this.#call({ kind: 'open chain', nodeId, ...waits, run });
  }

  #takeOne({ nodeId, shard, seenEpoch, windowGraceMs }: TakeOne): TakenShard[] {
    const row = this.#database.tables.shard(shard);
    if (row.epoch !== seenEpoch) return [];
    const epoch = (row.epoch + 1) as Epoch;
    const loadCount = row.loadCount + 1;
    const now = this.#database.now();
    const owner = row.owner === null ? undefined : this.#database.tables.nodes.get(row.owner);
    const servedUntil = owner?.beatAt ?? row.servedUntil;
    const isServed = servedUntil !== null && servedUntil >= now - windowGraceMs;
    const breakEndedAt = isServed ? later(row.breakEndedAt, owner?.breakEndedAt ?? null) : now;
    if (owner !== undefined) this.#creditWaiting(shard, owner.beatAt);
    this.#changeShard(shard, { owner: nodeId, epoch, loadCount, servedUntil: now, breakEndedAt });
    return [{ shard, epoch, loadCount, currentRun: row.currentRun }];
  }

  #keepStaleHeads(shards: readonly ShardNo[]): void {
    const heads = this.#heads(shards, Number.POSITIVE_INFINITY);
    this.#staleHeads = (of) => ({
      ...heads,
      // The numbers are new, so that commits go through; the runs are old.
      shards: this.#heads(of, 0).shards,
    });
  }

  #heads(shards: readonly ShardNo[], headsPerPriority: number): LoadedHeads {
    return readHeads(this.#database.tables, shards, headsPerPriority, this.#database.now());
  }

  #journal(kind: 'take' | 'release', nodeId: NodeId, shards: readonly { shard: ShardNo; epoch: Epoch }[]): void {
    const { journal, scheduler } = this.#database;
    const taken = shards.map(({ shard, epoch }) => ({ shard, epoch }));
    journal.push({ kind, no: journal.length + 1, committedAt: scheduler.now(), store: this.name, nodeId, taken });
  }

  /** How long the last owner has waited for silent workers: while a shard is owned, `servedUntil` is when it was taken. */
  #creditWaiting(shard: ShardNo, until: number): void {
    const { servedUntil } = this.#database.tables.shard(shard);
    if (servedUntil === null) return;
    const { silent } = this.#database.tables;
    for (const row of [...silent.values()]) {
      if (row.shard !== shard) continue;
      const waitedMs = Math.max(0, Math.floor(until - Math.max(row.since, servedUntil)));
      silent.set(silentKey(shard, row.workerId), { ...row, servedMs: row.servedMs + waitedMs });
    }
  }

  #changeShard(shard: ShardNo, fields: Partial<ShardRow>): void {
    const { tables } = this.#database;
    tables.shards.set(shard, { ...tables.shard(shard), ...fields });
  }

  #changeNode(nodeId: NodeId, change: (node: NodeRow) => NodeRow): Promise<void> {
    const { nodes } = this.#database.tables;
    return this.#write('node', nodeId, [], () => {
      const node = nodes.get(nodeId);
      if (node === undefined) throw new RefusedCall(`node ${nodeId} is not registered`);
      nodes.set(nodeId, change(node));
    });
  }

  #read<T>(run: () => T): Promise<T> {
    return this.#call({ kind: 'read', nodeId: null, shards: [], locks: [], lockTimeoutMs: null, run });
  }

  #write<T>(kind: Call<T>['kind'], nodeId: NodeId | null, locks: readonly ShardNo[], run: () => T): Promise<T> {
    return this.#call({ kind, nodeId, shards: locks, locks, lockTimeoutMs: null, run });
  }

  #call<T>(what: Call<T>): Promise<T> {
    return call(this.#database, this.#caller, what);
  }
}

interface TakeOne {
  readonly nodeId: NodeId;
  readonly shard: ShardNo;
  readonly seenEpoch: Epoch;
  readonly windowGraceMs: number;
}

function later(a: number | null, b: number | null): number | null {
  return a === null || b === null ? (a ?? b) : Math.max(a, b);
}
