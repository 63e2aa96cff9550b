/** Credentials and the way into the page. */
import { z } from 'zod';
import { ROLES } from '../words.ts';
import { nameSchema, validitySchema } from './common.ts';

/** `operator`: all but tokens and retention. `viewer`: reads. `worker`: runs tasks, and nothing else. */
export const roleSchema = z.enum(ROLES);
export type Role = z.infer<typeof roleSchema>;

export const newTokenSchema = z.strictObject({
  name: nameSchema,
  role: roleSchema,
  /** For how long it is valid; for ever unless told. */
  expiresIn: validitySchema.optional(),
});
export type NewToken = z.input<typeof newTokenSchema>;

/** The only time that the token itself is shown. */
export const createdTokenSchema = z.object({
  name: z.string(),
  role: roleSchema,
  token: z.string(),
  expiresAt: z.iso.datetime().nullable(),
});
export type CreatedToken = z.infer<typeof createdTokenSchema>;

export const tokenViewSchema = z.object({
  name: z.string(),
  role: z.string(),
  createdAt: z.iso.datetime(),
  createdBy: z.string(),
  expiresAt: z.iso.datetime().nullable(),
  revokedAt: z.iso.datetime().nullable(),
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
