/**
 * Whether the server is alive, and whether it can serve. No credential is needed. An answer is cached for a moment and says
 * little.
 */
import type { Health } from '@signalbox/protocol';
import type { FastifyInstance } from 'fastify';
import { systemClock } from '../ports/clock.ts';
import type { RestParts } from './rest-parts.ts';

const GOOD_FOR_MS = 200;
const ANSWER_MS = 2_000;

export function healthRoutes(app: FastifyInstance, { queries, main }: RestParts): void {
  app.get('/healthz', { exposeHeadRoute: true }, async () => ({ status: 'ok' }) satisfies Health);

  let asked: { readonly at: number; readonly health: Promise<Health> } | null = null;
  const look = async (): Promise<Health> => {
    const database = queries.cluster().then(
      () => true,
      () => false,
    );
    const [isThere, readiness] = await Promise.all([within(ANSWER_MS, database), main.readiness(ANSWER_MS)]);
    if (isThere !== true || readiness === null) return { status: 'unavailable' };
    return { status: readiness.shardsOwned === readiness.shardCount ? 'ok' : 'starting' };
  };

  app.get('/readyz', { exposeHeadRoute: true }, async (_request, reply) => {
    const now = systemClock.mono();
    if (asked === null || now - asked.at > GOOD_FOR_MS) asked = { at: now, health: look() };
    const health = await asked.health;
    return reply.code(health.status === 'ok' ? 200 : 503).send(health);
  });
}

function within<T>(ms: number, answer: Promise<T>): Promise<T | null> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(null), ms);
    void answer.then((value) => {
      clearTimeout(timer);
      resolve(value);
    });
  });
}
