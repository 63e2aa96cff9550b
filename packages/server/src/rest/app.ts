/** The REST API: guards at the door, a file per subject behind it, the table of errors at the way out. */
import { readFile } from 'node:fs/promises';
import { SignalboxError } from '@signalbox/protocol';
import type { Queries } from '@signalbox/store';
import { type FastifyInstance, type FastifyRequest, fastify, LogController } from 'fastify';
import { Bearers } from '../auth/bearer.ts';
import type { BindAddress, TlsFiles } from '../config.ts';
import type { MainLine } from '../edge/main-line.ts';
import type { Logger } from '../log.ts';
import { readJsonBodies } from './body.ts';
import { bundleRoutes } from './bundles.ts';
import { DagLookup } from './dag-lookup.ts';
import { dagRoutes } from './dags.ts';
import { badRequest, onError, sendProblem } from './errors.ts';
import { authenticate, HostGuard } from './guards.ts';
import { healthRoutes } from './health.ts';
import { runRoutes } from './runs.ts';
import { submitRoutes } from './submit.ts';
import { tokenRoutes } from './tokens.ts';
import { workerRoutes } from './workers.ts';

export interface AppOptions {
  readonly queries: Queries;
  readonly main: MainLine;
  readonly logger: Logger;
  readonly bind: BindAddress;
  readonly allowedHosts: readonly string[];
  readonly tls: TlsFiles | null;
}

export interface RestParts {
  readonly queries: Queries;
  readonly main: MainLine;
  readonly dags: DagLookup;
  /** How long the request may still take (I60). */
  readonly leftMs: (request: FastifyRequest) => number;
}

const BODY_BYTES = 1024 * 1024;
const DEADLINE_MS = 10_000;
/** Left over for the way back. */
const RESERVE_MS = 500;
const SHORTEST_MS = 100;
/** A name of 200 characters may be written with three for each. */
const LONGEST_PART = 700;

declare module 'fastify' {
  interface FastifyRequest {
    startedAt: number;
  }
}

export async function buildApp(options: AppOptions): Promise<FastifyInstance> {
  const { queries, main, logger, bind, tls } = options;
  const app = fastify({
    loggerInstance: logger,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: BODY_BYTES,
    requestTimeout: DEADLINE_MS,
    keepAliveTimeout: 65_000,
    forceCloseConnections: 'idle',
    routerOptions: { maxParamLength: LONGEST_PART },
    https: tls === null ? null : { cert: await readFile(tls.cert), key: await readFile(tls.key) },
    frameworkErrors: (_error, _request, reply) => {
      void sendProblem(reply, badRequest('', 'has a path that is not well-formed'));
    },
  }) as unknown as FastifyInstance;
  const bearers = new Bearers(queries);
  const hosts = new HostGuard(bind, options.allowedHosts);
  const parts: RestParts = {
    queries,
    main,
    dags: new DagLookup(queries),
    leftMs: (request) => Math.max(SHORTEST_MS, DEADLINE_MS - RESERVE_MS - (performance.now() - request.startedAt)),
  };

  app.decorateRequest('caller', null);
  app.decorateRequest('startedAt', 0);
  app.addHook('onRequest', async (request, reply) => {
    request.startedAt = performance.now();
    reply.header('cache-control', 'no-store').header('x-content-type-options', 'nosniff');
    hosts.check(request);
    await authenticate(request, bearers);
  });
  readJsonBodies(app);
  app.setErrorHandler(onError);
  app.setNotFoundHandler((_request, reply) => sendProblem(reply, new SignalboxError('ROUTE_NOT_FOUND')));

  healthRoutes(app, parts);
  dagRoutes(app, parts);
  bundleRoutes(app, parts);
  submitRoutes(app, parts);
  runRoutes(app, parts);
  workerRoutes(app, parts);
  tokenRoutes(app, parts);
  return app;
}
