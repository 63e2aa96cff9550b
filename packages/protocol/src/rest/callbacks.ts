/** Calls of ended runs over REST. */
import { z } from 'zod';
import { CALLBACK_STATES, RUN_OUTCOMES } from '../words.ts';
import { pageQuerySchema } from './common.ts';

export const callbackViewSchema = z.object({
  /** The same in each try: sent as `id`, and as Idempotency-Key. */
  id: z.string(),
  dag: z.string(),
  run: z.string(),
  outcome: z.enum(RUN_OUTCOMES),
  url: z.string(),
  state: z.enum(CALLBACK_STATES),
  attempts: z.int(),
  endedAt: z.iso.datetime(),
  /** When it is tried next; null once it is over. */
  nextAt: z.iso.datetime().nullable(),
  lastStatus: z.int().nullable(),
  lastError: z.string().nullable(),
});
export const callbackPageSchema = z.object({ items: z.array(callbackViewSchema), cursor: z.string().nullable() });
export type CallbackPage = z.infer<typeof callbackPageSchema>;

/** Query of `GET /v1/callbacks`. */
export const listCallbacksSchema = pageQuerySchema.extend({ state: z.enum(CALLBACK_STATES).optional() });
export type ListCallbacks = z.input<typeof listCallbacksSchema>;

/** What receivers check calls with. */
export const callbackSecretSchema = z.object({ header: z.string(), secret: z.string() });
export type CallbackSecret = z.infer<typeof callbackSecretSchema>;

export const callbacksRepeatedSchema = z.object({ repeated: z.int() });
export type CallbacksRepeated = z.infer<typeof callbacksRepeatedSchema>;
