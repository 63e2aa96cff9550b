export type { Log } from './database.ts';
export { ReadOnlyServerError } from './database.ts';
export type { DeadLetterExpiry } from './expiring-dead-letters.ts';
export { type DatabaseInspection, inspectDatabase } from './inspect.ts';
export type { JournalEntry, Unreadable } from './journal-read.ts';
export * from './large-output.ts';
export { migrate, SchemaError } from './migrate.ts';
export * from './port.ts';
export { openPostgresStore, type PostgresStore, type PostgresStoreOptions } from './postgres-store.ts';
export type { ApiToken, Cluster, FoundToken, ListedToken, NewApiToken, WorkerLimits } from './queries/access.ts';
export type { AuditEvent, ChangedBy, Refusal } from './queries/audit.ts';
export type { NewBundle, StoredBundle } from './queries/bundles.ts';
export type { CallbackEnd, CallbackRow, CallbackState } from './queries/callbacks.ts';
export { childKey } from './queries/child-runs.ts';
export type { DagDetails, DagView, WindowView } from './queries/dags.ts';
export type {
  BreakerRow,
  DeadLetterCursor,
  DeadLetterFilter,
  DeadLetterGroupRow,
  DeadLetterRow,
} from './queries/dead-letters.ts';
export type { Commit, Cut, DagKey, NamedDag, NamedRun } from './queries/events.ts';
export type { LogAttempts, LogAttemptView, NodeAddress } from './queries/log-view.ts';
export type { BegunRequest, RequestKey } from './queries/request-keys.ts';
export type { RunDetails, RunOutline } from './queries/run-details.ts';
export type { ListedRuns, ListRuns, RunPlace } from './queries/run-list.ts';
export type { RunPayloads } from './queries/run-payloads.ts';
export type { RunView } from './queries/run-view.ts';
export type { AttemptView, TaskView } from './queries/task-view.ts';
export type { ListedSchedule, NodeRow, VersionDetails, VersionSummary } from './queries/versions.ts';
export * from './queries.ts';
export type { Dropped, Expiry } from './retention.ts';
