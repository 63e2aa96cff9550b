/** Pages and documents that are the same for everybody: made once, with the first request for them. */
import { dagJsonSchema } from '@signalbox/protocol';
import type { FastifyInstance } from 'fastify';
import { openApi } from '../openapi.ts';
import { docsPage } from './docs.ts';
import { overviewPage } from './overview.ts';
import { sendPage } from './way-in.ts';

export function pageRoutes(app: FastifyInstance): void {
  const [overview, docs] = [lazily(overviewPage), lazily(docsPage)];
  const openApiText = lazily(() => JSON.stringify(openApi()));
  const dagSchemaText = lazily(() => JSON.stringify(dagJsonSchema()));
  const json = 'application/json; charset=utf-8';

  app.get('/', async (_request, reply) => sendPage(reply, overview()));
  app.get('/docs', async (_request, reply) => sendPage(reply, docs()));
  app.get('/openapi.json', async (_request, reply) => reply.type(json).send(openApiText()));
  app.get('/schemas/dag.json', async (_request, reply) => reply.type(json).send(dagSchemaText()));
}

function lazily<T>(make: () => T): () => T {
  let made: { readonly value: T } | null = null;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
