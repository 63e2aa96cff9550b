/** Pages and documents that are the same for everybody: made once, with the first request for them. */
import { dagJsonSchema, SignalboxError } from '@signalbox/protocol';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { sendProblem } from '../errors.ts';
import { openApi } from '../openapi.ts';
import { docsPage } from './docs.ts';
import { readSite, type Site, sendAsset, sendSitePage, siteFolder, wantsSite } from './site.ts';
import { notBuiltPage, sendPage } from './way-in.ts';

type AssetRequest = FastifyRequest<{ Params: { file: string } }>;

export function pageRoutes(app: FastifyInstance, site: () => Site = lazily(() => readSite(siteFolder()))): void {
  const docs = lazily(docsPage);
  const openApiText = lazily(() => JSON.stringify(openApi()));
  const dagSchemaText = lazily(() => JSON.stringify(dagJsonSchema()));
  const json = 'application/json; charset=utf-8';

  const notFound = (reply: FastifyReply) => sendProblem(reply, new SignalboxError('ROUTE_NOT_FOUND'));
  const sendSite = (request: FastifyRequest, reply: FastifyReply) => {
    const page = site().get('/index.html');
    return page === undefined ? sendPage(reply.code(503), notBuiltPage()) : sendSitePage(request, reply, page);
  };

  app.get('/', async (request, reply) => sendSite(request, reply));
  app.get('/assets/:file', async (request: AssetRequest, reply) => {
    const file = site().get(`/assets/${request.params.file}`);
    return file === undefined ? notFound(reply) : sendAsset(request, reply, file);
  });
  // The UI has addresses of its own, such as /runs/…: its page is sent for them, and its script knows which they are.
  app.setNotFoundHandler((request, reply) => (wantsSite(request) ? sendSite(request, reply) : notFound(reply)));
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
