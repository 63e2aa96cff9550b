/** The interface of a client: one method per operation of the REST API. */
import type {
  AssetPage,
  AssetView,
  AttemptPage,
  AuditPage,
  BackfillPage,
  BackfillPreview,
  BackfillView,
  BlockerPage,
  BreakerPage,
  BreakerReset,
  BudgetPage,
  BudgetRemoved,
  BudgetView,
  BundleStored,
  CallbackPage,
  CallbackSecret,
  CallbacksRepeated,
  Cancelled,
  CancelledRuns,
  CancelRuns,
  CancelTask,
  ChangeSettings,
  Clear,
  ClearedRuns,
  ClearRuns,
  CloudEvent,
  Costs,
  CostsQuery,
  CreatedJob,
  CreatedJobs,
  CreatedToken,
  DagDefinition,
  DagDetails,
  DagNamePage,
  DagOwner,
  DagPage,
  DagRetired,
  DagShow,
  DeadLetterDetails,
  DeadLetterGroups,
  DeadLetterPage,
  DeadLettersUsed,
  DeadLetterView,
  DecisionPage,
  Deployed,
  DiscardDeadLettersOptions,
  EditedSchedule,
  EventKind,
  EventPage,
  EventView,
  ExpectationPage,
  FreezePage,
  FreezeView,
  Health,
  Imported,
  JobDeleted,
  JobPage,
  JobView,
  LimitDetails,
  LimitPage,
  LimitRemoved,
  LimitView,
  ListedSchedule,
  LoginLink,
  LogLine,
  LogPage,
  MarkTasks,
  NewBackfill,
  NewJob,
  NewLoginLink,
  NewRateCard,
  NewReservation,
  NewSchedule,
  NewSchedules,
  NewTenant,
  NewToken,
  NewWebhook,
  NodePage,
  Paused,
  PreviewSchedule,
  PrioritiesSet,
  Priority,
  PrioritySet,
  QueuePage,
  QuotaName,
  QuotaPage,
  QuotaRemoved,
  QuotaView,
  RaiseQuota,
  RateCardPage,
  RateCardView,
  ReplayDeadLettersOptions,
  Rerun,
  RerunAnswer,
  RerunPreview,
  ReservationDeleted,
  ReservationPage,
  ReservationView,
  ResetBreakerOptions,
  Retention,
  RetentionRun,
  RetriedRuns,
  RetryRuns,
  RunLogLine,
  RunLogPage,
  RunPage,
  RunView,
  ScaledIn,
  ScaleIn,
  ScheduleDeleted,
  SchedulePage,
  SchedulePaused,
  SchedulePreview,
  SchedulesCreated,
  SentEvent,
  SetPriorities,
  SetQuota,
  SettingsView,
  Signalled,
  Submitted,
  SubmittedBatch,
  TaskPage,
  TaskRetried,
  TaskView,
  TaskWhy,
  TenantPage,
  TenantSettings,
  TenantView,
  Thawed,
  TokenPage,
  TokenRevoked,
  Touched,
  VersionPage,
  VersionView,
  WatchedFolderPage,
  WebhookDeleted,
  WebhookPage,
  WebhookSecret,
  WindowPage,
  WorkerDrained,
  WorkerEvent,
  WorkerHistory,
  WorkerPage,
  ZonesRaised,
  ZonesView,
} from '@signalbox/protocol';
import type { RetryTiming } from './request.ts';

export interface ClientOptions {
  /** Such as `http://127.0.0.1:4500`. */
  readonly url: string;
  readonly token: string;
  /** No try of a request begins later than this after its first; 30 s unless told, 0 for one try only. */
  readonly retryForMs?: number;
  /** In place of Node's own HTTP client: for tests, or to go through a proxy. */
  readonly fetch?: typeof fetch;
  readonly timing?: Partial<RetryTiming>;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
}

export interface PreviewOptions extends CallOptions {
  /** Firings strictly after this time, such as `2027-03-13T00:00:00Z`; now unless told. */
  readonly from?: string;
  /** How many; 5 unless told. */
  readonly count?: number;
}

export interface ChangeOptions extends CallOptions {
  /** One key, one outcome. Use the name of what you do, such as an order number. Default: a random key. */
  readonly idempotencyKey?: string;
}

export interface DeployOptions extends ChangeOptions {
  /** Where the files lie, shown with the dag. Not part of the version. */
  readonly source?: string | undefined;
}

export interface PageOptions {
  readonly cursor?: string;
  readonly limit?: number;
}

export interface ListAssetsOptions extends PageOptions {
  /** Only those with this in their names, in upper or lower case. */
  readonly q?: string;
}

export interface ScheduleFilter extends PageOptions {
  readonly dag?: string;
  readonly paused?: boolean;
  readonly origin?: 'definition' | 'api';
}

export interface ListDagsOptions extends PageOptions {
  /** With the dags that servers make for jobs. */
  readonly hidden?: boolean;
  /** Deleted ones too. */
  readonly retired?: boolean;
  readonly tag?: string;
  readonly owner?: string;
  /** Words: only dags that have each of them in name, description, tags or owner. */
  readonly q?: string;
  /** By the newest run, or by schedules. */
  readonly show?: DagShow;
}

export interface NewRun {
  readonly params?: unknown;
  readonly priority?: Priority;
  /** Name of a task or group: only that and what it depends on runs. */
  readonly until?: string;
  /** ISO 8601: begin then, to the millisecond. */
  readonly at?: string;
  /** Begin so much later, such as `10m`. In place of `at`. */
  readonly delay?: string;
}

/** One run, which may be for a window. */
export interface NewSingleRun extends NewRun {
  /** ISO 8601: a past time at which the schedule fires. A window has one run: if it is there, that is the answer. */
  readonly window?: string;
  /** With `window`: the name of the schedule, `default` unless told. */
  readonly schedule?: string;
  /** Your own id for the run: a UUID of any version but 7. The same id and body give the same run. */
  readonly runId?: string;
}

export interface JobFilter extends PageOptions {
  readonly tag?: string;
  readonly owner?: string;
  readonly state?: JobView['state'];
  readonly recurring?: boolean;
}

export interface DeadLetterListFilter extends PageOptions {
  readonly dag?: string;
  readonly fingerprint?: string;
  readonly task?: string;
  readonly reason?: DeadLetterView['reason'];
  readonly state?: DeadLetterView['state'];
}

export interface RunFilter extends PageOptions {
  readonly dag?: string;
  readonly state?: RunView['state'];
  readonly outcome?: 'succeeded' | 'failed' | 'cancelled';
  /** Only runs that tasks of this one have made. */
  readonly parent?: string;
  /** Only runs of this backfill. */
  readonly backfill?: string;
  /** Only runs that were made with the same credential. */
  readonly mine?: boolean;
}

/** Names an attempt; the last one unless told. */
export interface AttemptName {
  readonly run: string;
  readonly task: string;
  readonly attempt?: number | 'last';
}

export interface EventFilter {
  readonly dag?: string;
  readonly run?: string;
  readonly kinds?: readonly EventKind[];
  /** The cursor of an event: what comes after it. */
  readonly after?: string;
  /** Without a cursor: only what comes, or everything that the journal still has. */
  readonly from?: 'now' | 'start';
}

export interface WaitOptions extends CallOptions {
  /** Without it, it waits for as long as it takes. */
  readonly timeoutMs?: number;
}

/** The run had not ended in the time that the caller gave it. It goes on. */
export class WaitTimedOut extends Error {
  readonly run: RunView;

  constructor(run: RunView, timeoutMs: number) {
    super(`Run ${run.id} of ${run.dag} had not ended after ${timeoutMs} ms; it is ${run.state}.`);
    this.name = 'WaitTimedOut';
    this.run = run;
  }
}

export interface Client {
  deployDag(definition: DagDefinition, options?: DeployOptions): Promise<Deployed>;
  getDag(name: string, options?: CallOptions): Promise<DagDetails>;
  /** The names of all dags that match, in one answer. */
  listDagNames(filter?: Omit<ListDagsOptions, keyof PageOptions>, options?: CallOptions): Promise<DagNamePage>;
  listDags(page?: ListDagsOptions, options?: CallOptions): Promise<DagPage>;
  /** No new runs and no schedule; its runs go on, its history stays, the next deploy brings it back. */
  /** Who answers for it. Goes before the owner of the definition; null: that one counts again. */
  setDagOwner(name: string, owner: string | null, options?: ChangeOptions): Promise<DagOwner>;
  deleteDag(name: string, options?: ChangeOptions): Promise<DagRetired>;
  listVersions(dag: string, page?: PageOptions, options?: CallOptions): Promise<VersionPage>;
  getVersion(dag: string, version: number, options?: CallOptions): Promise<VersionView>;
  /** Stores code under its SHA-256. */
  putBundle(hash: string, code: Uint8Array, options?: CallOptions): Promise<BundleStored>;
  putSourceMap(hash: string, sourceMap: Uint8Array, options?: CallOptions): Promise<BundleStored>;

  submit(dag: string, run?: NewSingleRun, options?: ChangeOptions): Promise<Submitted>;
  /** Up to 1,000 runs of one dag, all or nothing. */
  /** A command, an HTTP call or a deployed task, now, later or again and again. */
  createJob(job: NewJob, options?: ChangeOptions): Promise<CreatedJob>;
  /** Up to 1,000. */
  createJobs(jobs: readonly NewJob[], options?: ChangeOptions): Promise<CreatedJobs>;
  /**
   * Creates any number of jobs, thousands in a request. With the same `idempotencyKey` and the same jobs in the same order it can be called
   * again, and creates those that are missing.
   *
   * @example await client.importJobs(files.map((file) => ({ run: 'convert "$FILE"', env: { FILE: '${{ params.file }}' }, params: { file } })))
   */
  importJobs(jobs: Iterable<NewJob> | AsyncIterable<NewJob>, options?: ChangeOptions): Promise<Imported>;
  /** Newest first. */
  listJobs(filter?: JobFilter, options?: CallOptions): Promise<JobPage>;
  getJob(id: string, options?: CallOptions): Promise<JobView>;
  listJobRuns(id: string, page?: PageOptions, options?: CallOptions): Promise<RunPage>;
  pauseJob(id: string, options?: ChangeOptions): Promise<JobView>;
  resumeJob(id: string, options?: ChangeOptions): Promise<JobView>;
  cancelJob(id: string, options?: ChangeOptions): Promise<JobView>;
  deleteJob(id: string, options?: ChangeOptions): Promise<JobDeleted>;
  submitMany(dag: string, runs: readonly NewRun[], options?: ChangeOptions): Promise<SubmittedBatch>;
  getRun(id: string, options?: CallOptions): Promise<RunView>;
  /** Newest first; ask for the next page with the cursor of the last. */
  listRuns(filter?: RunFilter, options?: CallOptions): Promise<RunPage>;
  /** With `force` its teardowns, undos and hooks are ended too. */
  cancelRun(
    id: string,
    options?: ChangeOptions & { readonly force?: boolean; readonly graceMs?: number },
  ): Promise<Cancelled>;
  /** What a cancel would stop, and what would run to close the run. Changes nothing. */
  previewCancel(id: string, options?: CallOptions & { readonly force?: boolean }): Promise<Touched>;
  /** Cancels a page of the runs that fit: go on with the cursor. @example await client.cancelRuns({ dag: 'report', state: 'queued', dryRun: true }) */
  cancelRuns(filter: CancelRuns, options?: ChangeOptions): Promise<CancelledRuns>;
  /** Changes the priority of a run: its tasks that wait go before others, or after them. @example await client.setPriority(id, 'high') */
  setPriority(id: string, priority: Priority, options?: ChangeOptions): Promise<PrioritySet>;
  /** The same of a page of the runs that fit: go on with the cursor. @example await client.setPriorities({ dag: 'report', to: 'low', dryRun: true }) */
  setPriorities(filter: SetPriorities, options?: ChangeOptions): Promise<PrioritiesSet>;
  /** Failed tasks of a page of the failed runs that fit run again. @example await client.retryRuns({ dag: 'report', dryRun: true }) */
  retryRuns(filter: RetryRuns, options?: ChangeOptions): Promise<RetriedRuns>;
  /** Tells why a task does not run, what helps, and when it probably starts. @example (await client.getTaskWhy(id, 'load')).message */
  getTaskWhy(run: string, task: string, options?: CallOptions): Promise<TaskWhy>;
  /** Resolves when the run has ended, or was set aside. */
  waitForRun(id: string, options?: WaitOptions): Promise<RunView>;
  listTasks(
    run: string,
    filter?: PageOptions & { readonly state?: TaskView['state']; readonly group?: string },
    options?: CallOptions,
  ): Promise<TaskPage>;
  getTask(run: string, task: string, options?: CallOptions): Promise<TaskView>;
  listAttempts(run: string, task: string, options?: CallOptions): Promise<AttemptPage>;
  /** Why each attempt of a task went to its worker, and why then. @example (await client.listDecisions(id, 'load')).items[0]?.message */
  listDecisions(run: string, task: string, options?: CallOptions): Promise<DecisionPage>;
  /** A new budget of attempts for a task that failed; what it kept from running may run again. */
  retryTask(run: string, task: string, options?: ChangeOptions): Promise<TaskRetried>;
  /** Runs tasks again, whatever their result was. @example await client.clearTasks(id, { states: ['failed'], dryRun: true }) */
  clearTasks(run: string, clear: Clear, options?: ChangeOptions): Promise<Touched>;
  /** The same for a page of a dag's runs: go on with the cursor. */
  clearRuns(dag: string, clear: ClearRuns, options?: ChangeOptions): Promise<ClearedRuns>;
  /** Says what has become of tasks. @example await client.markTasks(id, { tasks: ['load'], as: 'skipped' }) */
  markTasks(run: string, mark: MarkTasks, options?: ChangeOptions): Promise<Touched>;
  /** Ends one task; it counts as failed for those behind it. */
  cancelTask(run: string, task: string, cancel?: CancelTask, options?: ChangeOptions): Promise<Touched>;
  pauseRun(id: string, options?: ChangeOptions): Promise<Paused>;
  resumeRun(id: string, options?: ChangeOptions): Promise<Paused>;
  pauseTask(run: string, task: string, options?: ChangeOptions): Promise<Paused>;
  resumeTask(run: string, task: string, options?: ChangeOptions): Promise<Paused>;
  /** A new run as this one was, or with another version or params. */
  rerun(id: string, rerun?: Omit<Rerun, 'dryRun'>, options?: ChangeOptions): Promise<RerunAnswer>;
  /** Which run that would be. Changes nothing. */
  previewRerun(id: string, rerun?: Omit<Rerun, 'dryRun'>, options?: CallOptions): Promise<RerunPreview>;

  readLog(
    attempt: AttemptName,
    page?: { readonly from?: number; readonly limit?: number },
    options?: CallOptions,
  ): Promise<LogPage>;
  /** Lines as they are written, until the attempt is over. A connection that breaks is made anew; no line comes twice. */
  followLog(attempt: AttemptName, options?: CallOptions & { readonly from?: number }): AsyncIterable<LogLine>;

  /** Lines of all tasks of a run by their time. */
  readRunLog(
    run: string,
    page?: { readonly cursor?: string; readonly limit?: number },
    options?: CallOptions,
  ): Promise<RunLogPage>;
  /** Lines of all tasks as they are written, until the run has ended. No line comes twice. */
  followRunLog(run: string, options?: CallOptions & { readonly cursor?: string }): AsyncIterable<RunLogLine>;

  listEvents(filter?: EventFilter & { readonly limit?: number }, options?: CallOptions): Promise<EventPage>;
  /** Events as they happen, without end: stop with the signal or by leaving the loop. Each event arrives at least once. */
  followEvents(filter?: EventFilter, options?: CallOptions): AsyncIterable<EventView>;
  /** Makes a run of each dag with `on: { event }` of this name; the payload becomes their params. */
  signalEvent(name: string, payload?: unknown, options?: ChangeOptions): Promise<Signalled>;
  /**
   * Sends a CloudEvent. The same source and id again gives the same answer.
   *
   * @example await client.sendEvent({ specversion: '1.0', id: '17', source: '/shop', type: 'order.paid', data: { order: 17 } });
   */
  sendEvent(event: CloudEvent, options?: ChangeOptions): Promise<SentEvent>;

  /** Tasks that failed for good, newest first: open ones unless told. */
  listDeadLetters(filter?: DeadLetterListFilter, options?: CallOptions): Promise<DeadLetterPage>;
  /** Open ones by what they have in common, the largest group first. */
  listDeadLetterGroups(
    filter?: { readonly dag?: string; readonly limit?: number },
    options?: CallOptions,
  ): Promise<DeadLetterGroups>;
  getDeadLetter(letter: string, options?: CallOptions): Promise<DeadLetterDetails>;
  /** Another attempt in its run, or with `latest` a new run of the current version. Once. */
  replayDeadLetter(
    letter: string,
    options?: ChangeOptions & { readonly latest?: boolean; readonly dryRun?: boolean },
  ): Promise<DeadLettersUsed>;
  discardDeadLetter(letter: string, options?: ChangeOptions): Promise<DeadLetterView>;
  /** Up to 100 at a time: ask again with the cursor of the answer. */
  replayDeadLetters(filter: ReplayDeadLettersOptions, options?: ChangeOptions): Promise<DeadLettersUsed>;
  discardDeadLetters(filter: DiscardDeadLettersOptions, options?: ChangeOptions): Promise<DeadLettersUsed>;
  listBreakers(filter?: { readonly dag?: string }, options?: CallOptions): Promise<BreakerPage>;
  /** Without a fingerprint: the dag's own. */
  resetBreaker(breaker: ResetBreakerOptions, options?: ChangeOptions): Promise<BreakerReset>;

  listSchedules(filter?: ScheduleFilter, options?: CallOptions): Promise<SchedulePage>;
  /** Up to 1,000 at a time. Those of one dag are created together or not at all; the answer tells of each. */
  createSchedules(schedules: NewSchedules['items'], options?: ChangeOptions): Promise<SchedulesCreated>;
  /**
   * Creates any number of schedules, thousands in a request. To send some again does no harm.
   *
   * @example await client.importSchedules(customers.map(({ id }) => ({ dag: 'report', name: id, cron: 'H 3 * * *' })))
   */
  importSchedules(
    schedules: Iterable<NewSchedules['items'][number]> | AsyncIterable<NewSchedules['items'][number]>,
    options?: CallOptions,
  ): Promise<Imported>;
  listSchedulesOfDag(dag: string, page?: PageOptions, options?: CallOptions): Promise<SchedulePage>;
  /**
   * Without a deploy; deploys leave it alone.
   *
   * @example await client.createSchedule('report', { name: 'eu', cron: '30 2 * * *', zone: 'Europe/Berlin' })
   */
  createSchedule(dag: string, schedule: NewSchedule, options?: ChangeOptions): Promise<ListedSchedule>;
  getSchedule(dag: string, schedule: string, options?: CallOptions): Promise<ListedSchedule>;
  /** Replaces one that was created through the API. What is not given has its default. */
  editSchedule(dag: string, schedule: string, to: EditedSchedule, options?: ChangeOptions): Promise<ListedSchedule>;
  deleteSchedule(dag: string, schedule: string, options?: ChangeOptions): Promise<ScheduleDeleted>;
  pauseOneSchedule(dag: string, schedule: string, options?: ChangeOptions): Promise<ListedSchedule>;
  resumeOneSchedule(dag: string, schedule: string, options?: ChangeOptions): Promise<ListedSchedule>;
  /**
   * When a schedule would fire. Stores nothing.
   *
   * @example await client.previewSchedule({ cron: '30 2 * * *', zone: 'America/New_York' }, { count: 3 })
   */
  previewSchedule(schedule: PreviewSchedule['schedule'], options?: PreviewOptions): Promise<SchedulePreview>;
  /** What became of each planned time, newest first. */
  /** Starts runs for past windows of a schedule. @example await client.startBackfill('report', { from: '2027-03-01T00:00:00Z' }) */
  startBackfill(dag: string, backfill: NewBackfill, options?: CallOptions): Promise<BackfillView>;
  /** The windows that a backfill would decide, and how. Stores nothing. */
  previewBackfill(dag: string, backfill: NewBackfill, options?: CallOptions): Promise<BackfillPreview>;
  listBackfills(filter?: PageOptions & { readonly dag?: string }, options?: CallOptions): Promise<BackfillPage>;
  getBackfill(id: string, options?: CallOptions): Promise<BackfillView>;
  pauseBackfill(id: string, options?: CallOptions): Promise<BackfillView>;
  resumeBackfill(id: string, options?: CallOptions): Promise<BackfillView>;
  /** No more runs; with `runs` its live ones are cancelled too. */
  cancelBackfill(id: string, options?: CallOptions & { readonly runs?: boolean }): Promise<BackfillView>;
  listWindows(
    dag: string,
    page?: PageOptions & { readonly schedule?: string },
    options?: CallOptions,
  ): Promise<WindowPage>;
  /** All schedules of the dag. */
  pauseSchedule(dag: string, options?: ChangeOptions): Promise<SchedulePaused>;
  resumeSchedule(dag: string, options?: ChangeOptions): Promise<SchedulePaused>;

  listWorkers(options?: CallOptions): Promise<WorkerPage>;
  /** When workers came and went, and what was done to them; also of workers that are gone. @example await client.listWorkerHistory({ worker: 'box-7:4711' }) */
  listWorkerHistory(
    filter?: PageOptions & { readonly worker?: string; readonly kind?: WorkerEvent['kind'] },
    options?: CallOptions,
  ): Promise<WorkerHistory>;
  /** It takes nothing new, finishes what it has and leaves. */
  drainWorker(id: string, options?: ChangeOptions): Promise<WorkerDrained>;
  /** It takes nothing new and stops what it has, which runs again elsewhere, from its checkpoint, and spends no retry. */
  evictWorker(id: string, options?: ChangeOptions): Promise<WorkerDrained>;
  /** What waits and runs in each queue, and how many workers it wants. */
  listQueues(options?: CallOptions): Promise<QueuePage>;
  /**
   * Drains workers of a queue until so many are left, the least busy first.
   * @example await client.scaleIn('batch', { to: 2 });
   */
  scaleIn(queue: string, body: ScaleIn, options?: ChangeOptions): Promise<ScaledIn>;
  listNodes(options?: CallOptions): Promise<NodePage>;

  /** Calls that tell others that runs have ended, newest first. */
  listCallbacks(
    filter?: { readonly state?: 'waiting' | 'done' | 'given_up'; readonly limit?: number; readonly cursor?: string },
    options?: CallOptions,
  ): Promise<CallbackPage>;
  /** What receivers check their signature with. */
  getCallbackSecret(options?: CallOptions): Promise<CallbackSecret>;
  repeatCallbacks(run: string, options?: ChangeOptions): Promise<CallbacksRepeated>;

  /** What holds back waiting tasks and runs, the most work first, and what would help. */
  listBlockers(options?: CallOptions): Promise<BlockerPage>;
  /** What is frozen, by whom and since when. */
  listFreezes(options?: CallOptions): Promise<FreezePage>;
  /** Starts no tasks of `dag:etl`, `queue:default`, `worker:<id>`, `tenant:team-a` or `cluster`, within about a second. Running tasks finish. */
  freeze(target: string, options?: ChangeOptions & { readonly reason?: string }): Promise<FreezeView>;
  thaw(target: string, options?: ChangeOptions): Promise<Thawed>;
  /** Slots that are kept for a dag or a tenant, when, and by whom. */
  listReservations(options?: CallOptions): Promise<ReservationPage>;
  /** Keeps slots of queues for a dag or a tenant, between two instants or each day between two times of day. Nothing that runs is stopped. */
  createReservation(reservation: NewReservation, options?: ChangeOptions): Promise<ReservationView>;
  deleteReservation(id: string, options?: ChangeOptions): Promise<ReservationDeleted>;
  /** Limits over several dags: pools and caps, by name. */
  listLimits(options?: CallOptions): Promise<LimitPage>;
  /** One of them (`pool:database`, `queue:default`, `tenant:team-a`, `cluster`), and who has its slots since when. */
  getLimit(name: string, options?: CallOptions): Promise<LimitDetails>;
  /** Sets or changes it. Kills nothing: a lower limit is pending until slots are back. */
  setLimit(name: string, slots: number, options?: ChangeOptions): Promise<LimitView>;
  /** At most so many attempts start in that time (`1m`), of `queue:default`, `pool:api`, `tenant:team-a` or `cluster`. Its name is `rate:queue:default`. */
  setRate(of: string, limit: number, per: string, options?: ChangeOptions): Promise<LimitView>;
  /** Tasks in a pool that was removed wait until it is set again. */
  removeLimit(name: string, options?: ChangeOptions): Promise<LimitRemoved>;
  /** Tenants of the installation, by name. Only for admins of the tenant `default`, like all that changes them. */
  listTenants(
    options?: CallOptions & { readonly limit?: number; readonly cursor?: string; readonly deleted?: boolean },
  ): Promise<TenantPage>;
  /** Quotas of a tenant, with what is used of each. */
  listQuotas(tenant: string, options?: CallOptions): Promise<QuotaPage>;
  /** Over the soft limit the tenant is throttled, over the hard one requests are refused. */
  setQuota(tenant: string, quota: QuotaName, limits: SetQuota, options?: ChangeOptions): Promise<QuotaView>;
  /** Other limits for a while. */
  raiseQuota(tenant: string, quota: QuotaName, raise: RaiseQuota, options?: ChangeOptions): Promise<QuotaView>;
  removeQuota(tenant: string, quota: QuotaName, options?: ChangeOptions): Promise<QuotaRemoved>;
  getTenant(name: string, options?: CallOptions): Promise<TenantView>;
  createTenant(tenant: NewTenant, options?: ChangeOptions): Promise<TenantView>;
  /** Weight, default priority, and whether it may use `critical`. */
  changeTenant(name: string, settings: TenantSettings, options?: ChangeOptions): Promise<TenantView>;
  /** Its changes are refused and none of its tasks start, until it is resumed. */
  suspendTenant(name: string, options?: ChangeOptions & { readonly reason?: string }): Promise<TenantView>;
  resumeTenant(name: string, options?: ChangeOptions): Promise<TenantView>;
  /** Its credentials stop working; `resumeTenant` brings it back. */
  deleteTenant(name: string, options?: ChangeOptions): Promise<TenantView>;
  listTokens(options?: CallOptions): Promise<TokenPage>;
  listWebhooks(options?: CallOptions): Promise<WebhookPage>;
  /** The answer holds the secret: it is shown this once. */
  createWebhook(webhook: NewWebhook, options?: ChangeOptions): Promise<WebhookSecret>;
  /** The old secret is accepted for a day, or for `keepOld`. */
  rotateWebhook(
    id: string,
    options?: ChangeOptions & { readonly secret?: string; readonly keepOld?: string },
  ): Promise<WebhookSecret>;
  deleteWebhook(id: string, options?: ChangeOptions): Promise<WebhookDeleted>;
  /** The answer holds the token: it is shown this once. */
  createToken(token: NewToken, options?: ChangeOptions): Promise<CreatedToken>;
  revokeToken(name: string, options?: ChangeOptions): Promise<TokenRevoked>;
  /** A link into the page that works once. Its path goes after the address of the server. */
  /** Who did what to credentials, and what was refused; newest first. */
  listAudit(
    filter?: { readonly cursor?: string; readonly limit?: number; readonly action?: string },
    options?: CallOptions,
  ): Promise<AuditPage>;
  createLoginLink(link?: NewLoginLink, options?: ChangeOptions): Promise<LoginLink>;
  getRetention(options?: CallOptions): Promise<Retention>;
  runRetention(options?: ChangeOptions): Promise<RetentionRun>;
  /** The events that dags expect. */
  listExpectations(filter?: { readonly dag?: string }, options?: CallOptions): Promise<ExpectationPage>;
  /** The folders that the server that answers watches for new files. */
  listFolders(options?: CallOptions): Promise<WatchedFolderPage>;
  /** Assets: what tasks produce, and what makes runs of other dags begin. */
  listAssets(page?: ListAssetsOptions, options?: CallOptions): Promise<AssetPage>;
  getAsset(name: string, options?: CallOptions): Promise<AssetView>;
  /** Says that an asset is fresh, as if a task had produced it. */
  materializeAsset(name: string, options?: ChangeOptions): Promise<AssetView>;
  /** What attempts took and cost, by day, dag, task or tenant. */
  getCosts(filter?: Omit<CostsQuery, 'format'>, options?: CallOptions): Promise<Costs>;
  /** Prices, the newest first. */
  listRateCards(options?: CallOptions): Promise<RateCardPage>;
  /** Sets the prices from the current day (UTC) on. For admins of the tenant `default`. */
  setRateCard(card: NewRateCard, options?: ChangeOptions): Promise<RateCardView>;
  listBudgets(options?: CallOptions): Promise<BudgetPage>;
  /** Of `tenant`, `dag:<name>` or `tenant:<name>`, for each month. */
  setBudget(target: string, amount: number, options?: ChangeOptions): Promise<BudgetView>;
  removeBudget(target: string, options?: ChangeOptions): Promise<BudgetRemoved>;
  /** Settings of the cluster: the jitter of schedules that name none. */
  getSettings(options?: CallOptions): Promise<SettingsView>;
  changeSettings(settings: ChangeSettings, options?: ChangeOptions): Promise<SettingsView>;
  /** The time zone data that the cluster decides by. */
  getZones(options?: CallOptions): Promise<ZonesView>;
  /** Raises it to that of the server that is asked. */
  upgradeZones(options?: ChangeOptions): Promise<ZonesRaised>;

  /** Whether the server can serve. One try: a server that is away is an answer. */
  health(options?: CallOptions): Promise<Health>;
}
