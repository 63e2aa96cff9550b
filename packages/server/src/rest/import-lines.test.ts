import { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import { expect, test } from 'vitest';
import { importLines } from './import-lines.ts';

test('a group that breaks while the body still comes in fails its request, and nothing else (I57)', async () => {
  const unheard: unknown[] = [];
  const hear = (reason: unknown) => unheard.push(reason);
  process.on('unhandledRejection', hear);
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  async function* body() {
    yield Buffer.from('{}\n'.repeat(1_000));
    // Unhandled rejections are told after a turn.
    for (let i = 0; i < 5; i++) await turn();
    yield Buffer.from('{}\n');
  }
  const request = { body: Readable.from(body()), headers: {} } as unknown as FastifyRequest;
  const broken = importLines(request, {
    parse: (value) => value,
    create: () => Promise.reject(new Error('broken')),
    leftMs: () => 10_000,
  });
  await expect(broken).rejects.toThrow('broken');
  await turn();
  process.off('unhandledRejection', hear);
  expect(unheard).toEqual([]);
});
