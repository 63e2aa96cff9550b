/** Webhooks: addresses that outside systems call, each for one dag. */
import { z } from 'zod';
import { WEBHOOK_SCHEMES } from '../words.ts';
import { nameSchema, spanSchema } from './common.ts';

export const webhookSchemeSchema = z.enum(WEBHOOK_SCHEMES);
export type WebhookScheme = z.infer<typeof webhookSchemeSchema>;

export const webhookIdSchema = z.uuid();

/** For systems that make the secret themselves, such as Stripe. */
const secretSchema = z
  .string()
  .regex(/^[\x21-\x7e]{16,500}$/, 'must have 16 to 500 printable ASCII characters, without spaces');

export const newWebhookSchema = z.strictObject({
  dag: nameSchema,
  scheme: webhookSchemeSchema.default('standard'),
  secret: secretSchema.optional(),
});
export type NewWebhook = z.input<typeof newWebhookSchema>;

export const rotateWebhookSchema = z.strictObject({
  secret: secretSchema.optional(),
  /** How long the old secret still holds. */
  keepOld: spanSchema({ maxMs: 7 * 86_400_000, example: '"24h"' }).default(86_400_000),
});

export const webhookViewSchema = z.object({
  id: webhookIdSchema,
  dag: z.string(),
  scheme: webhookSchemeSchema,
  /** Goes after the address of the server. */
  path: z.string(),
  createdAt: z.iso.datetime(),
  createdBy: z.string(),
});
export type WebhookView = z.infer<typeof webhookViewSchema>;

/** The only time that the secret is shown; null where the outside system made it. */
export const webhookSecretSchema = webhookViewSchema.extend({ secret: z.string().nullable() });
export type WebhookSecret = z.infer<typeof webhookSecretSchema>;

export const webhookPageSchema = z.object({ items: z.array(webhookViewSchema), cursor: z.string().nullable() });
export type WebhookPage = z.infer<typeof webhookPageSchema>;

export const webhookDeletedSchema = z.object({ id: webhookIdSchema, deleted: z.literal(true) });
export type WebhookDeleted = z.infer<typeof webhookDeletedSchema>;
