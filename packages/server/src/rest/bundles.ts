/** Bundles: code of dags by the hash of its bytes, stored before the version that refers to it (docs/decisions/0009). */
import { createHash } from 'node:crypto';
import { MAX_BUNDLE_BYTES, SignalboxError } from '@signalbox/protocol';
import type { FastifyError, FastifyInstance, FastifyRequest } from 'fastify';
import { badRequest, fromDatabase, onError, sendProblem } from './errors.ts';
import { callerOf } from './guards.ts';
import type { RestParts } from './rest-parts.ts';

type BundleRequest = FastifyRequest<{ Params: { hash: string } }>;

const BYTES = 'application/octet-stream';
/** Somewhat too much is read to its end: who is cut off while sending does not hear why. */
const READ_BYTES = 2 * MAX_BUNDLE_BYTES;

export function bundleRoutes(app: FastifyInstance, { queries }: RestParts): void {
  // In a room of its own: no other route takes bytes.
  app.register(async (room) => {
    room.addContentTypeParser(BYTES, { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
    room.setErrorHandler((error: FastifyError, request, reply) => {
      if (error.code !== 'FST_ERR_CTP_BODY_TOO_LARGE') return onError(error, request, reply);
      return sendProblem(reply, tooLarge());
    });

    room.put('/v1/bundles/:hash', { bodyLimit: READ_BYTES }, async (request: BundleRequest, reply) => {
      const { tenantId } = callerOf(request);
      const [hash, code] = [hashOf(request), bytesOf(request)];
      const actual = createHash('sha256').update(code).digest('hex');
      if (actual !== hash) throw new SignalboxError('BUNDLE_MISMATCH', { bundle: hash, actual });
      const isNew = await fromDatabase(() => queries.putBundle(tenantId, { hash, code }), request.log);
      return reply.code(isNew ? 201 : 200).send({ hash, bytes: code.length });
    });

    room.put('/v1/bundles/:hash/source-map', { bodyLimit: READ_BYTES }, async (request: BundleRequest) => {
      const { tenantId } = callerOf(request);
      const [hash, sourceMap] = [hashOf(request), bytesOf(request)];
      const isStored = await fromDatabase(() => queries.putSourceMap(tenantId, { hash, sourceMap }), request.log);
      if (!isStored) throw new SignalboxError('BUNDLE_NOT_FOUND', { bundle: hash });
      return { hash, bytes: sourceMap.length };
    });

    const find = async (request: BundleRequest) => {
      const { tenantId } = callerOf(request);
      const hash = hashOf(request);
      const found = await fromDatabase(() => queries.getBundle(tenantId, hash), request.log);
      if (found === null) throw new SignalboxError('BUNDLE_NOT_FOUND', { bundle: hash });
      return { hash, ...found };
    };

    room.get('/v1/bundles/:hash', async (request: BundleRequest, reply) => {
      const { code } = await find(request);
      return reply.type(BYTES).send(code);
    });

    room.get('/v1/bundles/:hash/source-map', async (request: BundleRequest, reply) => {
      const { hash, sourceMap } = await find(request);
      if (sourceMap === null) throw new SignalboxError('BUNDLE_NOT_FOUND', { bundle: `${hash} with a source map` });
      return reply.type(BYTES).send(sourceMap);
    });
  });
}

function hashOf(request: BundleRequest): string {
  const { hash } = request.params;
  // What can be no hash is the hash of no bundle.
  if (!/^[0-9a-f]{64}$/.test(hash)) throw new SignalboxError('BUNDLE_NOT_FOUND', { bundle: hash });
  return hash;
}

function bytesOf({ body }: FastifyRequest): Buffer {
  if (!Buffer.isBuffer(body)) throw badRequest('content-type', `must be ${BYTES}`);
  if (body.length === 0) throw badRequest('', 'has no bytes');
  if (body.length > MAX_BUNDLE_BYTES) throw tooLarge();
  return body;
}

const tooLarge = (): SignalboxError => new SignalboxError('BUNDLE_TOO_LARGE', { limit: MAX_BUNDLE_BYTES });
