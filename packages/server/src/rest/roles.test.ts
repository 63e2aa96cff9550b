import type { TenantId } from '@signalbox/engine';
import { ROLES } from '@signalbox/protocol';
import type { Queries } from '@signalbox/store';
import type { FastifyInstance } from 'fastify';
import { beforeAll, expect, test } from 'vitest';
import { hashOf } from '../auth/bearer.ts';
import type { MainLine } from '../edge/main-line.ts';
import { makeLogger } from '../log.ts';
import type { LogReader } from '../logs/log-reader.ts';
import { buildApp } from './app.ts';
import { OPERATIONS } from './operations/index.ts';

const GROUPS = {
  anyone: ROLES,
  all: ROLES,
  readers: ['admin', 'operator', 'viewer'],
  operators: ['admin', 'operator'],
  admins: ['admin'],
} as const;

/** Written by hand, apart from the table that the server goes by: who may, for each route there is. */
const WHO: Record<string, keyof typeof GROUPS> = {
  'GET /healthz': 'anyone',
  'HEAD /healthz': 'anyone',
  'GET /readyz': 'anyone',
  'HEAD /readyz': 'anyone',
  'GET /login': 'anyone',
  'GET /v1/session': 'all',
  'POST /v1/session/end': 'readers',
  'GET /assets/:file': 'readers',
  'GET /v1/dags': 'readers',
  'GET /v1/dag-names': 'readers',
  'GET /v1/dag-labels': 'readers',
  'GET /v1/dags/:name': 'readers',
  'PUT /v1/dags/:name': 'operators',
  'DELETE /v1/dags/:name': 'operators',
  'PUT /v1/dags/:name/owner': 'operators',
  'GET /v1/dags/:name/versions': 'readers',
  'GET /v1/dags/:name/versions/:no': 'readers',
  'POST /v1/dags/:name/runs': 'operators',
  'POST /v1/dags/:name/runs/batch': 'operators',
  'POST /v1/dags/:name/schedule/pause': 'operators',
  'POST /v1/dags/:name/schedule/resume': 'operators',
  'GET /v1/dags/:name/windows': 'readers',
  'GET /v1/dags/:name/schedules': 'readers',
  'POST /v1/dags/:name/schedules': 'operators',
  'GET /v1/dags/:name/schedules/:schedule': 'readers',
  'PUT /v1/dags/:name/schedules/:schedule': 'operators',
  'DELETE /v1/dags/:name/schedules/:schedule': 'operators',
  'POST /v1/dags/:name/schedules/:schedule/pause': 'operators',
  'POST /v1/dags/:name/schedules/:schedule/resume': 'operators',
  'POST /v1/schedules': 'operators',
  'POST /v1/schedules/import': 'operators',
  'GET /v1/schedules': 'readers',
  'GET /v1/schedules/preview': 'readers',
  'POST /v1/schedules/preview': 'readers',
  'POST /v1/dags/:name/backfills': 'operators',
  'POST /v1/dags/:name/backfills/preview': 'readers',
  'GET /v1/backfills': 'readers',
  'GET /v1/backfills/:id': 'readers',
  'POST /v1/backfills/:id/pause': 'operators',
  'POST /v1/backfills/:id/resume': 'operators',
  'POST /v1/backfills/:id/cancel': 'operators',
  'GET /v1/runs': 'readers',
  'GET /v1/runs/:id': 'readers',
  'GET /v1/runs/:id/columns': 'readers',
  'GET /v1/dags/:name/grid': 'readers',
  'GET /v1/delays': 'readers',
  'GET /v1/stats': 'readers',
  'GET /v1/stats/dags': 'readers',
  'GET /v1/costs': 'readers',
  'GET /v1/costs/rates': 'readers',
  'PUT /v1/costs/rates': 'admins',
  'GET /v1/costs/budgets': 'readers',
  'PUT /v1/costs/budgets/:target': 'admins',
  'DELETE /v1/costs/budgets/:target': 'admins',
  'GET /v1/workers/:id/attempts': 'readers',
  'GET /v1/workers/history': 'readers',
  'GET /v1/queues': 'readers',
  'GET /v1/storage': 'readers',
  'GET /v1/folders': 'readers',
  'GET /v1/dags/:name/history': 'readers',
  'GET /v1/dags/:name/firings': 'readers',
  'POST /v1/runs/:id/cancel': 'operators',
  'GET /v1/runs/:id/tasks': 'readers',
  'GET /v1/runs/:id/tasks/:task': 'readers',
  'GET /v1/runs/:id/tasks/:task/attempts': 'readers',
  'GET /v1/runs/:id/tasks/:task/decisions': 'readers',
  'GET /v1/runs/:id/tasks/:task/attempts/:n/log': 'readers',
  'GET /v1/runs/:id/log': 'readers',
  'POST /v1/runs/:id/tasks/:task/retry': 'operators',
  'GET /v1/dead-letters': 'readers',
  'GET /v1/dead-letters/groups': 'readers',
  'GET /v1/dead-letters/:letter': 'readers',
  'POST /v1/dead-letters/:letter/replay': 'operators',
  'POST /v1/dead-letters/:letter/discard': 'operators',
  'POST /v1/dead-letters/replay': 'operators',
  'POST /v1/dead-letters/discard': 'operators',
  'GET /v1/breakers': 'readers',
  'POST /v1/breakers/reset': 'operators',
  'POST /v1/runs/:id/clear': 'operators',
  'POST /v1/runs/:id/mark': 'operators',
  'POST /v1/runs/:id/tasks/:task/cancel': 'operators',
  'POST /v1/runs/:id/pause': 'operators',
  'POST /v1/runs/:id/resume': 'operators',
  'POST /v1/runs/:id/tasks/:task/pause': 'operators',
  'POST /v1/runs/:id/tasks/:task/resume': 'operators',
  'POST /v1/runs/:id/rerun': 'operators',
  'POST /v1/dags/:name/clear': 'operators',
  'POST /v1/runs/retry': 'operators',
  'POST /v1/runs/cancel': 'operators',
  'POST /v1/runs/:id/priority': 'operators',
  'GET /v1/runs/:id/tasks/:task/why': 'readers',
  'POST /v1/runs/priority': 'operators',
  'GET /v1/callbacks': 'readers',
  'GET /v1/callbacks/secret': 'admins',
  'POST /v1/runs/:id/callbacks': 'operators',
  'GET /v1/events': 'readers',
  'POST /v1/events/:name': 'operators',
  'PUT /v1/bundles/:hash': 'operators',
  'GET /v1/bundles/:hash': 'readers',
  'PUT /v1/bundles/:hash/source-map': 'operators',
  'GET /v1/bundles/:hash/source-map': 'readers',
  'GET /': 'readers',
  'GET /docs': 'readers',
  'GET /openapi.json': 'readers',
  'GET /schemas/dag.json': 'readers',
  'GET /metrics': 'all',
  'POST /v1/workers/:id/drain': 'operators',
  'POST /v1/workers/:id/evict': 'operators',
  'POST /v1/queues/:name/scale-in': 'operators',
  'GET /v1/workers': 'readers',
  'GET /v1/nodes': 'readers',
  'GET /v1/tokens': 'admins',
  'POST /v1/tokens': 'admins',
  'POST /v1/tokens/:name/revoke': 'admins',
  'POST /v1/events': 'operators',
  'POST /v1/jobs': 'operators',
  'POST /v1/jobs/batch': 'operators',
  'POST /v1/jobs/import': 'operators',
  'GET /v1/jobs': 'readers',
  'GET /v1/jobs/:id': 'readers',
  'GET /v1/jobs/:id/runs': 'readers',
  'POST /v1/jobs/:id/pause': 'operators',
  'POST /v1/jobs/:id/resume': 'operators',
  'POST /v1/jobs/:id/cancel': 'operators',
  'DELETE /v1/jobs/:id': 'operators',
  'GET /v1/blockers': 'readers',
  'GET /v1/freezes': 'readers',
  'PUT /v1/freezes/:target': 'operators',
  'DELETE /v1/freezes/:target': 'operators',
  'GET /v1/reservations': 'readers',
  'POST /v1/reservations': 'admins',
  'DELETE /v1/reservations/:id': 'admins',
  'GET /v1/limits': 'readers',
  'GET /v1/limits/:limit': 'readers',
  'PUT /v1/limits/:limit': 'admins',
  'DELETE /v1/limits/:limit': 'admins',
  'GET /v1/tenants': 'admins',
  'POST /v1/tenants': 'admins',
  'GET /v1/tenants/:name': 'readers',
  'PUT /v1/tenants/:name': 'admins',
  'POST /v1/tenants/:name/suspend': 'admins',
  'POST /v1/tenants/:name/resume': 'admins',
  'DELETE /v1/tenants/:name': 'admins',
  'GET /v1/tenants/:name/quotas': 'readers',
  'PUT /v1/tenants/:name/quotas/:quota': 'admins',
  'POST /v1/tenants/:name/quotas/:quota/raise': 'admins',
  'DELETE /v1/tenants/:name/quotas/:quota': 'admins',
  'POST /v1/webhooks': 'admins',
  'GET /v1/webhooks': 'admins',
  'POST /v1/webhooks/:id/rotate': 'admins',
  'DELETE /v1/webhooks/:id': 'admins',
  'POST /v1/webhooks/:id': 'anyone',
  'POST /v1/login-links': 'admins',
  'GET /v1/audit': 'admins',
  'GET /v1/retention': 'admins',
  'POST /v1/retention/run': 'admins',
  'GET /v1/expectations': 'readers',
  'GET /v1/assets': 'readers',
  'GET /v1/assets/:asset': 'readers',
  'POST /v1/assets/:asset/materialize': 'operators',
  'GET /v1/settings': 'readers',
  'PUT /v1/settings': 'admins',
  'GET /v1/zones': 'readers',
  'POST /v1/zones/upgrade': 'admins',
};

let app: FastifyInstance;
beforeAll(async () => {
  const byHash = new Map(ROLES.map((role) => [hashOf(`a-${role}`).toString('hex'), role]));
  const findToken = async (sha256: Buffer) => {
    const role = byHash.get(sha256.toString('hex'));
    return role === undefined ? null : { tenantId: 1 as TenantId, tenant: 'default', name: role, role, leftMs: null };
  };
  // Whoever gets past the door meets a fault of ours: that is how it is told from a refusal.
  const broken = {
    get: (target: object, name: string) =>
      Reflect.get(target, name) ?? (() => Promise.reject(new TypeError('past the door'))),
  };
  app = await buildApp({
    queries: new Proxy({ findToken }, broken) as unknown as Queries,
    main: new Proxy({}, broken) as unknown as MainLine,
    logs: new Proxy({}, broken) as unknown as LogReader,
    logFolder: '.',
    logger: makeLogger('silent', 'test'),
    bind: { host: '127.0.0.1', port: 4500 },
    allowedHosts: [],
    trustedProxies: [],
    tls: null,
    retention: { runDays: 30, journalDays: 7, deadLetterDays: 30 },
    rate: null,
    runRate: null,
  });
  await app.ready();
});

/** As fastify itself tells it, apart from any table of ours. */
function servedRoutes(): string[] {
  const found: string[] = [];
  let path: string[] = [];
  for (const line of app.printRoutes({ commonPrefix: false }).split('\n')) {
    const branch = /^([│ ]*)(?:├── |└── )(\S+)(?: \(([A-Z, ]+)\))?$/.exec(line);
    if (branch === null) continue;
    path = [...path.slice(0, (branch[1] ?? '').length / 4), branch[2] ?? ''];
    for (const method of branch[3]?.split(', ') ?? []) found.push(`${method} ${path.join('')}`);
  }
  return found.sort();
}

test('every route that is served has an entry here, and in the table of operations (I66)', () => {
  const served = servedRoutes();
  expect(served).toEqual(Object.keys(WHO).sort());
  const named = OPERATIONS.map(({ method, path }) => `${method} ${path}`).sort();
  expect(served.filter((route) => !route.startsWith('HEAD '))).toEqual(named);
});

test.each(Object.entries(WHO))('%s is for %s (I66)', async (route, group) => {
  const [method, path] = route.split(' ') as [string, string];
  for (const role of ROLES) {
    const answer = await app.inject({
      method: method as 'GET',
      url: path.replace(':id', '01a1e0f6-9382-7972-ae81-833005000000').replaceAll(/:\w+/g, 'x'),
      headers: {
        host: '127.0.0.1:4500',
        authorization: `Bearer a-${role}`,
        ...(method === 'POST' || method === 'PUT' ? { 'content-type': 'application/json' } : {}),
      },
      ...(method === 'POST' || method === 'PUT' ? { payload: '{}' } : {}),
    });
    const may = (GROUPS[group] as readonly string[]).includes(role);
    expect([role, answer.statusCode === 403]).toEqual([role, !may]);
    if (!may && method !== 'HEAD') expect(answer.json().code).toBe('FORBIDDEN');
  }
});

test('whoever takes nothing of an answer for a minute is cut off: it lies in memory until then (I68)', () => {
  expect(app.server.timeout).toBe(60_000);
});
