/** Limits over several dags: pools, and caps of a queue, a tenant or the whole cluster. */
import { z } from 'zod';
import { nameSchema } from './common.ts';

export const MAX_LIMIT_SLOTS = 1_000_000;
export const LIMIT_KINDS = ['pool', 'queue', 'tenant', 'cluster'] as const;

/** `pool:database`, `queue:default`, `tenant:team-a`, `cluster`. */
export const limitNameSchema = z.string().transform((text, context) => {
  const [kind, ...rest] = text.split(':');
  const name = rest.join(':');
  if (text === 'cluster') return { kind: 'cluster', name: '' } as const;
  const isNamed = kind === 'pool' || kind === 'queue' || kind === 'tenant';
  if (isNamed && nameSchema.safeParse(name).success) return { kind, name };
  context.addIssue({
    code: 'custom',
    message: 'must be cluster, or a kind and a name such as pool:database, queue:default or tenant:team-a',
  });
  return z.NEVER;
});
export type LimitName = z.output<typeof limitNameSchema>;

export const setLimitSchema = z.strictObject({ slots: z.int().min(0).max(MAX_LIMIT_SLOTS) });
export type SetLimit = z.infer<typeof setLimitSchema>;

const fields = {
  /** `pool:database`, `queue:default`, `tenant:team-a`, `cluster`. */
  name: z.string(),
  slots: z.int(),
  /** Slots that shards have or that are on their way to them. */
  granted: z.int(),
  /** It does not hold yet: shards have not heard of it, or have more slots than there are now. */
  pending: z.boolean(),
  setAt: z.iso.datetime(),
  setBy: z.string(),
  warnings: z.array(z.string()),
};
export const limitViewSchema = z.object(fields);
export type LimitView = z.infer<typeof limitViewSchema>;

export const limitPageSchema = z.object({ items: z.array(limitViewSchema), cursor: z.string().nullable() });
export type LimitPage = z.infer<typeof limitPageSchema>;

export const slotHolderSchema = z.object({
  tenant: z.string(),
  dag: z.string(),
  run: z.string(),
  task: z.string(),
  attempt: z.int(),
  worker: z.string(),
  since: z.iso.datetime(),
  slots: z.int(),
});
export type SlotHolderView = z.infer<typeof slotHolderSchema>;

export const limitDetailsSchema = z.object({
  ...fields,
  /** Slots that running tasks take. */
  used: z.int(),
  /** Slots that waiting tasks would take. */
  waiting: z.int(),
  /** Who has them, the longest first; at most 1,000. */
  holders: z.array(slotHolderSchema),
  /** Servers that gave no answer: what they know is missing. */
  missing: z.array(z.string()),
});
export type LimitDetails = z.infer<typeof limitDetailsSchema>;

export const limitRemovedSchema = z.object({ name: z.string(), removed: z.boolean() });
export type LimitRemoved = z.infer<typeof limitRemovedSchema>;
