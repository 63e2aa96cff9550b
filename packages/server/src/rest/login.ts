/** The way into the page: a link that works once opens a session in the browser that follows it (D13). */
import { type LoginLink, newLoginLinkSchema, parseOr, type Role, SignalboxError } from '@signalbox/protocol';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { hashOf } from '../auth/bearer.ts';
import { networkOf } from '../auth/network.ts';
import { TokenBuckets } from '../auth/rate.ts';
import { derivedSecret, LOGIN_CODE_MS, randomSecret, SESSION_MS, sessionCookie } from '../auth/session.ts';
import type { RestParts } from './app.ts';
import { fromDatabase } from './errors.ts';
import { callerOf } from './guards.ts';
import { once } from './once.ts';
import { sendPage, wayInPage } from './pages/way-in.ts';

type LoginRequest = FastifyRequest<{ Querystring: { code?: unknown } }>;
type StoredLink = Omit<LoginLink, 'path'>;

/** Of links that are none, from one address. */
const GUESSES = { perSecond: 20 / 60, burst: 20 };
const CODE = /^[A-Za-z0-9_-]{43}$/;
const pathOf = (code: string): string => `/login?code=${code}`;

export function loginRoutes(app: FastifyInstance, parts: RestParts): void {
  const { queries, isSecure } = parts;
  const guesses = new TokenBuckets(GUESSES);

  app.post('/v1/login-links', async (request, reply) => {
    const { tenantId, actor, role } = callerOf(request);
    const wanted: Role = parseOr(newLoginLinkSchema, request.body ?? {}, 'BAD_REQUEST').role ?? role;
    const { tokenKey } = await fromDatabase(() => queries.cluster(), request.log);
    const codeOf = (key: string | null) =>
      key === null ? randomSecret() : derivedSecret(tokenKey, ['login', tenantId, key, wanted]);
    const link = await once<LoginLink>(request, parts, {
      target: wanted,
      body: request.body,
      make: async (key) => {
        const code = codeOf(key);
        const made = { tenantId, sha256: hashOf(code), role: wanted, actor, validMs: LOGIN_CODE_MS };
        await fromDatabase(() => queries.createLoginCode(made), request.log);
        return { path: pathOf(code), expiresAt: new Date(Date.now() + LOGIN_CODE_MS).toISOString() };
      },
      hide: ({ expiresAt }) => ({ expiresAt }) satisfies StoredLink,
      show: (stored, key) => ({ ...(stored as StoredLink), path: pathOf(codeOf(key)) }),
    });
    return reply.code(201).send(link);
  });

  // Not by HEAD: a program that only looks at links must not use one up.
  app.get('/login', async (request: LoginRequest, reply) => {
    const { code } = request.query;
    const retryAfterMs = guesses.waitFor(networkOf(request.ip));
    if (retryAfterMs > 0) throw new SignalboxError('RATE_LIMITED', { what: 'wrong links', retryAfterMs });
    const used =
      typeof code === 'string' && CODE.test(code)
        ? await fromDatabase(() => queries.takeLoginCode(hashOf(code)), request.log)
        : null;
    if (used === null) {
      guesses.take(networkOf(request.ip));
      return sendPage(reply.code(401), wayInPage('This link has been used, or is too old.'));
    }
    const token = randomSecret('sbs_');
    const session = {
      tenantId: used.tenantId,
      name: `browser-${hashOf(token).toString('hex').slice(0, 12)}`,
      role: used.role,
      sha256: hashOf(token),
      validMs: SESSION_MS,
      createdBy: used.actor,
    };
    const isMade = await fromDatabase(() => queries.createToken(session), request.log);
    if (!isMade) throw new SignalboxError('UNAVAILABLE', { reason: 'the session could not be opened' });
    return reply.code(303).header('set-cookie', sessionCookie(token, isSecure)).header('location', '/').send();
  });
}
