/** The PostgreSQL store. This file is a table of contents: each part has its own file. */
import type { Epoch, Instant, NodeId, RunId, ShardNo, TenantId } from '@signalbox/engine';
import { PostgresChain } from './chain.ts';
import { Database, dropClient, type Log } from './database.ts';
import { type DeadLetterExpiry, dropClosedDeadLetters, expiringDeadLetters } from './expiring-dead-letters.ts';
import { dagsOnAsset, fetchPayloads, fetchSeen, findDagByName } from './fetch.ts';
import { type JournalEntry, readJournal } from './journal-read.ts';
import type { LateMovesOptions } from './late-moves.ts';
import { loadHeads, loadRest } from './load.ts';
import { Ownership } from './ownership.ts';
import { Partitions } from './partitions.ts';
import type { CommitChain, NodeReach, NodeRegistration, PayloadKey, RestCursor, Store, TakeShards } from './port.ts';
import { dropOldAudit } from './queries/audit.ts';
import { dropUnusedBundles } from './queries/bundles.ts';
import { dropOldCallbacks } from './queries/callbacks.ts';
import { dropOldDecisions } from './queries/claim-decisions.ts';
import { dropOldUsage } from './queries/costs.ts';
import { dropUnusedJobs } from './queries/jobs.ts';
import { dropUnusedRunIds } from './queries/own-run-ids.ts';
import { dropOldRequests } from './queries/request-keys.ts';
import { dropOldRollups } from './queries/rollups.ts';
import { dropRetiredShapes, findUnusedShapes } from './queries/unused-shapes.ts';
import { dropOldWorkerEvents } from './queries/worker-history.ts';
import { type Dropped, dropExpired, type Expiry } from './retention.ts';
import { refuseOtherSchema } from './schema-check.ts';

export interface PostgresStoreOptions {
  readonly url: string;
  /** False behind a transaction pooler that does not carry named statements. */
  readonly preparedStatements?: boolean;
  readonly log?: Log;
  /** Within this a caller gets a connection or an error. */
  readonly connectTimeoutMs?: number;
  readonly maxConnections?: number;
  /** For tests: what day it is, for partitions. */
  readonly now?: () => number;
  /** For tests: when commits leave out that windows are decided. */
  readonly lateMoves?: LateMovesOptions;
}

const UNDEFINED_TABLE = '42P01';

export class PostgresStore implements Store {
  readonly database: Database;
  readonly partitions: Partitions;
  readonly #ownership: Ownership;
  readonly #lateMoves: LateMovesOptions | undefined;
  /** There is a rate card: commits sum what attempts took. */
  isAccounting = false;

  constructor(database: Database, lateMoves?: LateMovesOptions) {
    this.database = database;
    this.#lateMoves = lateMoves;
    this.partitions = new Partitions(database);
    this.#ownership = new Ownership(database);
  }

  registerNode = (node: NodeRegistration) => this.#ownership.registerNode(node);
  beat = (nodeId: NodeId, windowGraceMs: number) => this.#ownership.beat(nodeId, windowGraceMs);
  readClock = () => this.#ownership.readClock();
  noteClock = (nodeId: NodeId, seen: { readonly aheadMs: number; readonly unfit: string | null }) =>
    this.#ownership.noteClock(nodeId, seen);
  markLeaving = (nodeId: NodeId) => this.#ownership.markLeaving(nodeId);
  tellReach = (nodeId: NodeId, reach: NodeReach) => this.#ownership.tellReach(nodeId, reach);
  forgetNode = (nodeId: NodeId) => this.#ownership.forgetNode(nodeId);
  observe = () => this.#ownership.observe();
  takeShards = (request: TakeShards) => this.#ownership.takeShards(request);
  releaseShards = (nodeId: NodeId, shards: readonly { readonly shard: ShardNo; readonly epoch: Epoch }[]) =>
    this.#ownership.releaseShards(nodeId, shards);
  noteCurrentRun = (shard: ShardNo, epoch: Epoch, runId: RunId | null) =>
    this.#ownership.noteCurrentRun(shard, epoch, runId);

  loadHeads(shards: readonly ShardNo[], headsPerPriority: number) {
    return this.#knowingPartitions(() => loadHeads(this.database, this.partitions.days, shards, headsPerPriority));
  }

  loadRest(shards: readonly ShardNo[], after: RestCursor | null, limit: number) {
    return this.#knowingPartitions(() => loadRest(this.database, this.partitions.days, shards, after, limit));
  }

  fetch(needs: Parameters<Store['fetch']>[0]) {
    return this.#knowingPartitions(() => fetchSeen(this.database, this.partitions.days, needs));
  }

  fetchPayloads(keys: readonly PayloadKey[]) {
    return this.#knowingPartitions(() => fetchPayloads(this.database, this.partitions.days, keys));
  }

  dagsOnAsset(tenantId: TenantId, asset: string) {
    return dagsOnAsset(this.database, tenantId, asset);
  }

  findDag(tenantId: TenantId, name: string) {
    return findDagByName(this.database, tenantId, name);
  }

  async openChain(nodeId: NodeId): Promise<CommitChain> {
    const client = await this.database.connect();
    try {
      const chainNo = await this.#ownership.nextChain(nodeId);
      await this.partitions.refresh();
      const fenceOff = () => this.#ownership.endChain(nodeId, chainNo);
      return new PostgresChain({
        database: this.database,
        client,
        nodeId,
        chainNo,
        days: () => this.partitions.days,
        lateMoves: this.#lateMoves,
        isAccounting: () => this.isAccounting,
        fenceOff,
      });
    } catch (error) {
      dropClient(client);
      throw error;
    }
  }

  /** The commits of a shard after the given one, in order: for replay, incidents and the event stream. */
  readJournal(shard: ShardNo, afterCommitNo: number, limit: number): Promise<JournalEntry[]> {
    return readJournal(this.database, shard, afterCommitNo, limit);
  }

  /** One round of upkeep: partitions for the days to come, and what is older than it need be goes (I62). */
  dropExpired(expiry: Expiry): Promise<Dropped> {
    return dropExpired(this.database, this.partitions, expiry);
  }

  /** One bounded step: bundles that no version names, a day after they were last touched. */
  dropUnusedBundles = () => dropUnusedBundles(this.database);
  /** One step; true when there may be more. */
  dropUnusedJobs = (runDays: number) => dropUnusedJobs(this.database, runDays);
  findUnusedShapes = (madeBefore: number) => findUnusedShapes(this.database, madeBefore);
  dropRetiredShapes = (nowMs: number) => dropRetiredShapes(this.database, nowMs);
  dropUnusedRunIds = (runDays: number) => dropUnusedRunIds(this.database, runDays);
  dropOldRequests = async () => {
    await dropOldRequests(this.database);
    await dropOldAudit(this.database);
  };
  expiringDeadLetters = (expiry: DeadLetterExpiry) => expiringDeadLetters(this.database, expiry);
  dropClosedDeadLetters = (closedBefore: Instant) => dropClosedDeadLetters(this.database, closedBefore);
  dropOldCallbacks = () => dropOldCallbacks(this.database);
  dropOldRollups = (beforeHour: number) => dropOldRollups(this.database, beforeHour);
  dropOldDecisions = () => dropOldDecisions(this.database);
  dropOldWorkerEvents = (before: Instant) => dropOldWorkerEvents(this.database, before);
  dropOldUsage = (beforeDay: number) => dropOldUsage(this.database, beforeDay);

  async close(): Promise<void> {
    await this.database.close();
  }

  /** Another node may have dropped a partition that this one still knows: then it looks again, once. */
  async #knowingPartitions<T>(read: () => Promise<T>): Promise<T> {
    try {
      return await read();
    } catch (error) {
      if ((error as { code?: string }).code !== UNDEFINED_TABLE) throw error;
      await this.partitions.refresh();
      return read();
    }
  }
}

/** Connects, refuses a schema that this version does not know (I63), and makes the partitions of the days to come. */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<PostgresStore> {
  const connectTimeoutMs = options.connectTimeoutMs ?? 5_000;
  const store = new PostgresStore(
    new Database({
      url: options.url,
      preparedStatements: options.preparedStatements ?? true,
      log: options.log ?? (() => {}),
      connectTimeoutMs,
      answerTimeoutMs: connectTimeoutMs,
      maxConnections: options.maxConnections ?? 4,
    }),
    options.lateMoves,
  );
  try {
    await refuseOtherSchema(store.database);
    await store.partitions.ensureAhead((options.now ?? Date.now)());
    return store;
  } catch (error) {
    await store.close();
    throw error;
  }
}
