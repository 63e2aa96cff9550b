/** Credentials and the way into the page. */
import { z } from 'zod';
import { MAX_SLOTS, MAX_TOKEN_QUEUES } from '../limits.ts';
import { ROLES } from '../words.ts';
import { nameSchema, pageQuerySchema, validitySchema } from './common.ts';

const MAX_SERVED = 1_000;

/** `operator`: all but tokens and retention. `viewer`: reads. `worker`: runs tasks, and nothing else. */
export const roleSchema = z.enum(ROLES);
export type Role = z.infer<typeof roleSchema>;

export const newTokenSchema = z
  .strictObject({
    name: nameSchema,
    role: roleSchema,
    /** How long it is valid. Without it: no limit. */
    expiresIn: validitySchema.optional(),
    /** Whose tasks its workers may take; all queues of the tenant unless told. Only with the role `worker`. */
    queues: z.array(nameSchema).min(1).max(MAX_TOKEN_QUEUES).optional(),
    /** How many slots its workers may have at a server, together; 10,000 unless told. Only with the role `worker`. */
    slots: z.int().min(1).max(MAX_SLOTS).optional(),
    /** The tenant that it is for; that of the caller unless told. Only for admins of the tenant `default`. */
    tenant: nameSchema.optional(),
    /** Names of the tenants that its workers serve, or `*` for every tenant. Only with the role `worker`, for admins of the tenant `default`. */
    serves: z
      .array(nameSchema.or(z.literal('*')))
      .min(1)
      .max(MAX_SERVED)
      .optional(),
  })
  .superRefine(({ role, ...token }, context) => {
    for (const limit of ['queues', 'slots', 'serves'] as const) {
      if (role === 'worker' || token[limit] === undefined) continue;
      context.addIssue({ code: 'custom', path: [limit], message: 'is only for tokens with the role worker' });
    }
  });
export type NewToken = z.input<typeof newTokenSchema>;

/** The only time that the token itself is shown. */
export const createdTokenSchema = z.object({
  name: z.string(),
  role: roleSchema,
  token: z.string(),
  expiresAt: z.iso.datetime().nullable(),
  queues: z.array(z.string()).nullable().default(null),
  slots: z.int().nullable().default(null),
  tenant: z.string().nullable().default(null),
  /** Null: its own tenant alone. */
  serves: z.array(z.string()).nullable().default(null),
});
export type CreatedToken = z.infer<typeof createdTokenSchema>;

export const tokenViewSchema = z.object({
  name: z.string(),
  role: z.string(),
  createdAt: z.iso.datetime(),
  createdBy: z.string(),
  expiresAt: z.iso.datetime().nullable(),
  revokedAt: z.iso.datetime().nullable(),
  /** Null: all queues of the tenant. */
  queues: z.array(z.string()).nullable().default(null),
  /** Null: as many as servers allow by default. */
  slots: z.int().nullable().default(null),
  /** Tenants that its workers serve. Null: its own alone. */
  serves: z.array(z.string()).nullable().default(null),
});
export type TokenView = z.infer<typeof tokenViewSchema>;

export const tokenPageSchema = z.object({ items: z.array(tokenViewSchema), cursor: z.string().nullable() });
export type TokenPage = z.infer<typeof tokenPageSchema>;

export const tokenRevokedSchema = z.object({ name: z.string(), revoked: z.literal(true) });
export type TokenRevoked = z.infer<typeof tokenRevokedSchema>;

/** The role of the session that the link opens; that of its maker unless told, and never more. */
export const newLoginLinkSchema = z.strictObject({ role: z.enum(['admin', 'operator', 'viewer']).optional() });
export type NewLoginLink = z.infer<typeof newLoginLinkSchema>;

/** Works once, until it expires. The path goes after the address of the server. */
export const loginLinkSchema = z.object({ path: z.string(), expiresAt: z.iso.datetime() });
export type LoginLink = z.infer<typeof loginLinkSchema>;

/** The caller and the server that it called. */
export const sessionViewSchema = z.object({
  /** `token:NAME`. */
  actor: z.string(),
  role: roleSchema,
  tenant: z.string(),
  /** Whether that tenant runs the installation: its admins make and change tenants. */
  installation: z.boolean(),
  /** Whether it is the session of a browser, which can be ended by itself. */
  browser: z.boolean(),
  /** Version of the server. */
  version: z.string(),
});
export type SessionView = z.infer<typeof sessionViewSchema>;

export const sessionEndedSchema = z.object({ ended: z.literal(true) });
export type SessionEnded = z.infer<typeof sessionEndedSchema>;

/** Query of `GET /v1/audit`. */
export const listAuditSchema = pageQuerySchema.extend({
  /** Only events of this action, such as `token.revoke`. */
  action: z.string().min(1).max(100).optional(),
});
export type ListAudit = z.input<typeof listAuditSchema>;

/** Who did what, when, from where, and with what outcome. */
export const auditEventSchema = z.object({
  id: z.string(),
  at: z.iso.datetime(),
  /** `token:NAME`; `server` for the server itself, and empty when nobody knows. */
  actor: z.string(),
  /** `token.create`, `token.revoke`, `login_link.create`, `login`, `session.end`, `credential.refused`, `login.refused`. */
  action: z.string(),
  /** What it was done to: the name of a token or session. */
  target: z.string(),
  /** The address that it came from; empty for the server itself. */
  origin: z.string(),
  /** `done`, or the code of the refusal. */
  outcome: z.string(),
  details: z.record(z.string(), z.unknown()).nullable(),
});
export type AuditEventView = z.infer<typeof auditEventSchema>;

export const auditPageSchema = z.object({ items: z.array(auditEventSchema), cursor: z.string().nullable() });
export type AuditPage = z.infer<typeof auditPageSchema>;
