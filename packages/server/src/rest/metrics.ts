/** `/metrics`: the numbers of this server, collected from both of its threads on request. */
import type { FastifyInstance } from 'fastify';
import { HttpMetrics } from '../metrics/http-metrics.ts';
import { LoopWatch } from '../metrics/loop-delay.ts';
import { METRICS_TYPE, writeMetrics } from '../metrics/write.ts';
import { VERSION } from '../version.ts';
import type { RestParts } from './rest-parts.ts';

export function metricsRoutes(app: FastifyInstance, { main, logs, streams, leftMs }: RestParts): void {
  const requests = new HttpMetrics();
  const loop = new LoopWatch();
  app.addHook('onClose', async () => loop.stop());
  app.addHook('onResponse', async (request, reply) => {
    const type = reply.getHeader('content-type');
    requests.answered({
      route: request.routeOptions.config.operation?.path ?? '',
      method: request.method,
      status: reply.statusCode,
      seconds: reply.elapsedTime / 1000,
      isStream: typeof type === 'string' && type.startsWith('text/event-stream'),
    });
  });

  app.get('/metrics', async (request, reply) => {
    const { host, loop: mainLoop, clock } = await main.metrics(leftMs(request));
    const { rss, heapUsed } = process.memoryUsage();
    const text = writeMetrics({
      host,
      clock,
      loops: { main: mainLoop, edge: loop.seen() },
      requests: requests.seen(),
      streams: streams.size,
      logs: logs.stats,
      memory: { rss, heapUsed },
      uptimeSeconds: Math.round(process.uptime()),
      build: { version: VERSION, node: process.version },
    });
    return reply.type(METRICS_TYPE).send(text);
  });
}
