export type { Log } from './database.ts';
export { type DatabaseInspection, inspectDatabase } from './inspect.ts';
export type { JournalEntry } from './journal-read.ts';
export * from './large-output.ts';
export { migrate } from './migrate.ts';
export * from './port.ts';
export { openPostgresStore, type PostgresStore } from './postgres-store.ts';
export type { ApiToken, Cluster, NewApiToken, WorkerLimits } from './queries/access.ts';
export type { AssetRow } from './queries/assets.ts';
export type { Refusal } from './queries/audit.ts';
export type { BackfillRow } from './queries/backfills.ts';
export type { StoredBundle } from './queries/bundles.ts';
export type { CallbackEnd, CallbackRow } from './queries/callbacks.ts';
export { childKey } from './queries/child-runs.ts';
export type { StoredDecision } from './queries/claim-decisions.ts';
export type {
  BudgetKey,
  StoredBudget,
  StoredRateCard,
  UsageBy,
  UsageDay,
  UsageQuery,
  UsageRow,
} from './queries/costs.ts';
export { HIDDEN_DAG_PREFIX } from './queries/dag-filter.ts';
export type { DagGrid as DagGridRows, GridRun as GridRow } from './queries/dag-grid.ts';
export type { DagDetails, DagView, TriggeredDag, WindowView } from './queries/dags.ts';
export type { BreakerRow, DeadLetterCursor, DeadLetterFilter, DeadLetterRow } from './queries/dead-letters.ts';
export type { DelayedRun, ListDelayedRuns } from './queries/delayed-runs.ts';
export type { Commit, Cut, NamedDag, NamedRun } from './queries/events.ts';
export type { ExpectationRow, MissedEventRow } from './queries/expectations.ts';
export type { FreezeChange, FreezeKind, Frozen, StoredFreeze, StoredHaltView } from './queries/freezes.ts';
export type { JobRow, ListJobs, NewJobRow } from './queries/jobs.ts';
export type { LogAttempts, LogAttemptView, NodeAddress } from './queries/log-view.ts';
export type { OwnRunId } from './queries/own-run-ids.ts';
export type { StoredQuotaView } from './queries/quotas.ts';
export type { BegunRequest, RequestKey } from './queries/request-keys.ts';
export type {
  NewReservation,
  ReservationChange,
  ReservedTimes,
  StoredReservation,
} from './queries/reservations.ts';
export type { EndedInHour, EndedOfDag, EndedRuns } from './queries/rollups.ts';
export type { RunDetails, RunOutline } from './queries/run-details.ts';
export type { ListRuns, RunPlace } from './queries/run-list.ts';
export type { RunPayloads } from './queries/run-payloads.ts';
export type { RunView } from './queries/run-view.ts';
export type { ListedSchedule, ListSchedules } from './queries/schedules.ts';
export type { ClusterSettings } from './queries/settings.ts';
export type { CapRule, StoredSlotLimit } from './queries/slot-limits.ts';
export type { AttemptView, TaskView } from './queries/task-view.ts';
export type { StoredTenant, TenantChange, TenantRule } from './queries/tenants.ts';
export type { NodeRow, VersionSummary } from './queries/versions.ts';
export type { LastFile, WatchedFile } from './queries/watched-files.ts';
export type { WatchedObject } from './queries/watched-objects.ts';
export type { NewWebhook, SecretRef, StoredWebhook } from './queries/webhooks.ts';
export type { StoredWorkerEvent, WorkerAsked, WorkerEventSeen } from './queries/worker-history.ts';
export type { ClusterZones } from './queries/zones.ts';
export * from './queries.ts';
export type { Dropped } from './retention.ts';
export { checkpointNo } from './statements/checkpoint.ts';
