/** How much space the data uses, and how much is free. */
import { statfs } from 'node:fs/promises';
import type { Storage } from '@signalbox/protocol';
import type { FastifyInstance } from 'fastify';
import { fromDatabase } from './errors.ts';
import type { RestParts } from './rest-parts.ts';

export function storageRoutes(app: FastifyInstance, { queries, logs, logFolder }: RestParts): void {
  app.get('/v1/storage', async (request) => {
    const { databaseBytes, tables } = await fromDatabase(() => queries.storage(), request.log);
    const { bavail, blocks, bsize } = await statfs(logFolder);
    return {
      databaseBytes,
      tables: [...tables],
      logBytes: logs.stats.bytes,
      // What a user without special rights may still write.
      disk: { freeBytes: bavail * bsize, totalBytes: blocks * bsize },
    } satisfies Storage;
  });
}
