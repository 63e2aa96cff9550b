/**
 * The working set of one node: the live runs of the shards that it owns, with what is needed to decide about them.
 *
 * It contains three kinds of data. Stored: shards, dags, schedules, runs, tasks, attempts. Only `apply` changes these, so state equals
 * history (I19). Derived from that: ready queues, counts, timers. Known in memory only: workers, lent slots, leases (D5).
 */

import type { KeyStored } from '../model/change.ts';
import type {
  BackfillUid,
  DagId,
  Epoch,
  Instant,
  MonoMs,
  RunId,
  RunRow,
  RunUid,
  ScheduleId,
  ShardNo,
  TaskSlot,
  TenantId,
  WorkerId,
} from '../model/ids.ts';
import type { ZoneSource } from '../model/schedule/window-after.ts';
import type { DueCursor, ZonedCursor } from '../model/stored.ts';
import { UntoldAssets } from './asset/untold-assets.ts';
import { AttemptTable } from './attempt/attempt-table.ts';
import type { Backfill } from './backfill/backfill.ts';
import { BreakerTable } from './breaker/breaker-table.ts';
import { type Dag } from './dag/dag.ts';
import { DagTable } from './dag/dag-table.ts';
import { Decisions } from './decision/decisions.ts';
import { KeptRows } from './kept-rows.ts';
import { LimitTable } from './limit/limit-table.ts';
import { RateTable } from './limit/rate-table.ts';
import { PastTable } from './past/past-table.ts';
import { Gathering } from './queue/gathering.ts';
import type { Lane } from './queue/lane.ts';
import { LongWaits } from './queue/long-waits.ts';
import { QueueTable } from './queue/queue-table.ts';
import { QuotaTable } from './quota/quota-table.ts';
import { RequiresTable } from './requires/requires-table.ts';
import { RunKeys } from './run/run-keys.ts';
import { RunTable } from './run/run-table.ts';
import type { Schedule } from './schedule/schedule.ts';
import { ScheduleTable } from './schedule/schedule-table.ts';
import { WindowWheel } from './schedule/window-wheel.ts';
import { Speculation } from './speculative/speculation.ts';
import { TaskTable } from './task/task-table.ts';
import { FrozenTable } from './tenant/frozen.ts';
import { TenantTable } from './tenant/tenant-table.ts';
import { TimerHeap } from './timer/timer-heap.ts';
import { HeldTable } from './trigger/held-events.ts';
import { SentClaims } from './worker/sent-claims.ts';
import { type Worker, WorkerTable } from './worker/worker-table.ts';

export interface EngineSettings {
  /** A worker not heard for this long loses its attempts. */
  readonly leaseMs: number;
  /** A worker not heard for this long may be gone: two heartbeats. Two fifths of the lease unless told. */
  readonly doubtfulMs?: number;
  /** A claim that its worker does not show this long after it was sent has not arrived, and goes back. */
  readonly undeliveredMs: number;
  /** Between the signal to stop and force. */
  readonly graceMs: number;
  /** No step makes many more changes than this; what is left goes on in the next one. */
  readonly changesPerStep: number;
  /** How many tasks of maps one step makes. */
  readonly unfoldPerStep: number;
  /** After a takeover even a worker whose time is up has this long to be heard: it may be looking for a gateway. */
  readonly reconcileMs: number;
  /** How often the end of a child run is asked for, in case that word of it was lost. */
  readonly askChildMs: number;
  /** Retries that a node lets begin in a second; those beyond wait. */
  readonly retriesPerSecond: number;
  /** Retries are held once so many tasks of a dag failed with one error within so long, and none of them got past it. */
  readonly causeBreaker: {
    readonly tasks: number;
    readonly withinMs: number;
    readonly pauseMs: number;
    readonly maxPauseMs: number;
  };
  /** A break in service of at most this length makes no window missed: see `apply/service.ts`. */
  readonly windowGraceMs: number;
  /** Attempts that a node stops in a minute to make room for critical tasks; none with 0. */
  readonly preemptionsPerMinute: number;
  /** A dag that creates more tasks in a minute is halted, unless its tenant has a quota for that. */
  readonly mostFanOut: number;
  /** A dag whose live runs have more tasks is halted. */
  readonly mostLiveTasks: number;
  /** A worker is reserved for a task that has waited for room for this long, so that smaller tasks do not fill it for ever. */
  readonly reserveAfterMs: number;
  /** Claims that are told with what the matcher knew, per second: those that chose among workers, and as many others. None with 0. */
  readonly decisionsPerSecond: number;
  /** Schedules that are due within this time are in memory. */
  readonly horizonMs: number;
  /** The jitter of schedules that name none: a setting of the cluster. None without this. */
  readonly defaultJitterMs?: () => number;
  /** Names the zone data below. Without this the data never changes. */
  readonly zoneVersion?: () => string;
  /** False while the data of a zone may not be that of the cluster. */
  readonly isZoneSure?: (zone: string) => boolean;
  /** False while a server may create runs that do not say whether they wait for others (`RunCreated.waits`). */
  readonly areWaitsTold?: () => boolean;
  /** Zone data of another version, by which windows were decided before; null where it is not known any more. */
  readonly zoneDataOf?: (version: string) => ZoneSource | null;
  /** Offsets of a time zone over a span: a pure function of the zone data version of the cluster (I3). */
  readonly zoneData: ZoneSource;
}

export const DEFAULT_SETTINGS: Omit<EngineSettings, 'zoneData'> = {
  leaseMs: 15_000,
  undeliveredMs: 2_000,
  graceMs: 10_000,
  changesPerStep: 2_000,
  unfoldPerStep: 1_000,
  reconcileMs: 3_000,
  askChildMs: 20_000,
  windowGraceMs: 10_000,
  horizonMs: 600_000,
  retriesPerSecond: 1_000,
  preemptionsPerMinute: 60,
  mostFanOut: 5_000_000,
  mostLiveTasks: 5_000_000,
  reserveAfterMs: 60_000,
  decisionsPerSecond: 20,
  causeBreaker: { tasks: 10, withinMs: 60_000, pauseMs: 5_000, maxPauseMs: 60_000 },
};

interface ShardState {
  readonly shard: ShardNo;
  readonly epoch: Epoch;
  commitNo: number;
  lastRunId: RunId;
  lastDagNo: number;
  /** Windows up to here that are not decided yet are missed. */
  missedUntil: Instant;
  /** All schedules that are due up to here are in memory; others are in the database only. */
  nearUntil: Instant;
  /** Where the walk over due schedules goes on. */
  nearAfter: DueCursor;
  /** Of the zone data by which due times were stored; null: none was. */
  zoneVersion: string | null;
  /** How far due times have been looked at since the zone data has another version. */
  zonedAfter: ZonedCursor;
}

/** What must be looked at before the step ends. Filled by `apply`, emptied by the step. */
interface Agenda {
  /** Runs in which no task is left to run, or no attempt to end. */
  readonly runs: Set<RunRow>;
  /** Ready tasks that run other dags: they wait for no slot. */
  readonly calls: Set<TaskSlot>;
  /** Maps that may be expanded, or have instances left to unfold. */
  readonly maps: Map<string, MapToDo>;
  /** Ready tasks with a limit for waiting: since when they wait must be stored. */
  readonly queued: Set<TaskSlot>;
  /** Dags that may have room for a waiting run. */
  readonly dags: Set<Dag>;
  /** Backfills that may be over. */
  readonly backfills: Set<Backfill>;
  /** Runs with tasks that have ended, while other runs wait for their window. */
  readonly past: Set<RunRow>;
  /** Runs that wait for their key, while the dag wants older runs with it cancelled. */
  readonly keys: Set<RunId>;
  /** Workers with attempts in a shard just loaded: those not heard yet are noted as silent (I25). */
  loaded: { readonly shard: ShardNo; readonly workerNo: number }[];
  /** Schedules that could not even be loaded, and why (I57). */
  faulty: { readonly shard: ShardNo; readonly scheduleId: ScheduleId; readonly reason: string }[];
}

export class State {
  readonly settings: EngineSettings;
  now = 0 as Instant;
  mono = 0 as MonoMs;
  /** When the host last looked whether a window is due. */
  lookedAt = 0 as Instant;
  /** Chance of this step, from outside. */
  seed = 0;
  /** Number of the batch being decided, and of the last one known to be committed. */
  batchNo = 0;
  settledBatchNo = 0;

  readonly shards = new Map<ShardNo, ShardState>();
  readonly dags = new DagTable();
  readonly runs = new RunTable();
  readonly tasks = new TaskTable();
  readonly attempts = new AttemptTable();
  readonly schedules = new ScheduleTable();
  /** Live ones, and those that were over in a batch in flight. */
  readonly backfills = new Map<BackfillUid, Backfill>();
  /** Their attempts that run, in all. */
  backfillAttempts = 0;
  /** Admitted runs of dags that are not in memory yet. */
  readonly admittedOf = new Map<DagId, number>();

  readonly tenants = new TenantTable();
  readonly frozen = new FrozenTable();
  readonly queues = new QueueTable({
    weightOf: (id) => this.tenants.weightOf(id),
    isHeld: (id, name) => this.tenants.isHeld(id) || this.frozen.holdsQueue(id, name),
  });
  /** Limits that span shards. */
  readonly limits = new LimitTable();
  /** Limits of starts per time. */
  readonly rates = new RateTable();
  readonly quotas = new QuotaTable();
  readonly workers = new WorkerTable((worker) => this.withdrawOffers(worker));
  readonly timers = new TimerHeap();
  readonly windows = new WindowWheel();
  readonly sent = new SentClaims();
  readonly breakers: BreakerTable;
  /** Runs that wait for the window before theirs. */
  readonly past = new PastTable();
  /** Of dags that limit their runs by key. */
  readonly runKeys = new RunKeys();
  /** Runs that wait for what their windows require. */
  readonly requires = new RequiresTable();
  /** Rows of described tables that have no table of their own here. */
  readonly rows = new KeptRows();
  /** Events that wait for others. */
  readonly held = new HeldTable();
  readonly untold = new UntoldAssets();
  readonly speculation = new Speculation();
  readonly gathering = new Gathering();
  /** Gangs all of whose members are ready, by the first of them, and the lane that they wait in. */
  readonly gangs = new Map<TaskSlot, Lane>();
  /** When attempts were stopped to make room, within the last minute; and when a look found nobody to stop. */
  readonly preemptions: { recent: number[]; lookedAt: number } = { recent: [], lookedAt: Number.NEGATIVE_INFINITY };
  readonly longWaits = new LongWaits();
  readonly decisions: Decisions;
  /** Of runs with tasks that are better near another one: which worker ran which task last. Not stored: a new owner places them anywhere. */
  readonly ranOn = new Map<RunRow, Map<number, WorkerId>>();
  readonly agenda: Agenda = {
    runs: new Set(),
    calls: new Set(),
    maps: new Map(),
    queued: new Set(),
    dags: new Set(),
    backfills: new Set(),
    past: new Set(),
    loaded: [],
    keys: new Set(),
    faulty: [],
  };
  /** Keys of batches in flight: the database does not show them yet. */
  readonly recentKeys = new Map<string, { readonly stored: KeyStored; readonly batchNo: number }>();
  /** First uids of submissions in flight, with their batch. */
  readonly recentUids = new Map<RunUid, number>();
  /** The newest runs of windows in flight, with their batch: see `windowName`. */
  readonly recentWindows = new Map<string, { readonly runId: RunId; readonly uid: RunUid; readonly batchNo: number }>();
  /** How many changes were made for windows since the last step that left none due: see `tick.ts`. */
  windowsInRow = 0;
  /** As the host said with the last step; null: it did not. */
  windowsPerStep: number | null = null;
  /** Schedules that were removed in batches in flight, with their batch: the database still shows them. */
  readonly recentlyRemoved = new Map<ScheduleId, number>();
  /** Dead letters that were used in batches in flight, with their batch. */
  readonly recentDeadLetters = new Map<string, number>();
  /** Runs that have ended in a batch in flight: kept until it is settled, so that nobody loads them as live. */
  lingering: { readonly run: RunRow; readonly batchNo: number }[] = [];
  /** Runs that must not be loaded: a load of theirs went wrong, and they are about to be set aside (I57). */
  readonly quarantined = new Set<RunId>();
  /** Runs that were set aside: they no longer count as active of their dag, though the database counts them as live (I7). */
  readonly aside = new Set<RunId>();
  /** Tasks of one hand that are cleared, of a row of changes that has not ended: see `TaskCleared.more`. */
  readonly clearing: number[] = [];
  /** Dags of which some live runs are in the database only, each with schedules whose windows wait for those runs. */
  readonly partial = new Map<DagId, Set<Schedule>>();
  /** Made of the journal alone. */
  isReplay = false;
  /** The run that a decision is about. If it throws, the host knows which run to charge (I57). */
  currentRun: RunId | null = null;
  /** The schedule that a decision is about. */
  currentSchedule: Schedule | null = null;

  constructor(settings: EngineSettings) {
    this.settings = settings;
    this.breakers = new BreakerTable(settings.retriesPerSecond);
    this.decisions = new Decisions(settings.decisionsPerSecond);
  }

  /** Set by the commands that bring a tenant along; names are for assignments and people. */
  readonly tenantNames = new Map<TenantId, string>();

  tenantName(id: TenantId): string {
    return this.tenantNames.get(id) ?? `tenant-${id}`;
  }

  runIdOfTask(slot: TaskSlot): RunId {
    return this.runs.id[this.tasks.run[slot]!] as RunId;
  }

  /** The worker lends nothing any more. */
  withdrawOffers(worker: Worker): void {
    for (const offer of worker.offers.splice(0)) {
      offer.group.withdraw(offer, this.mono);
    }
  }
}

export interface MapToDo {
  readonly runId: RunId;
  readonly group: number;
  readonly scope: number;
}
