/** Quotas of a tenant: over the soft limit it is throttled, over the hard one requests are refused, or its dag is halted (`fanout`). */
import { z } from 'zod';
import { QUOTA_LEVELS, QUOTAS } from '../words.ts';
import { spanSchema } from './common.ts';

export const MAX_QUOTA = 1_000_000_000;
const MAX_RAISE_MS = 90 * 86_400_000;

export const quotaNameSchema = z.enum(QUOTAS, `must be one of ${QUOTAS.join(', ')}`);
export type QuotaName = z.infer<typeof quotaNameSchema>;

const numberSchema = z.int().min(0).max(MAX_QUOTA).nullable().optional();
const limits = { soft: numberSchema, hard: numberSchema };
const isOrdered = ({ soft, hard }: { soft?: number | null | undefined; hard?: number | null | undefined }) =>
  soft == null || hard == null || soft <= hard;
const isGiven = ({ soft, hard }: { soft?: number | null | undefined; hard?: number | null | undefined }) =>
  soft != null || hard != null;
const ORDERED = { path: ['soft'], message: 'must not be above the hard limit' };
const GIVEN = { path: ['hard'], message: 'or soft must be given' };

export const setQuotaSchema = z.strictObject(limits).refine(isGiven, GIVEN).refine(isOrdered, ORDERED);
export type SetQuota = z.input<typeof setQuotaSchema>;

export const raiseQuotaSchema = z
  .strictObject({
    ...limits,
    /** How long it is raised. */
    for: spanSchema({ minMs: 1_000, maxMs: MAX_RAISE_MS, example: '"2h" or "3d"' }),
    reason: z.string().min(1).max(500),
  })
  .refine(isGiven, GIVEN)
  .refine(isOrdered, ORDERED);
export type RaiseQuota = z.input<typeof raiseQuotaSchema>;

export const quotaViewSchema = z.object({
  quota: quotaNameSchema,
  soft: z.int().nullable(),
  hard: z.int().nullable(),
  /** Other limits that hold until then. */
  raise: z
    .object({
      soft: z.int().nullable(),
      hard: z.int().nullable(),
      until: z.iso.datetime(),
      reason: z.string().nullable(),
    })
    .nullable(),
  /** `soft`: the tenant is throttled. `hard`: requests are refused, or its dag is halted (`fanout`). */
  level: z.enum(QUOTA_LEVELS),
  /** How much of it is used now. Of `runs` and `fanout`: by the dag with the most. */
  used: z.int(),
  setAt: z.iso.datetime(),
  setBy: z.string(),
  warnings: z.array(z.string()),
});
export type QuotaView = z.infer<typeof quotaViewSchema>;

export const quotaPageSchema = z.object({ items: z.array(quotaViewSchema), cursor: z.string().nullable() });
export type QuotaPage = z.infer<typeof quotaPageSchema>;

export const quotaRemovedSchema = z.object({ quota: quotaNameSchema, removed: z.boolean() });
export type QuotaRemoved = z.infer<typeof quotaRemovedSchema>;
