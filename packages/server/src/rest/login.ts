/** Signing in to the web UI: a one-time link opens a session in the browser that follows it (D13). */
import { type LoginLink, newLoginLinkSchema, parseOr, type Role } from '@signalbox/protocol';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { hashOf } from '../auth/bearer.ts';
import { networkOf } from '../auth/network.ts';
import { derivedSecret, LOGIN_CODE_MS, randomSecret, SESSION_MS, sessionCookie } from '../auth/session.ts';
import { WrongCredentials } from '../auth/wrong-credentials.ts';
import { toIso } from '../iso-instants.ts';
import { systemClock } from '../ports/clock.ts';
import { fromDatabase } from './errors.ts';
import { callerOf } from './guards.ts';
import { once } from './once.ts';
import { sendPage, wayInPage } from './pages/way-in.ts';
import type { RestParts } from './rest-parts.ts';

type LoginRequest = FastifyRequest<{ Querystring: { code?: unknown } }>;
type StoredLink = Omit<LoginLink, 'path'>;

const CODE = /^[A-Za-z0-9_-]{43}$/;
const pathOf = (code: string): string => `/login?code=${code}`;

export function loginRoutes(app: FastifyInstance, parts: RestParts): void {
  const { queries, isSecure } = parts;
  const wrong = new WrongCredentials(queries, 'login.refused');

  app.post('/v1/login-links', async (request, reply) => {
    const { tenantId, actor, role, credential } = callerOf(request);
    const wanted: Role = parseOr(newLoginLinkSchema, request.body ?? {}, 'BAD_REQUEST').role ?? role;
    const { tokenKey } = await fromDatabase(() => queries.cluster(), request.log);
    const codeOf = (key: string | null) =>
      key === null ? randomSecret() : derivedSecret(tokenKey, ['login', tenantId, key, wanted]);
    const link = await once<LoginLink>(request, parts, {
      target: wanted,
      body: request.body,
      make: async (key) => {
        const code = codeOf(key);
        const openedBy = Buffer.from(credential, 'base64');
        const made = { tenantId, sha256: hashOf(code), role: wanted, actor, openedBy, origin: request.ip };
        await fromDatabase(() => queries.createLoginCode({ ...made, validMs: LOGIN_CODE_MS }), request.log);
        return { path: pathOf(code), expiresAt: toIso(systemClock.wall() + LOGIN_CODE_MS) };
      },
      hide: ({ expiresAt }) => ({ expiresAt }) satisfies StoredLink,
      show: (stored, key) => ({ ...(stored as StoredLink), path: pathOf(codeOf(key)) }),
    });
    return reply.code(201).send(link);
  });

  // Not by HEAD: a program that only looks at links must not use one up.
  app.get('/login', async (request: LoginRequest, reply) => {
    const { code } = request.query;
    const from = networkOf(request.ip);
    const sha256 = typeof code === 'string' && CODE.test(code) ? hashOf(code) : null;
    const token = randomSecret('sbs_');
    const session = {
      name: `browser-${hashOf(token).toString('hex').slice(0, 12)}`,
      sha256: hashOf(token),
      validMs: SESSION_MS,
      origin: request.ip,
    };
    const isOpen =
      sha256 !== null &&
      (await wrong.lookUp(from, () =>
        fromDatabase(() => queries.openSession({ ...session, code: sha256 }), request.log),
      ));
    if (!isOpen) {
      wrong.count(from, sha256);
      return sendPage(reply.code(401), wayInPage('This link has been used, or is too old.'));
    }
    return reply
      .code(303)
      .header('set-cookie', sessionCookie(token, isSecure || request.protocol === 'https'))
      .header('location', '/')
      .send();
  });
}
