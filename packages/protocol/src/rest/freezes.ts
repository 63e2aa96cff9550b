/** Freezes: what starts nothing until it is thawed. */
import { z } from 'zod';
import { nameSchema } from './common.ts';

export const FREEZE_KINDS = ['cluster', 'tenant', 'queue', 'dag', 'worker'] as const;

/** `cluster`, `tenant:team-a`, `queue:default`, `dag:etl`, `worker:<id>`. */
export const freezeTargetSchema = z.string().transform((text, context) => {
  const [kind, ...rest] = text.split(':');
  const name = rest.join(':');
  if (text === 'cluster') return { kind: 'cluster', name: '' } as const;
  const isNamed = kind === 'tenant' || kind === 'queue' || kind === 'dag' || kind === 'worker';
  if (isNamed && nameSchema.safeParse(name).success) return { kind, name } as const;
  context.addIssue({
    code: 'custom',
    message: 'must be cluster, or a kind and a name such as dag:etl, queue:default, tenant:team-a or worker:<id>',
  });
  return z.NEVER;
});

export const newFreezeSchema = z.strictObject({ reason: z.string().min(1).max(500).optional() });
export type NewFreeze = z.infer<typeof newFreezeSchema>;

export const freezeViewSchema = z.object({
  /** `cluster`, `tenant:team-a`, `queue:default`, `dag:etl`, `worker:<id>`. */
  target: z.string(),
  reason: z.string().nullable(),
  since: z.iso.datetime(),
  by: z.string(),
});
export type FreezeView = z.infer<typeof freezeViewSchema>;

export const freezePageSchema = z.object({ items: z.array(freezeViewSchema), cursor: z.string().nullable() });
export type FreezePage = z.infer<typeof freezePageSchema>;

export const thawedSchema = z.object({ target: z.string(), thawed: z.boolean() });
export type Thawed = z.infer<typeof thawedSchema>;
