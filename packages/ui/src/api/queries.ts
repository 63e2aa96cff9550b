/** Everything that pages read, with what makes it change: the live layer reads it again then. */
import type {
  AuditPage,
  BreakerPage,
  DagDetails,
  DagGrid,
  DagHistory,
  DagPage,
  DagStats,
  DeadLetterGroups,
  DeadLetterPage,
  Delays,
  FiringPage,
  HeldAttemptPage,
  NodePage,
  QueuePage,
  RunColumns,
  RunPage,
  SchedulePage,
  Stats,
  Storage,
  TaskPage,
  TaskView,
  TokenPage,
  VersionPage,
  VersionView,
  WindowPage,
  WorkerPage,
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

/** Lists of up to this many are read whole and filtered in the page. */
const WHOLE_LIST = 500;
/** Runs in the strip of a dag. */
const RECENT = 14;

export const dagsQuery = () =>
  queryOptions({
    queryKey: ['dags'],
    queryFn: ({ signal }) =>
      readAll<DagPage>((cursor) => withQuery('/v1/dags', { limit: WHOLE_LIST, recent: RECENT, cursor }), signal),
    meta: { concern: ofKinds('dag', 'schedule', 'run') },
  });

interface PageOf {
  readonly items: readonly unknown[];
  readonly cursor: string | null;
}

const MOST_PAGES = 40;

/** All pages of a list, up to 20,000 items. */
async function readAll<T extends PageOf>(
  pathOf: (cursor: string | null) => string,
  signal: AbortSignal,
): Promise<T['items'][number][]> {
  const items: T['items'][number][] = [];
  let cursor: string | null = null;
  for (let page = 0; page < MOST_PAGES; page++) {
    const next: T = await get<T>(pathOf(cursor), signal);
    items.push(...next.items);
    cursor = next.cursor;
    if (cursor === null) break;
  }
  return items;
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

export const windowsQuery = (name: string) =>
  read<WindowPage>(['windows', name], `/v1/dags/${seg(name)}/windows?limit=50`, { concern: ofDag(name) });

export interface RunFilter extends Params {
  readonly dag?: string | undefined;
  readonly state?: string | undefined;
  readonly outcome?: string | undefined;
  readonly parent?: string | undefined;
  readonly limit?: number | undefined;
}

export const runsQuery = (filter: RunFilter) =>
  read<RunPage>(['runs', filter], withQuery('/v1/runs', filter), {
    concern: filter.dag === undefined ? ofKinds(...RUNS) : ofDag(filter.dag),
  });

export const runPagesQuery = (filter: RunFilter) =>
  infiniteQueryOptions({
    queryKey: ['run-pages', filter],
    queryFn: ({ pageParam, signal }) =>
      get<RunPage>(withQuery('/v1/runs', { ...filter, limit: 50, cursor: pageParam }), signal),
    initialPageParam: null as string | null,
    getNextPageParam: ({ cursor }) => cursor,
    meta: { concern: filter.dag === undefined ? ofKinds(...RUNS) : ofDag(filter.dag) },
  });

export const columnsQuery = (id: string) =>
  read<RunColumns>(['columns', id], `/v1/runs/${seg(id)}/columns`, { concern: ofRun(id) });

/** Names and edges: read once, and again when the run has another number of tasks. */
export const shapeQuery = (id: string, taskCount: number) =>
  queryOptions({
    queryKey: ['shape', id, taskCount],
    queryFn: async ({ signal }) => (await get<RunColumns>(`/v1/runs/${seg(id)}/columns?shape=true`, signal)).shape,
    staleTime: Number.POSITIVE_INFINITY,
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

export const dagStatsQuery = () =>
  read<DagStats>(['dag-stats'], `/v1/stats/dags?days=${STATS_DAYS}`, { concern: ofKinds('run') });

export const firingsQuery = (name: string) =>
  read<FiringPage>(['firings', name], `/v1/dags/${seg(name)}/firings?count=12`, { concern: ofDag(name) });

export const tasksQuery = (id: string) =>
  read<TaskPage>(['tasks', id], `/v1/runs/${seg(id)}/tasks?limit=${WHOLE_LIST}`, { concern: ofRun(id) });

export const taskQuery = (id: string, task: string) =>
  read<TaskView>(['task', id, task], `/v1/runs/${seg(id)}/tasks/${seg(task)}`, { concern: ofRun(id) });

export const schedulesQuery = () =>
  read<SchedulePage>(['schedules'], `/v1/schedules?limit=${WHOLE_LIST}`, {
    concern: ofKinds('schedule', 'run', 'window'),
  });

export const deadLetterGroupsQuery = () =>
  read<DeadLetterGroups>(['dead-letter-groups'], '/v1/dead-letters/groups?limit=100', { concern: ofKinds('letter') });

export const deadLettersQuery = (filter: Params) =>
  read<DeadLetterPage>(['dead-letters', filter], withQuery('/v1/dead-letters', filter), { concern: ofKinds('letter') });

export const breakersQuery = () => read<BreakerPage>(['breakers'], '/v1/breakers', { concern: ofKinds('breaker') });

export const workersQuery = () => read<WorkerPage>(['workers'], '/v1/workers', { everyMs: FLEET_MS });
export const heldQuery = (worker: string) =>
  read<HeldAttemptPage>(['held', worker], `/v1/workers/${seg(worker)}/attempts`, { everyMs: FLEET_MS });
export const queuesQuery = () => read<QueuePage>(['queues'], '/v1/queues', { everyMs: FLEET_MS });
export const storageQuery = () => read<Storage>(['storage'], '/v1/storage', { everyMs: STORAGE_MS });
export const delaysQuery = () => read<Delays>(['delays'], '/v1/delays?runs=100', { concern: ofKinds('run') });
export const nodesQuery = () => read<NodePage>(['nodes'], '/v1/nodes', { everyMs: FLEET_MS });
export const tokensQuery = () => read<TokenPage>(['tokens'], '/v1/tokens', {});
export const auditQuery = () => read<AuditPage>(['audit'], '/v1/audit?limit=50', {});
