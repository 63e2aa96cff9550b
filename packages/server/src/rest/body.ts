/** Bodies: JSON within a depth, parsed once. Sizes are the limit of each route. */
import { Socket } from 'node:net';
import { InexactJson, MAX_JSON_DEPTH, parseExactJson } from '@signalbox/protocol';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { answerBrokenRequest, badRequest } from './errors.ts';

/** What lies around the params of a run by itself, and of one in a batch: what lies in them may be as deep as ever. */
const LEVELS_AROUND = 1;
const LEVELS_AROUND_IN_BATCH = 3;
const SINGLE_RUN = '/v1/dags/:name/runs';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPENS = new Uint8Array(256);
const CLOSES = new Uint8Array(256);
OPENS[0x7b] = OPENS[0x5b] = 1;
CLOSES[0x7d] = CLOSES[0x5d] = 1;

export function readJsonBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    const isSingle = request.routeOptions.url === SINGLE_RUN;
    try {
      const value = parseJson(body as Buffer, isSingle ? LEVELS_AROUND : LEVELS_AROUND_IN_BATCH);
      // Routes take a body that is absent for an empty one; null is neither.
      if (value === null) throw badRequest('', 'must be a JSON object, not null: send {} or no body');
      done(null, value);
    } catch (error) {
      done(error as Error);
    }
  });
}

/** A body that drips in keeps its connection for as long as the request may take, and no longer: Node looks only now and then. */
export function cutIfSlow({ raw }: FastifyRequest, withinMs: number): void {
  // A call of the gRPC API has its whole body, and no connection that could be cut. If it is refused, nobody reads its body to the end.
  if (!(raw.socket instanceof Socket)) return;
  const { 'content-length': length = '0', 'transfer-encoding': encoding } = raw.headers;
  if (length === '0' && encoding === undefined) return;
  const late = setTimeout(() => {
    const error = Object.assign(new Error('slow'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
    if (!raw.complete) answerBrokenRequest(error, raw.socket);
  }, withinMs);
  late.unref();
  raw.once('end', () => clearTimeout(late));
  raw.once('close', () => clearTimeout(late));
}

export function parseJson(body: Buffer, levelsAround = LEVELS_AROUND_IN_BATCH): unknown {
  if (body.length === 0) return undefined;
  const deepest = MAX_JSON_DEPTH + levelsAround;
  if (depthOf(body) > deepest) throw badRequest('', `is nested deeper than ${deepest} levels`);
  try {
    return parseExactJson(body.toString('utf8'));
  } catch (error) {
    if (error instanceof InexactJson) throw badRequest(error.path, error.problem);
    throw badRequest('', 'is not JSON');
  }
}

/** Of brackets outside of strings; for well-formed JSON the deepest nesting. One look at each byte: 1 ns. */
function depthOf(body: Buffer): number {
  let depth = 0;
  let deepest = 0;
  for (let i = 0; i < body.length; i++) {
    const byte = body[i]!;
    if (byte === QUOTE) {
      i += 1;
      while (i < body.length && body[i] !== QUOTE) i += body[i] === BACKSLASH ? 2 : 1;
    } else if (OPENS[byte] === 1) {
      depth += 1;
      if (depth > deepest) deepest = depth;
    } else if (CLOSES[byte] === 1) depth -= 1;
  }
  return deepest;
}
