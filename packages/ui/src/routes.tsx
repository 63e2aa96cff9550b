/** Which address shows which page. Pages load when somebody goes there. */
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  type RouteComponent,
} from '@tanstack/react-router';
import { HomePage } from './pages/home/home.tsx';
import { NotFound } from './pages/not-found.tsx';
import { Layout } from './shell/layout.tsx';

/** Filters and selections live in the address, as plain text. */
export type Search = Readonly<Record<string, string | undefined>>;

const readSearch = (search: Record<string, unknown>): Record<string, string | undefined> =>
  Object.fromEntries(
    Object.entries(search)
      .filter(([, value]) => ['string', 'number', 'boolean'].includes(typeof value))
      .map(([name, value]) => [name, String(value)]),
  );

const root = createRootRoute({ component: Layout, notFoundComponent: NotFound, validateSearch: readSearch });

const page = <const Path extends string>(path: Path, component: RouteComponent) =>
  createRoute({ getParentRoute: () => root, path, component });

const routeTree = root.addChildren([
  page('/', HomePage),
  page(
    '/dags',
    lazyRouteComponent(() => import('./pages/dags/dags.tsx'), 'DagsPage'),
  ),
  page(
    '/dags/$name',
    lazyRouteComponent(() => import('./pages/dag/dag.tsx'), 'DagPage'),
  ),
  page(
    '/runs',
    lazyRouteComponent(() => import('./pages/runs/runs.tsx'), 'RunsPage'),
  ),
  page(
    '/runs/$id',
    lazyRouteComponent(() => import('./pages/run/run.tsx'), 'RunPage'),
  ),
  page(
    '/runs/$id/tasks/$task',
    lazyRouteComponent(() => import('./pages/task/task.tsx'), 'TaskPage'),
  ),
  page(
    '/schedules',
    lazyRouteComponent(() => import('./pages/schedules/schedules.tsx'), 'SchedulesPage'),
  ),
  page(
    '/jobs',
    lazyRouteComponent(() => import('./pages/jobs/jobs.tsx'), 'JobsPage'),
  ),
  page(
    '/jobs/$id',
    lazyRouteComponent(() => import('./pages/jobs/job.tsx'), 'JobPage'),
  ),
  page(
    '/assets',
    lazyRouteComponent(() => import('./pages/assets/assets.tsx'), 'AssetsPage'),
  ),
  page(
    '/limits',
    lazyRouteComponent(() => import('./pages/limits/limits.tsx'), 'LimitsPage'),
  ),
  page(
    '/costs',
    lazyRouteComponent(() => import('./pages/costs/costs.tsx'), 'CostsPage'),
  ),
  page(
    '/tenants',
    lazyRouteComponent(() => import('./pages/tenants/tenants.tsx'), 'TenantsPage'),
  ),
  page(
    '/backfills',
    lazyRouteComponent(() => import('./pages/backfills/backfills.tsx'), 'BackfillsPage'),
  ),
  page(
    '/dead-letters',
    lazyRouteComponent(() => import('./pages/dead-letters/dead-letters.tsx'), 'DeadLettersPage'),
  ),
  page(
    '/breakers',
    lazyRouteComponent(() => import('./pages/breakers.tsx'), 'BreakersPage'),
  ),
  page(
    '/callbacks',
    lazyRouteComponent(() => import('./pages/callbacks.tsx'), 'CallbacksPage'),
  ),
  page(
    '/workers',
    lazyRouteComponent(() => import('./pages/workers.tsx'), 'WorkersPage'),
  ),
  page(
    '/queues',
    lazyRouteComponent(() => import('./pages/queues.tsx'), 'QueuesPage'),
  ),
  page(
    '/events',
    lazyRouteComponent(() => import('./pages/events/events.tsx'), 'EventsPage'),
  ),
  page(
    '/sources',
    lazyRouteComponent(() => import('./pages/sources/sources.tsx'), 'SourcesPage'),
  ),
  page(
    '/system',
    lazyRouteComponent(() => import('./pages/system/system.tsx'), 'SystemPage'),
  ),
]);

/** Text in the address stays as it was written: no JSON, no quotes. */
const parseSearch = (text: string): Record<string, string> => Object.fromEntries(new URLSearchParams(text));
function stringifySearch(search: Record<string, unknown>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(search)) {
    if (value !== undefined && value !== null && value !== '') query.set(name, `${value as string | number}`);
  }
  const text = query.toString();
  return text === '' ? '' : `?${text}`;
}

export const router = createRouter({
  routeTree,
  parseSearch,
  stringifySearch,
  defaultPreload: 'intent',
  scrollRestoration: true,
  defaultPendingMs: 300,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
