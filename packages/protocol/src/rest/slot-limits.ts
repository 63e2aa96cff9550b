/** Limits over several dags: pools, caps of a queue, a tenant or the whole cluster, and how many attempts of each start per time. */
import { z } from 'zod';
import { nameSchema } from './common.ts';
import { ratePerSchema } from './task-limits.ts';

export const MAX_LIMIT_SLOTS = 1_000_000;
export const LIMIT_KINDS = ['pool', 'queue', 'tenant', 'cluster'] as const;

/** `pool:database`, `queue:default`, `tenant:team-a`, `cluster`; of starts per time `rate:queue:default`. */
export const limitNameSchema = z.string().transform((text, context) => {
  const isRate = text.startsWith('rate:');
  const of = isRate ? text.slice('rate:'.length) : text;
  const [kind, ...rest] = of.split(':');
  const name = rest.join(':');
  if (of === 'cluster') return { kind: 'cluster', name: '', isRate } as const;
  const isNamed = kind === 'pool' || kind === 'queue' || kind === 'tenant';
  if (isNamed && nameSchema.safeParse(name).success) return { kind, name, isRate };
  context.addIssue({
    code: 'custom',
    message:
      'must be cluster, or a kind and a name such as pool:database, queue:default or tenant:team-a; or rate: and one of these',
  });
  return z.NEVER;
});
export type LimitName = z.output<typeof limitNameSchema>;

export const setLimitSchema = z.strictObject({
  /** Of a rate: how many attempts start. */
  slots: z.int().min(0).max(MAX_LIMIT_SLOTS),
  /** Of a rate, and only of a rate: in which time. From 1s to 7d. */
  per: ratePerSchema.optional(),
});
export type SetLimit = z.input<typeof setLimitSchema>;

const fields = {
  /** `pool:database`, `queue:default`, `tenant:team-a`, `cluster`. */
  name: z.string(),
  slots: z.int(),
  /** Of a rate: so many attempts start in this time. Null: so many run at once. */
  per: z.string().nullable(),
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
  /** Slots that running tasks take; of a rate, attempts that have started in the time. */
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
