/**
 * The queries of the edge. They have their own small pool, a time limit per statement (D12), and name the tenant: what
 * belongs to another tenant does not exist (I65). They never commit changes of the engine and own no shard.
 */
import type {
  LimitName,
  NodeId,
  RunId,
  RunUid,
  ShardNo,
  TaskNo,
  TenantId,
  VersionNo,
  ZoneData,
} from '@signalbox/engine';
import { Database, type Log } from './database.ts';
import type { OutputsOfRun } from './large-output.ts';
import { Partitions } from './partitions.ts';
import {
  createToken,
  ensureTenant,
  findToken,
  findTokenByName,
  listTokens,
  type NewApiToken,
  readCluster,
  revokeToken,
} from './queries/access.ts';
import { type ListAssets, listAssets } from './queries/assets.ts';
import {
  type ChangedBy,
  type ListAudit,
  listAudit,
  type NewAuditEvent,
  type Refusal,
  recordRefusal,
  recordUse,
} from './queries/audit.ts';
import {
  getBackfill,
  type ListBackfillRuns,
  type ListBackfills,
  listBackfillRuns,
  listBackfills,
  newestRunsOf,
  type WindowRange,
} from './queries/backfills.ts';
import { getBundle, type NewBundle, putBundle, putSourceMap, touchBundle } from './queries/bundles.ts';
import {
  type CallbackEnd,
  type CallbackRow,
  type ListCallbacks,
  listCallbacks,
  repeatCallbacks,
  settleCallback,
  takeCallbacks,
} from './queries/callbacks.ts';
import { findChildren } from './queries/child-runs.ts';
import { keepDecisions, readDecisions, type StoredDecision } from './queries/claim-decisions.ts';
import {
  type BudgetKey,
  readBudgets,
  readRateCards,
  readUsage,
  readVersionNames,
  removeBudget,
  setBudget,
  setRateCard,
  type UsageQuery,
} from './queries/costs.ts';
import type { DagFilter } from './queries/dag-filter.ts';
import { type GridOptions, getDagGrid } from './queries/dag-grid.ts';
import { listDagLabels, listDagNames } from './queries/dag-names.ts';
import { setDagOwner } from './queries/dag-owners.ts';
import { dagsOnEvent, findDag, type ListDags, type ListWindows, listDags, listWindows } from './queries/dags.ts';
import {
  countDeadLetters,
  type DeadLetterFilter,
  findDeadLetter,
  groupDeadLetters,
  listBreakers,
  listDeadLetters,
  walkDeadLetters,
} from './queries/dead-letters.ts';
import { findDelayedRun, type ListDelayedRuns, listDelayedRuns } from './queries/delayed-runs.ts';
import {
  type Cut,
  type DagKey,
  nameDags,
  nameRuns,
  nameTasks,
  readCommits,
  readCut,
  readOldestCut,
} from './queries/events.ts';
import { deleteMissedEvent, listExpectations, listMissedEvents, type MissedEventRow } from './queries/expectations.ts';
import { firstClaims } from './queries/first-claims.ts';
import { type Frozen, listFreezes, listHalts, readFrozen, removeFreeze, setFreeze } from './queries/freezes.ts';
import { getRun } from './queries/get-run.ts';
import {
  deleteJob,
  deleteJobRows,
  findJob,
  findJobIds,
  insertJobRows,
  keepJobScheduleNo,
  type ListJobs,
  listJobRuns,
  listJobs,
  markJobCancelled,
  type NewJobRow,
} from './queries/jobs.ts';
import { KnownSpecs } from './queries/known-specs.ts';
import { lastRuns } from './queries/last-runs.ts';
import { type ListChildren, listChildren } from './queries/list-children.ts';
import { getLogAttempts, listDataNodes } from './queries/log-view.ts';
import { createLoginCode, type NewLoginCode, type NewSession, openSession } from './queries/login.ts';
import { readOutputs, storeLargeOutput } from './queries/outputs.ts';
import { claimRunId, type OwnRunId, releaseRunId, shardOfOwnRunId } from './queries/own-run-ids.ts';
import { listQuotas, readQuotas } from './queries/quotas.ts';
import { answerRequest, beginRequest, forgetRequest, type RequestKey, releaseRequest } from './queries/request-keys.ts';
import {
  createReservation,
  deleteReservation,
  listKeptFrom,
  listReservations,
  type NewReservation,
  type ReservationChange,
  readKept,
} from './queries/reservations.ts';
import { resolveRun } from './queries/resolve-run.ts';
import { endedByDag, endedByHour } from './queries/rollups.ts';
import { readRunBatch, type WantedRun } from './queries/run-batch.ts';
import type { RunOutline } from './queries/run-details.ts';
import { holdersOfKey } from './queries/run-keys.ts';
import { type ListRuns, listRuns } from './queries/run-list.ts';
import { getPayload, getPayloads, type WantedPayloads } from './queries/run-payloads.ts';
import { RunReads, readRunAlone } from './queries/run-reads.ts';
import { getRunMaps, getRunSpec } from './queries/run-spec.ts';
import { findSchedule, type ListSchedules, listSchedules } from './queries/schedules.ts';
import { type ChangedSettings, changeSettings, readSettings } from './queries/settings.ts';
import { ShownSpecs } from './queries/shown-specs.ts';
import { countSlotLimits, findSlotLimits, findSlotRates, listSlotLimits, readCaps } from './queries/slot-limits.ts';
import { readStorage } from './queries/storage.ts';
import { getTaskTimes } from './queries/task-times.ts';
import {
  changeTenant,
  createTenant,
  findTenant,
  listTenants,
  readTenantRules,
  tenantOfRun,
} from './queries/tenants.ts';
import { findVersion, listNodes, listVersions } from './queries/versions.ts';
import {
  dropWatchedFiles,
  findLastFile,
  keepLastFile,
  keepWatchedFiles,
  type LastFile,
  listWatchedFiles,
  type WatchedFile,
} from './queries/watched-files.ts';
import {
  claimObjectWatch,
  dropGoneObjects,
  findWatchedObjects,
  keepWatchedObjects,
  type ListedPage,
  renewObjectWatch,
  type WatchedObject,
  type WatchHolder,
} from './queries/watched-objects.ts';
import {
  createWebhook,
  deleteWebhook,
  findWebhook,
  listWebhooks,
  type NewWebhook,
  rotateWebhook,
} from './queries/webhooks.ts';
import {
  keepWorkerAsked,
  keepWorkerEvents,
  type ListWorkerEvents,
  listWorkerEvents,
  namesOfWorkers,
  type WorkerAsked,
  type WorkerEventSeen,
} from './queries/worker-history.ts';
import {
  keepZone,
  listNodeZones,
  noteZoneVersion,
  type RaisedZones,
  raiseZones,
  readZones,
  readZoneVersion,
} from './queries/zones.ts';
import { refuseOtherSchema } from './schema-check.ts';

export interface QueriesOptions {
  readonly url: string;
  readonly preparedStatements?: boolean;
  readonly log?: Log;
  readonly connectTimeoutMs?: number;
  readonly statementTimeoutMs?: number;
  readonly maxConnections?: number;
}

/** How old the knowledge of which partitions there are may be. Those of today and tomorrow are made days ahead. */
const PARTITIONS_KNOWN_FOR_MS = 60_000;
const UNDEFINED_TABLE = '42P01';

export class Queries {
  readonly #database: Database;
  readonly #partitions: Partitions;
  readonly #specs = new KnownSpecs();
  readonly #shown = new ShownSpecs();
  readonly #reads: RunReads;
  #knownUntil = 0;

  constructor(database: Database) {
    this.#database = database;
    this.#partitions = new Partitions(database);
    this.#reads = new RunReads({
      batch: (wanted) => this.#withPartitions((days) => readRunBatch(database, days, this.#specs, wanted)),
      alone: (wanted, bytesLimit) =>
        this.#withPartitions((days) => readRunAlone(database, days, this.#specs, { ...wanted, bytesLimit })),
      children: ({ tenantId }, run) => this.#withPartitions((days) => findChildren(database, days, tenantId, run)),
    });
  }

  cluster = () => readCluster(this.#database);
  ensureTenant = (name: string) => ensureTenant(this.#database, name);
  listTenants = (list: Parameters<typeof listTenants>[1]) => listTenants(this.#database, list);
  findTenant = (name: string) => findTenant(this.#database, name);
  tenantOfRun = (runId: RunId) => tenantOfRun(this.#database, runId);
  readTenantRules = () => readTenantRules(this.#database);
  readCaps = () => readCaps(this.#database);
  setDagOwner = (owner: Parameters<typeof setDagOwner>[1], by: ChangedBy) => setDagOwner(this.#database, owner, by);
  readQuotas = () => readQuotas(this.#database);
  listQuotas = (tenantId: TenantId) => listQuotas(this.#database, tenantId);
  readUsage = (query: UsageQuery) => readUsage(this.#database, query);
  readVersionNames = (of: Parameters<typeof readVersionNames>[1]) => readVersionNames(this.#database, of);
  readRateCards = () => readRateCards(this.#database);
  setRateCard = (card: Parameters<typeof setRateCard>[1], by: ChangedBy) => setRateCard(this.#database, card, by);
  readBudgets = (tenantId: TenantId | null) => readBudgets(this.#database, tenantId);
  setBudget = (budget: BudgetKey & { readonly amount: number }, by: ChangedBy) => setBudget(this.#database, budget, by);
  removeBudget = (budget: BudgetKey, by: ChangedBy) => removeBudget(this.#database, budget, by);

  readFrozen = () => readFrozen(this.#database);
  /** Slots that are kept for a dag or a tenant now. */
  readKept = () => readKept(this.#database);
  holdersOfKey = (key: Parameters<typeof holdersOfKey>[2]) => holdersOfKey(this.#database, this.#shown, key);
  listFreezes = (who: Parameters<typeof listFreezes>[1]) => listFreezes(this.#database, who);
  listHalts = (tenantId: TenantId) => listHalts(this.#database, tenantId);
  setFreeze = (frozen: Frozen, by: Parameters<typeof setFreeze>[2]) => setFreeze(this.#database, frozen, by);
  listReservations = (who: Parameters<typeof listReservations>[1]) => listReservations(this.#database, who);
  listKeptFrom = (tenantId: TenantId) => listKeptFrom(this.#database, tenantId);
  createReservation = (reservation: NewReservation, by: ReservationChange) =>
    createReservation(this.#database, reservation, by);
  deleteReservation = (id: number, by: ReservationChange) => deleteReservation(this.#database, id, by);
  removeFreeze = (frozen: Frozen, by: Parameters<typeof removeFreeze>[2]) => removeFreeze(this.#database, frozen, by);
  listSlotLimits = (who: Parameters<typeof listSlotLimits>[1]) => listSlotLimits(this.#database, who);
  countSlotLimits = (tenantId: TenantId, limit: LimitName) => countSlotLimits(this.#database, tenantId, limit);
  findSlotLimits = (names: readonly LimitName[]) => findSlotLimits(this.#database, names);
  findSlotRates = (of: readonly LimitName[]) => findSlotRates(this.#database, of);
  createTenant = (tenant: Parameters<typeof createTenant>[1], by: ChangedBy) =>
    createTenant(this.#database, tenant, by);
  changeTenant = (name: string, change: Parameters<typeof changeTenant>[2], by: ChangedBy) =>
    changeTenant(this.#database, name, change, by);
  findToken = (sha256: Buffer) => findToken(this.#database, sha256);
  createToken = (token: NewApiToken) => createToken(this.#database, token);
  revokeToken = (tenantId: TenantId, name: string, by: ChangedBy) => revokeToken(this.#database, tenantId, name, by);
  recordRefusal = (refusal: Refusal) => recordRefusal(this.#database, refusal);
  recordUse = (event: NewAuditEvent) => recordUse(this.#database, event);
  listAudit = (tenantId: TenantId, options: ListAudit) => listAudit(this.#database, tenantId, options);
  createWebhook = (webhook: NewWebhook, by: ChangedBy) => createWebhook(this.#database, webhook, by);
  findWebhook = (id: string) => findWebhook(this.#database, id);
  listWebhooks = (tenantId: TenantId) => listWebhooks(this.#database, tenantId);
  deleteWebhook = (webhook: Pick<NewWebhook, 'id' | 'tenantId'>, by: ChangedBy) =>
    deleteWebhook(this.#database, webhook, by);
  rotateWebhook = (webhook: Parameters<typeof rotateWebhook>[1], by: ChangedBy) =>
    rotateWebhook(this.#database, webhook, by);
  listTokens = (tenantId: TenantId) => listTokens(this.#database, tenantId);
  takeCallbacks = (options: { readonly leaseMs: number; readonly limit: number }) =>
    takeCallbacks(this.#database, options);
  settleCallback = (key: CallbackRow['key'], end: CallbackEnd) => settleCallback(this.#database, key, end);
  listCallbacks = (tenantId: TenantId, options: ListCallbacks) => listCallbacks(this.#database, tenantId, options);
  repeatCallbacks = (tenantId: TenantId, run: RunUid) => repeatCallbacks(this.#database, tenantId, run);
  findTokenByName = (tenantId: TenantId, name: string) => findTokenByName(this.#database, tenantId, name);
  createLoginCode = (code: NewLoginCode) => createLoginCode(this.#database, code);
  openSession = (session: NewSession) => openSession(this.#database, session);
  listNodes = () => listNodes(this.#database);
  keepDecisions = (kept: readonly StoredDecision[]) => keepDecisions(this.#database, kept);
  readDecisions = (task: Parameters<typeof readDecisions>[1]) => readDecisions(this.#database, task);
  keepWorkerEvents = (nodeId: NodeId, seen: readonly WorkerEventSeen[]) =>
    keepWorkerEvents(this.#database, nodeId, seen);
  keepWorkerAsked = (asked: WorkerAsked) => keepWorkerAsked(this.#database, asked);
  listWorkerEvents = (tenantId: TenantId, list: ListWorkerEvents) => listWorkerEvents(this.#database, tenantId, list);
  namesOfWorkers = (tenantId: TenantId, workerIds: readonly string[]) =>
    namesOfWorkers(this.#database, tenantId, workerIds);
  listExpectations = (tenantId: TenantId, dag: string | null) => listExpectations(this.#database, tenantId, dag);
  listMissedEvents = (limit: number) => listMissedEvents(this.#database, limit);
  deleteMissedEvent = (key: MissedEventRow['key']) => deleteMissedEvent(this.#database, key);
  findLastFile = (folder: string) => findLastFile(this.#database, folder);
  keepLastFile = (folder: string, last: LastFile) => keepLastFile(this.#database, folder, last);
  listWatchedFiles = (folder: string) => listWatchedFiles(this.#database, folder);
  keepWatchedFiles = (folder: string, files: readonly WatchedFile[]) => keepWatchedFiles(this.#database, folder, files);
  dropWatchedFiles = (folder: string, paths: readonly string[]) => dropWatchedFiles(this.#database, folder, paths);
  claimObjectWatch = (holder: WatchHolder, forMs: number) => claimObjectWatch(this.#database, holder, forMs);
  renewObjectWatch = (holder: WatchHolder, to: { readonly forMs: number; readonly isLooked?: boolean }) =>
    renewObjectWatch(this.#database, holder, to);
  findWatchedObjects = (prefix: string, keys: readonly string[]) => findWatchedObjects(this.#database, prefix, keys);
  keepWatchedObjects = (prefix: string, objects: readonly WatchedObject[]) =>
    keepWatchedObjects(this.#database, prefix, objects);
  dropGoneObjects = (prefix: string, page: ListedPage) => dropGoneObjects(this.#database, prefix, page);
  listAssets = (tenantId: TenantId, list: ListAssets) => listAssets(this.#database, tenantId, list);
  readSettings = () => readSettings(this.#database);
  changeSettings = (changed: ChangedSettings) => changeSettings(this.#database, changed);
  readZoneVersion = () => readZoneVersion(this.#database);
  readZones = (ownVersion: string) => readZones(this.#database, ownVersion);
  keepZone = (zone: ZoneData) => keepZone(this.#database, zone);
  raiseZones = (raised: RaisedZones) => raiseZones(this.#database, raised);
  noteZoneVersion = (nodeId: NodeId, version: string) => noteZoneVersion(this.#database, nodeId, version);
  listNodeZones = () => listNodeZones(this.#database);
  storage = () => readStorage(this.#database);

  beginRequest = (key: RequestKey, request: { bodyHash: string; cutOffMs: number }) =>
    beginRequest(this.#database, key, request);
  answerRequest = (key: RequestKey, answered: { status: number; answer: unknown }) =>
    answerRequest(this.#database, key, answered);
  releaseRequest = (key: RequestKey, partly?: unknown) => releaseRequest(this.#database, key, partly);
  forgetRequest = (key: RequestKey) => forgetRequest(this.#database, key);

  putBundle = (tenantId: TenantId, bundle: NewBundle) => putBundle(this.#database, tenantId, bundle);
  putSourceMap = (tenantId: TenantId, map: { hash: string; sourceMap: Buffer }) =>
    putSourceMap(this.#database, tenantId, map);
  getBundle = (tenantId: TenantId, hash: string) => getBundle(this.#database, tenantId, hash);
  touchBundle = (tenantId: TenantId, hash: string) => touchBundle(this.#database, tenantId, hash);

  findDag = (tenantId: TenantId, name: string) => findDag(this.#database, tenantId, name);
  listDagNames = (tenantId: TenantId, filter: DagFilter) => listDagNames(this.#database, tenantId, filter);
  listDagLabels = (tenantId: TenantId) => listDagLabels(this.#database, tenantId);
  listDags = (tenantId: TenantId, list: ListDags) =>
    listDags(this.#database, tenantId, { ...list, shown: this.#shown });
  lastRuns = (tenantId: TenantId, dags: readonly DagKey[], most: number) =>
    lastRuns(this.#database, tenantId, dags, most);
  dagsOnEvent = (tenantId: TenantId, types: readonly string[]) => dagsOnEvent(this.#database, tenantId, types);
  endedByHour = (tenantId: TenantId, of: { readonly dag: DagKey | null; readonly fromHour: number }) =>
    endedByHour(this.#database, tenantId, of);
  endedByDag = (tenantId: TenantId, wanted: { readonly fromHour: number; readonly names: readonly string[] | null }) =>
    endedByDag(this.#database, tenantId, wanted);
  listVersions = (tenantId: TenantId, list: { dagName: string; before: VersionNo | null; limit: number }) =>
    listVersions(this.#database, tenantId, list);
  findVersion = (tenantId: TenantId, version: { dagName: string; versionNo: VersionNo }) =>
    findVersion(this.#database, tenantId, version);
  listSchedules = (tenantId: TenantId, list: ListSchedules) => listSchedules(this.#database, tenantId, list);
  findSchedule = (tenantId: TenantId, which: { dagName: string; name: string }) =>
    findSchedule(this.#database, tenantId, which);
  listWindows = (tenantId: TenantId, windows: ListWindows) => listWindows(this.#database, tenantId, windows);

  insertJobRows = (tenantId: TenantId, jobs: readonly NewJobRow[], createdBy: string) =>
    insertJobRows(this.#database, tenantId, jobs, createdBy);
  deleteJob = (tenantId: TenantId, id: string, by: ChangedBy) => deleteJob(this.#database, tenantId, id, by);
  deleteJobRows = (tenantId: TenantId, ids: readonly string[]) => deleteJobRows(this.#database, tenantId, ids);
  keepJobScheduleNo = (tenantId: TenantId, id: string, scheduleNo: number) =>
    keepJobScheduleNo(this.#database, tenantId, id, scheduleNo);
  markJobCancelled = (tenantId: TenantId, id: string) => markJobCancelled(this.#database, tenantId, id);
  findJob = (tenantId: TenantId, id: string) => findJob(this.#database, tenantId, id);
  findJobIds = (tenantId: TenantId, ids: readonly string[]) => findJobIds(this.#database, tenantId, ids);
  listJobs = (tenantId: TenantId, list: ListJobs) => listJobs(this.#database, tenantId, list);
  listJobRuns = (tenantId: TenantId, list: Parameters<typeof listJobRuns>[3]) =>
    this.#withPartitions((days) => listJobRuns(this.#database, days, tenantId, list));
  findDelayedRun = (tenantId: TenantId, uid: string) => findDelayedRun(this.#database, tenantId, uid);
  listDelayedRuns = (tenantId: TenantId, list: ListDelayedRuns) => listDelayedRuns(this.#database, tenantId, list);
  claimRunId = (id: OwnRunId) => claimRunId(this.#database, id);
  releaseRunId = (id: OwnRunId) => releaseRunId(this.#database, id);
  shardOfOwnRunId = (tenantId: TenantId, uid: string) => shardOfOwnRunId(this.#database, tenantId, uid);

  resolveRun = (tenantId: TenantId, uid: string) =>
    this.#withPartitions((days) => resolveRun(this.#database, days, tenantId, uid));
  getRun = (tenantId: TenantId, uid: string, choose?: (outline: RunOutline) => readonly number[]) =>
    this.#withPartitions((days) => getRun(this.#database, days, tenantId, { uid, specs: this.#specs }, choose));
  /** For the view of a whole run: with params and outputs, up to so many bytes. Readers that ask at the same time share their statements. */
  readRun = (wanted: WantedRun, bytesLimit: number) => this.#reads.read(wanted, bytesLimit);
  getPayload = (tenantId: TenantId, payload: { uid: string; taskNo: TaskNo | null }) =>
    this.#withPartitions((days) => getPayload(this.#database, days, tenantId, payload));
  getPayloads = (tenantId: TenantId, run: WantedPayloads) =>
    this.#withPartitions((days) => getPayloads(this.#database, days, tenantId, run));
  readOutputs = (tenantId: TenantId, outputs: OutputsOfRun) =>
    this.#withPartitions((days) => readOutputs(this.#database, days, tenantId, outputs));
  storeLargeOutput = (tenantId: TenantId, output: { runId: RunId; json: string }) =>
    this.#withPartitions((days) => storeLargeOutput(this.#database, days, tenantId, output));
  getRunSpec = (tenantId: TenantId, runId: RunId) =>
    this.#withPartitions((days) => getRunSpec(this.#database, days, tenantId, runId));
  getRunMaps = (tenantId: TenantId, runId: RunId) =>
    this.#withPartitions((days) => getRunMaps(this.#database, days, tenantId, runId));
  /** Of a run that was found to be the tenant's. */
  getTaskTimes = (tasks: { readonly runId: RunId; readonly below: number }) =>
    this.#withPartitions((days) => getTaskTimes(this.#database, days, tasks));
  getDagGrid = (tenantId: TenantId, grid: GridOptions) =>
    this.#withPartitions((days) => getDagGrid(this.#database, days, tenantId, { ...grid, specs: this.#specs }));
  /** Of runs that were found to be the tenant's. */
  firstClaims = (runIds: readonly RunId[]) => this.#withPartitions((days) => firstClaims(this.#database, days, runIds));
  listRuns = (tenantId: TenantId, list: ListRuns) =>
    this.#withPartitions((days) => listRuns(this.#database, days, tenantId, list));
  listBackfillRuns = (tenantId: TenantId, list: ListBackfillRuns) =>
    this.#withPartitions((days) => listBackfillRuns(this.#database, days, tenantId, list));
  getBackfill = (tenantId: TenantId, uid: string) => getBackfill(this.#database, tenantId, uid);
  listBackfills = (tenantId: TenantId, list: ListBackfills) => listBackfills(this.#database, tenantId, list);
  newestRunsOf = (range: WindowRange) => newestRunsOf(this.#database, range);

  listChildren = (tenantId: TenantId, list: ListChildren) =>
    this.#withPartitions((days) => listChildren(this.#database, days, tenantId, { ...list, specs: this.#specs }));

  listDeadLetters = (tenantId: TenantId, list: Parameters<typeof listDeadLetters>[2]) =>
    listDeadLetters(this.#database, tenantId, list);
  walkDeadLetters = (tenantId: TenantId, list: Parameters<typeof walkDeadLetters>[2]) =>
    walkDeadLetters(this.#database, tenantId, list);
  findDeadLetter = (tenantId: TenantId, deadLetter: Parameters<typeof findDeadLetter>[2]) =>
    findDeadLetter(this.#database, tenantId, deadLetter);
  countDeadLetters = (tenantId: TenantId, filter: DeadLetterFilter) =>
    countDeadLetters(this.#database, tenantId, filter);
  groupDeadLetters = (tenantId: TenantId, list: { dagName: string | null; limit: number }) =>
    groupDeadLetters(this.#database, tenantId, list);
  listBreakers = (tenantId: TenantId, dagName: string | null) => listBreakers(this.#database, tenantId, dagName);

  getLogAttempts = (tenantId: TenantId, of: { runId: RunId; taskNo: TaskNo | null }) =>
    this.#withPartitions((days) => getLogAttempts(this.#database, days, tenantId, of));
  listDataNodes = () => listDataNodes(this.#database);
  readCut = () => readCut(this.#database);
  readOldestCut = () => readOldestCut(this.#database);
  readCommits = (after: Cut, shards: readonly ShardNo[]) => readCommits(this.#database, after, shards);
  nameRuns = (runIds: readonly RunId[]) => this.#withPartitions((days) => nameRuns(this.#database, days, runIds));
  nameDags = (dags: readonly DagKey[]) => nameDags(this.#database, dags);
  nameTasks = (dag: DagKey, versionNo: VersionNo) => nameTasks(this.#database, dag, versionNo);

  close = () => this.#database.close();

  async #withPartitions<T>(read: (days: Partitions['days']) => Promise<T>): Promise<T> {
    if (performance.now() > this.#knownUntil) await this.#lookAgain();
    try {
      return await read(this.#partitions.days);
    } catch (error) {
      if ((error as { code?: string }).code !== UNDEFINED_TABLE) throw error;
      await this.#lookAgain(); // one of them was dropped meanwhile
      return read(this.#partitions.days);
    }
  }

  async #lookAgain(): Promise<void> {
    await this.#partitions.refresh();
    this.#knownUntil = performance.now() + PARTITIONS_KNOWN_FOR_MS;
  }
}

/**
 * @example
 * const queries = await openQueries({ url });
 * const run = await queries.getRun(tenantId, uid);
 */
export async function openQueries(options: QueriesOptions): Promise<Queries> {
  const connectTimeoutMs = options.connectTimeoutMs ?? 5_000;
  const statementTimeoutMs = options.statementTimeoutMs ?? 5_000;
  const database = new Database({
    url: options.url,
    preparedStatements: options.preparedStatements ?? true,
    log: options.log ?? (() => {}),
    connectTimeoutMs,
    // Somewhat later than the server's own limit, which says more.
    answerTimeoutMs: statementTimeoutMs + 1_000,
    maxConnections: options.maxConnections ?? 4,
    statementTimeoutMs,
  });
  try {
    await refuseOtherSchema(database);
    return new Queries(database);
  } catch (error) {
    await database.close();
    throw error;
  }
}
