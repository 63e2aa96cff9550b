/** Everything that pages read, with what makes it change: the live layer reads it again then. */
import type {
  AssetPage,
  AuditPage,
  BackfillPage,
  BlockerPage,
  BreakerPage,
  BudgetPage,
  CallbackPage,
  Costs,
  CostsQuery,
  DagDetails,
  DagGrid,
  DagHistory,
  DagPage,
  DeadLetterGroups,
  DeadLetterPage,
  DecisionPage,
  Delays,
  ExpectationPage,
  FiringPage,
  FreezePage,
  HeldAttemptPage,
  JobPage,
  JobView,
  LimitDetails,
  LimitPage,
  NodePage,
  QueuePage,
  QuotaPage,
  RateCardPage,
  ReservationPage,
  RunColumns,
  RunPage,
  SchedulePage,
  SettingsView,
  Stats,
  Storage,
  TaskPage,
  TaskView,
  TaskWhy,
  TenantPage,
  TokenPage,
  VersionPage,
  VersionView,
  WatchedFolderPage,
  WebhookPage,
  WindowPage,
  WorkerHistory,
  WorkerPage,
  ZonesView,
} from '@signalbox/protocol';
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { type Concern, ofDag, ofKinds, ofRun } from '../live/digest.ts';
import { get, type Params, seg, withQuery } from './client.ts';

interface Read {
  readonly concern?: Concern;
  /** For what no event tells: workers come and go without one. */
  readonly everyMs?: number;
}

const read = <T>(key: readonly unknown[], path: string, { concern, everyMs }: Read) =>
  queryOptions({
    queryKey: key,
    queryFn: ({ signal }) => get<T>(path, signal),
    ...(concern === undefined ? {} : { meta: { concern } }),
    ...(everyMs === undefined ? {} : { refetchInterval: everyMs }),
  });

const FLEET_MS = 3_000;
const STORAGE_MS = 60_000;
const RUNS = ['run', 'attempt', 'task'] as const;

/** Lists of up to this many are read whole. */
const WHOLE_LIST = 500;

/** Whether there is any dag. */
export const anyDagQuery = () =>
  queryOptions({
    queryKey: ['any-dag'],
    queryFn: async ({ signal }) => (await get<DagPage>('/v1/dags?limit=1', signal)).items.length > 0,
    meta: { concern: ofKinds('dag') },
  });

interface PageOf {
  readonly items: readonly unknown[];
  readonly cursor: string | null;
}

export const dagQuery = (name: string) =>
  read<DagDetails>(['dag', name], `/v1/dags/${seg(name)}`, { concern: ofDag(name) });

export const versionsQuery = (name: string) =>
  read<VersionPage>(['versions', name], `/v1/dags/${seg(name)}/versions?limit=50`, { concern: ofKinds('dag') });

export const versionQuery = (name: string, no: number) =>
  queryOptions({
    queryKey: ['version', name, no],
    queryFn: ({ signal }) => get<VersionView>(`/v1/dags/${seg(name)}/versions/${no}`, signal),
    staleTime: Number.POSITIVE_INFINITY,
  });

/** A list that is read page by page as somebody asks for more. */
const pages = <T extends PageOf>(
  key: readonly unknown[],
  pathOf: (cursor: string | null) => string,
  concern: Concern | undefined,
) =>
  infiniteQueryOptions({
    queryKey: key,
    queryFn: ({ pageParam, signal }) => get<T>(pathOf(pageParam), signal),
    initialPageParam: null as string | null,
    getNextPageParam: ({ cursor }: T) => cursor,
    ...(concern === undefined ? {} : { meta: { concern } }),
  });

export const windowPagesQuery = (dag: string, schedule: string | undefined) =>
  pages<WindowPage>(
    ['windows', dag, schedule],
    (cursor) => withQuery(`/v1/dags/${seg(dag)}/windows`, { limit: 50, schedule, cursor }),
    ofDag(dag),
  );

export const schedulesOfDagQuery = (dag: string) =>
  read<SchedulePage>(['schedules', dag], `/v1/dags/${seg(dag)}/schedules?limit=${WHOLE_LIST}`, { concern: ofDag(dag) });

export const schedulePagesQuery = (filter: Params) =>
  pages<SchedulePage>(
    ['schedule-pages', filter],
    (cursor) => withQuery('/v1/schedules', { ...filter, limit: 100, cursor }),
    ofKinds('schedule', 'window', 'dag'),
  );

export const backfillPagesQuery = (dag: string | undefined) =>
  pages<BackfillPage>(
    ['backfills', dag],
    (cursor) => withQuery('/v1/backfills', { dag, limit: 50, cursor }),
    dag === undefined ? ofKinds('backfill', 'run') : ofDag(dag),
  );

export const assetPagesQuery = (q: string | undefined) =>
  pages<AssetPage>(
    ['assets', q],
    (cursor) => withQuery('/v1/assets', { q, limit: 100, cursor }),
    ofKinds('asset', 'dag'),
  );

export const jobPagesQuery = (filter: Params) =>
  pages<JobPage>(
    ['jobs', filter],
    (cursor) => withQuery('/v1/jobs', { ...filter, limit: 50, cursor }),
    ofKinds('schedule', ...RUNS),
  );

export const jobQuery = (id: string) =>
  read<JobView>(['job', id], `/v1/jobs/${seg(id)}`, { concern: ofKinds('schedule', ...RUNS) });

export const jobRunPagesQuery = (id: string) =>
  pages<RunPage>(
    ['job-runs', id],
    (cursor) => withQuery(`/v1/jobs/${seg(id)}/runs`, { limit: 50, cursor }),
    ofKinds(...RUNS),
  );

export const tenantPagesQuery = (withDeleted: boolean) =>
  pages<TenantPage>(
    ['tenants', withDeleted],
    (cursor) => withQuery('/v1/tenants', { deleted: withDeleted ? 'true' : undefined, limit: 100, cursor }),
    undefined,
  );

export const quotasQuery = (tenant: string) =>
  read<QuotaPage>(['quotas', tenant], `/v1/tenants/${seg(tenant)}/quotas`, { everyMs: FLEET_MS });
/** Attempts end all the time: what they cost is read again now and then. */
const COSTS_MS = 15_000;
export const costsQuery = (query: CostsQuery) =>
  read<Costs>(['costs', JSON.stringify(query)], withQuery('/v1/costs', query), { everyMs: COSTS_MS });
export const rateCardsQuery = () => read<RateCardPage>(['rates'], '/v1/costs/rates', { everyMs: COSTS_MS });
export const budgetsQuery = () => read<BudgetPage>(['budgets'], '/v1/costs/budgets', { everyMs: COSTS_MS });

export const limitsQuery = () => read<LimitPage>(['limits'], '/v1/limits', { everyMs: FLEET_MS });
export const limitQuery = (name: string) =>
  read<LimitDetails>(['limits', name], `/v1/limits/${seg(name)}`, { everyMs: FLEET_MS });
export const freezesQuery = () => read<FreezePage>(['freezes'], '/v1/freezes', { everyMs: FLEET_MS });
export const reservationsQuery = () =>
  read<ReservationPage>(['reservations'], '/v1/reservations', { everyMs: FLEET_MS });
export const blockersQuery = () => read<BlockerPage>(['blockers'], '/v1/blockers', { everyMs: FLEET_MS });

export const webhooksQuery = () => read<WebhookPage>(['webhooks'], '/v1/webhooks', {});
/** No event tells that an expected one came. */
export const expectationsQuery = (dag: string | undefined) =>
  read<ExpectationPage>(['expectations', dag], withQuery('/v1/expectations', { dag }), {
    concern: ofKinds('dag', 'event'),
    everyMs: FLEET_MS,
  });
export const foldersQuery = () => read<WatchedFolderPage>(['folders'], '/v1/folders', { everyMs: FLEET_MS });
export const settingsQuery = () => read<SettingsView>(['settings'], '/v1/settings', {});
export const zonesQuery = () => read<ZonesView>(['zones'], '/v1/zones', { everyMs: STORAGE_MS });

export interface RunFilter extends Params {
  readonly dag?: string | undefined;
  readonly state?: string | undefined;
  readonly outcome?: string | undefined;
  readonly parent?: string | undefined;
  readonly backfill?: string | undefined;
  readonly limit?: number | undefined;
}

export const runsQuery = (filter: RunFilter) =>
  read<RunPage>(['runs', filter], withQuery('/v1/runs', filter), {
    concern: filter.dag === undefined ? ofKinds(...RUNS) : ofDag(filter.dag),
  });

export const runPagesQuery = (filter: RunFilter) =>
  pages<RunPage>(
    ['run-pages', filter],
    (cursor) => withQuery('/v1/runs', { ...filter, limit: 50, cursor }),
    filter.dag === undefined ? ofKinds(...RUNS) : ofDag(filter.dag),
  );

export const columnsQuery = (id: string) =>
  read<RunColumns>(['columns', id], `/v1/runs/${seg(id)}/columns`, { concern: ofRun(id) });

/** Names and edges: read once, and again when the run has another number of tasks. */
export const shapeQuery = (id: string, taskCount: number) =>
  queryOptions({
    queryKey: ['shape', id, taskCount],
    queryFn: async ({ signal }) => (await get<RunColumns>(`/v1/runs/${seg(id)}/columns?shape=true`, signal)).shape,
    staleTime: Number.POSITIVE_INFINITY,
    // No event makes it be read again, and without it the page shows nothing.
    refetchInterval: ({ state }) => (state.status === 'error' ? FLEET_MS : false),
    enabled: taskCount >= 0,
  });

/** Runs of the grid. */
const GRID_RUNS = 100;
/** Runs that are drawn one by one; what is said over a longer time comes from sums. */
const HISTORY_RUNS = 200;

export const gridQuery = (name: string) =>
  read<DagGrid>(['grid', name], `/v1/dags/${seg(name)}/grid?runs=${GRID_RUNS}`, { concern: ofDag(name) });

export const historyQuery = (name: string) =>
  read<DagHistory>(['history', name], `/v1/dags/${seg(name)}/history?runs=${HISTORY_RUNS}`, { concern: ofDag(name) });

/** Days that rates and typical durations are of. */
export const STATS_DAYS = 30;

export interface StatsFilter extends Params {
  readonly dag?: string | undefined;
  readonly by: 'hour' | 'day';
  readonly steps: number;
}

/** Days are those of the viewer. */
const viewerZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;

export const statsQuery = (filter: StatsFilter) =>
  read<Stats>(['stats', filter], withQuery('/v1/stats', { ...filter, zone: viewerZone() }), {
    concern: filter.dag === undefined ? ofKinds('run') : ofDag(filter.dag),
  });

export const firingsQuery = (dag: string, schedule: string) =>
  read<FiringPage>(['firings', dag, schedule], withQuery(`/v1/dags/${seg(dag)}/firings`, { schedule, count: 12 }), {
    concern: ofDag(dag),
  });

export const tasksQuery = (id: string) =>
  read<TaskPage>(['tasks', id], `/v1/runs/${seg(id)}/tasks?limit=${WHOLE_LIST}`, { concern: ofRun(id) });

/** No event tells how far a task is: workers say so as they renew their leases. */
export const taskQuery = (id: string, task: string) =>
  queryOptions({
    ...read<TaskView>(['task', id, task], `/v1/runs/${seg(id)}/tasks/${seg(task)}`, { concern: ofRun(id) }),
    refetchInterval: ({ state }) => (state.data?.state === 'running' ? FLEET_MS : false),
  });

/** Who goes first, and who has the slots, changes with the work of others. */
export const taskWhyQuery = (id: string, task: string) =>
  read<TaskWhy>(['task-why', id, task], `/v1/runs/${seg(id)}/tasks/${seg(task)}/why`, {
    concern: ofRun(id),
    everyMs: FLEET_MS,
  });

export const workerHistoryQuery = (worker: string | undefined) =>
  read<WorkerHistory>(['worker-history', worker], withQuery('/v1/workers/history', { limit: 50, worker }), {
    everyMs: FLEET_MS,
  });

export const decisionsQuery = (id: string, task: string) =>
  read<DecisionPage>(['decisions', id, task], `/v1/runs/${seg(id)}/tasks/${seg(task)}/decisions`, {
    concern: ofRun(id),
  });

export const schedulesQuery = () =>
  read<SchedulePage>(['schedules'], `/v1/schedules?limit=${WHOLE_LIST}`, {
    concern: ofKinds('schedule', 'run', 'window'),
  });

export const deadLetterGroupsQuery = () =>
  read<DeadLetterGroups>(['dead-letter-groups'], '/v1/dead-letters/groups?limit=100', {
    concern: ofKinds('dead_letter'),
  });

export const deadLettersQuery = (filter: Params) =>
  read<DeadLetterPage>(['dead-letters', filter], withQuery('/v1/dead-letters', filter), {
    concern: ofKinds('dead_letter'),
  });

export const breakersQuery = () => read<BreakerPage>(['breakers'], '/v1/breakers', { concern: ofKinds('breaker') });

/** No event tells of calls; runs that end make them. */
export const callbackPagesQuery = (state: string | undefined) =>
  pages<CallbackPage>(
    ['callbacks', state],
    (cursor) => withQuery('/v1/callbacks', { state, limit: 50, cursor }),
    ofKinds('run'),
  );

export const workersQuery = () => read<WorkerPage>(['workers'], '/v1/workers', { everyMs: FLEET_MS });
export const heldQuery = (worker: string) =>
  read<HeldAttemptPage>(['held', worker], `/v1/workers/${seg(worker)}/attempts`, { everyMs: FLEET_MS });
export const queuesQuery = () => read<QueuePage>(['queues'], '/v1/queues', { everyMs: FLEET_MS });
export const storageQuery = () => read<Storage>(['storage'], '/v1/storage', { everyMs: STORAGE_MS });
export const delaysQuery = () => read<Delays>(['delays'], '/v1/delays?runs=100', { concern: ofKinds('run') });
export const nodesQuery = () => read<NodePage>(['nodes'], '/v1/nodes', { everyMs: FLEET_MS });
export const tokensQuery = () => read<TokenPage>(['tokens'], '/v1/tokens', {});
export const auditQuery = () => read<AuditPage>(['audit'], '/v1/audit?limit=50', {});
