/** The REST API: first the guards, then one file per subject, and the error table at the end. */
import { readFile } from 'node:fs/promises';
import type { Retention } from '@signalbox/protocol';
import type { Queries } from '@signalbox/store';
import { type FastifyInstance, fastify, LogController, type RouteOptions } from 'fastify';
import { Bearers } from '../auth/bearer.ts';
import { type Rate, TokenBuckets } from '../auth/rate.ts';
import type { BindAddress, TlsFiles } from '../config.ts';
import type { MainLine } from '../edge/main-line.ts';
import type { WatchedFolder } from '../files/folder-watch.ts';
import type { Logger } from '../log.ts';
import type { LogReader } from '../logs/log-reader.ts';
import type { WatchedObjects } from '../objects/object-watch.ts';
import { ParamsChecker } from '../params/params-checker.ts';
import { systemClock } from '../ports/clock.ts';
import { assetRoutes } from './assets.ts';
import { auditRoutes } from './audit.ts';
import { backfillRoutes } from './backfills.ts';
import { blockerRoutes } from './blockers.ts';
import { cutIfSlow, readJsonBodies } from './body.ts';
import { breakerRoutes } from './breakers.ts';
import { bundleRoutes } from './bundles.ts';
import { callbackRoutes } from './callbacks.ts';
import { cancelRoutes } from './cancel.ts';
import { columnRoutes } from './columns.ts';
import { costRoutes } from './costs.ts';
import { dagHistoryRoutes } from './dag-history.ts';
import { DagLookup } from './dag-lookup.ts';
import { dagOwnerRoutes } from './dag-owner.ts';
import { dagRoutes } from './dags.ts';
import { deadLetterRoutes } from './dead-letters.ts';
import { decisionRoutes } from './decisions.ts';
import { delayRoutes } from './delays.ts';
import { answerBrokenRequest, badRequest, onError, sendProblem } from './errors.ts';
import { eventRoutes } from './events.ts';
import { expectationRoutes } from './expectations.ts';
import { fleetRoutes } from './fleet.ts';
import { freezeRoutes } from './freezes.ts';
import { authenticate, type Doors, HostGuard, isStillValid } from './guards.ts';
import { STRICT_HEADERS } from './headers.ts';
import { healthRoutes } from './health.ts';
import { jobRoutes } from './jobs.ts';
import { loginRoutes } from './login.ts';
import { logRoutes } from './logs.ts';
import { handRoutes } from './manual.ts';
import { metricsRoutes } from './metrics.ts';
import { OpenStreams } from './open-streams.ts';
import { operationOf } from './operations/index.ts';
import { pageRoutes } from './pages/index.ts';
import { priorityRoutes } from './priorities.ts';
import { queueRoutes } from './queues.ts';
import { quotaRoutes } from './quotas.ts';
import { rerunRoutes } from './rerun.ts';
import { reservationRoutes } from './reservations.ts';
import type { RestParts } from './rest-parts.ts';
import { retentionRoutes } from './retention.ts';
import { retryRunsRoutes } from './retry-runs.ts';
import { runRoutes } from './runs.ts';
import { schedulePreviewRoutes } from './schedule-preview.ts';
import { scheduleRoutes } from './schedules.ts';
import { sendMissedEvents } from './send-missed-events.ts';
import { sessionRoutes } from './session.ts';
import { settingsRoutes } from './settings.ts';
import { slotLimitRoutes } from './slot-limits.ts';
import { statsRoutes } from './stats.ts';
import { storageRoutes } from './storage.ts';
import { submitRoutes } from './submit.ts';
import { taskWhyRoutes } from './task-why.ts';
import { taskRoutes } from './tasks.ts';
import { tenantRoutes } from './tenants.ts';
import { tokenRoutes } from './tokens.ts';
import { watchFolders } from './watch-folders.ts';
import { watchObjects } from './watch-objects.ts';
import { webhookRoutes } from './webhooks.ts';
import { windowRoutes } from './windows.ts';
import { workerHistoryRoutes } from './worker-history.ts';
import { zoneRoutes } from './zones.ts';

interface AppOptions {
  readonly queries: Queries;
  readonly main: MainLine;
  readonly logs: LogReader;
  readonly logFolder: string;
  readonly logger: Logger;
  readonly bind: BindAddress;
  readonly allowedHosts: readonly string[];
  /** Whose X-Forwarded-For and X-Forwarded-Proto are believed. */
  readonly trustedProxies: readonly string[];
  readonly tls: TlsFiles | null;
  readonly retention: Retention;
  /** Requests of one caller; null for as many as it likes. */
  readonly rate: Rate | null;
  /** Runs that one caller may submit; null for as many as it likes. */
  readonly runRate: Rate | null;
  readonly watchFolders?: readonly WatchedFolder[];
  readonly watchObjects?: WatchedObjects;
}

const BODY_BYTES = 1024 * 1024;
const DEADLINE_MS = 10_000;
/** A reader that takes nothing of its answer for so long is not waited for: what it was to get lies in memory (I68, I73). */
const STUCK_MS = 60_000;
/** Left over for the way back. */
const RESERVE_MS = 500;
const SHORTEST_MS = 100;
const MOST_HEADERS = 100;
/** A name of 200 characters may be written with three for each. */
const LONGEST_PART = 700;

declare module 'fastify' {
  interface FastifyRequest {
    startedAt: number;
  }
}

export async function buildApp(options: AppOptions): Promise<FastifyInstance> {
  const { queries, main, logs, logger, bind, tls } = options;
  const app = fastify({
    loggerInstance: logger,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: BODY_BYTES,
    requestTimeout: DEADLINE_MS,
    connectionTimeout: STUCK_MS,
    keepAliveTimeout: 65_000,
    exposeHeadRoutes: false,
    // From the last hop backwards, for as long as a hop is one of these: what comes before the first stranger is hearsay.
    trustProxy: options.trustedProxies.length === 0 ? false : [...options.trustedProxies],
    forceCloseConnections: 'idle',
    routerOptions: { maxParamLength: LONGEST_PART },
    https: tls === null ? null : { cert: await readFile(tls.cert), key: await readFile(tls.key) },
    clientErrorHandler: answerBrokenRequest,
    frameworkErrors: (_error, _request, reply) => {
      void sendProblem(reply, badRequest('', 'has a path that is not well-formed'));
    },
  }) as unknown as FastifyInstance;
  app.server.maxHeadersCount = MOST_HEADERS + 1;
  const { rate, retention } = options;
  const doors: Doors = { bearers: new Bearers(queries), requests: rate === null ? null : new TokenBuckets(rate) };
  const hosts = new HostGuard(bind, options.allowedHosts);
  const parts: RestParts = {
    queries,
    main,
    logs,
    logFolder: options.logFolder,
    retention,
    isSecure: tls !== null,
    params: new ParamsChecker(),
    runRate: options.runRate === null ? null : new TokenBuckets(options.runRate),
    streams: new OpenStreams(),
    isStillValid: (request) => isStillValid(request, doors),
    dags: new DagLookup(queries),
    leftMs: (request) => Math.max(SHORTEST_MS, DEADLINE_MS - RESERVE_MS - (systemClock.mono() - request.startedAt)),
  };

  app.decorateRequest('caller', null);
  app.decorateRequest('startedAt', 0);
  app.addHook('onRequest', async (request, reply) => {
    request.startedAt = systemClock.mono();
    reply.headers(STRICT_HEADERS);
    if (request.raw.rawHeaders.length > 2 * MOST_HEADERS)
      throw badRequest('headers', `must be at most ${MOST_HEADERS}`);
    cutIfSlow(request, DEADLINE_MS);
    hosts.check(request);
    await authenticate(request, doors);
  });
  app.addHook('onRoute', nameRoute);
  app.addHook('preClose', async () => parts.streams.endAll());
  app.addHook('onClose', async () => parts.params.close());
  readJsonBodies(app);
  app.setErrorHandler(onError);

  // First: what is counted is what comes after it.
  metricsRoutes(app, parts);
  healthRoutes(app, parts);
  dagRoutes(app, parts);
  dagOwnerRoutes(app, parts);
  dagHistoryRoutes(app, parts);
  schedulePreviewRoutes(app);
  bundleRoutes(app, parts);
  submitRoutes(app, parts);
  runRoutes(app, parts);
  columnRoutes(app, parts);
  delayRoutes(app, parts);
  statsRoutes(app, parts);
  costRoutes(app, parts);
  taskRoutes(app, parts);
  taskWhyRoutes(app, parts);
  decisionRoutes(app, parts);
  workerHistoryRoutes(app, parts);
  handRoutes(app, parts);
  rerunRoutes(app, parts);
  cancelRoutes(app, parts);
  priorityRoutes(app, parts);
  retryRunsRoutes(app, parts);
  logRoutes(app, parts);
  deadLetterRoutes(app, parts);
  breakerRoutes(app, parts);
  scheduleRoutes(app, parts);
  backfillRoutes(app, parts);
  windowRoutes(app, parts);
  eventRoutes(app, parts);
  fleetRoutes(app, parts);
  queueRoutes(app, parts);
  storageRoutes(app, parts);
  callbackRoutes(app, parts);
  tokenRoutes(app, parts);
  jobRoutes(app, parts);
  slotLimitRoutes(app, parts);
  freezeRoutes(app, parts);
  reservationRoutes(app, parts);
  blockerRoutes(app, parts);
  tenantRoutes(app, parts);
  quotaRoutes(app, parts);
  webhookRoutes(app, parts);
  loginRoutes(app, parts);
  sessionRoutes(app, parts);
  auditRoutes(app, parts);
  retentionRoutes(app, parts);
  zoneRoutes(app, parts);
  settingsRoutes(app, parts);
  assetRoutes(app, parts);
  expectationRoutes(app, parts);
  sendMissedEvents(app, parts);
  watchFolders(app, parts, options.watchFolders ?? []);
  if (options.watchObjects !== undefined) watchObjects(app, parts, options.watchObjects);
  pageRoutes(app);
  return app;
}

/** A route has a place in the table of operations, or it is not served: nobody could say who may use it (I66). */
function nameRoute(route: RouteOptions): void {
  for (const method of [route.method].flat()) {
    const operation = operationOf(method, route.url);
    if (operation === undefined) throw new Error(`${method} ${route.url} is not in the table of operations.`);
    route.config = { ...route.config, operation };
  }
}
