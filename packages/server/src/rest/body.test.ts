import fastify from 'fastify';
import { afterEach, expect, test, vi } from 'vitest';
import { cutIfSlow } from './body.ts';

afterEach(() => {
  vi.useRealTimers();
});

test('a call inside the process that is refused with its body unread is cut by nobody (I57)', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const app = fastify();
  app.addHook('onRequest', async (request, reply) => {
    cutIfSlow(request, 10_000);
    return reply.code(403).send({});
  });
  app.post('/', () => ({}));
  const answer = await app.inject({ method: 'POST', url: '/', payload: { a: 1 } });
  expect(answer.statusCode).toBe(403);
  expect(() => vi.advanceTimersByTime(20_000)).not.toThrow();
  await app.close();
});
