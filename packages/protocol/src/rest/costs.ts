/** What attempts cost: sums of what they took, by the rate card of the day. Budgets, whose crossing is an event. */
import { z } from 'zod';
import { PRIORITIES } from '../words.ts';
import { nameSchema } from './common.ts';

/** The sums are kept for 400 days. */
export const MAX_COST_DAYS = 400;
const MAX_PRICE = 1_000_000;
const MAX_FACTOR = 1_000;
const MAX_BUDGET = 1_000_000_000;

const price = z.number().min(0).max(MAX_PRICE).default(0);
const factor = (usual: number) => z.number().min(0).max(MAX_FACTOR).default(usual);

/** Body of `PUT /v1/costs/rates`. Prices of one hour, and what they are multiplied with. */
export const rateCardSchema = z.strictObject({
  currency: z
    .string()
    .regex(/^[A-Z]{3}$/, 'must be three capital letters, such as EUR')
    .describe('Three letters, such as EUR.'),
  slotHour: price.describe('For each hour that an attempt has a slot.'),
  cpuHour: price.describe('For each hour of processor time, where it was measured.'),
  gibHour: price.describe('For each hour and GiB of memory, by the peak, where it was measured.'),
  classes: z
    .strictObject({ critical: factor(3), high: factor(1), normal: factor(1), low: factor(1) })
    .default({ critical: 3, high: 1, normal: 1, low: 1 })
    .describe('What all prices are multiplied with, by the priority of the run.'),
  burst: z
    .strictObject({
      aboveSlots: z.number().min(0).max(MAX_PRICE).describe('Slots at a time, on average over an hour.'),
      premium: z.number().min(1).max(MAX_FACTOR).describe('What the price of slots above is multiplied with.'),
    })
    .nullable()
    .default(null)
    .describe('What a tenant has above so many slots at a time is dearer.'),
}) satisfies z.ZodType<{ readonly classes: Readonly<Record<(typeof PRIORITIES)[number], number>> }>;
export type RateCard = z.infer<typeof rateCardSchema>;
/** As it is written: what is left out has its default. */
export type NewRateCard = z.input<typeof rateCardSchema>;

export const rateCardViewSchema = rateCardSchema.extend({
  /** The day (UTC) from which on it holds. */
  from: z.iso.date(),
  setAt: z.iso.datetime(),
  setBy: z.string(),
});
export type RateCardView = z.infer<typeof rateCardViewSchema>;

/** The newest first. Without any, nothing is summed. */
export const rateCardPageSchema = z.object({ items: z.array(rateCardViewSchema), cursor: z.null() });
export type RateCardPage = z.infer<typeof rateCardPageSchema>;

export const COST_KEYS = ['day', 'dag', 'task', 'tenant'] as const;

/** Query of `GET /v1/costs`. */
export const costsQuerySchema = z.strictObject({
  by: z
    .enum(COST_KEYS)
    .default('day')
    .describe('What each row is about. Tasks need `dag`; tenants are for admins of the tenant `default`.'),
  from: z.iso.date().optional().describe('The first day (UTC). Default: 29 days before the last.'),
  to: z.iso.date().optional().describe('The last day (UTC). Default: today.'),
  dag: nameSchema.optional().describe('Only this dag.'),
  format: z.enum(['json', 'csv']).default('json').describe('`csv`: a file for a spreadsheet.'),
});
export type CostsQuery = z.input<typeof costsQuerySchema>;

const sums = {
  /** Attempts that ended. What they took counts on the days on which they ran. */
  attempts: z.int(),
  slotHours: z.number(),
  /** The part of them that is burst. */
  burstSlotHours: z.number(),
  /** Measured. */
  cpuHours: z.number(),
  gibHours: z.number(),
  /** In the currency of the rate card. */
  cost: z.number(),
} as const;
export const costSumsSchema = z.object(sums);
export type CostSums = z.infer<typeof costSumsSchema>;

/** Days in order, all others by cost, the largest first. Names of dags that are gone are null. */
export const costsSchema = z.object({
  by: z.enum(COST_KEYS),
  from: z.iso.date(),
  to: z.iso.date(),
  /** Null while there is no rate card. */
  currency: z.string().nullable(),
  items: z.array(z.object({ name: z.string().nullable(), ...sums })),
  total: costSumsSchema,
});
export type Costs = z.infer<typeof costsSchema>;

/** Body of `PUT /v1/costs/budgets/{target}`. */
export const setBudgetSchema = z.strictObject({
  amount: z.number().min(0.01).max(MAX_BUDGET).describe('For each month (UTC), in the currency of the rate card.'),
});
export type SetBudget = z.infer<typeof setBudgetSchema>;

export const BUDGET_TARGET = /^(?:tenant|dag:(.+)|tenant:(.+))$/;
/** `tenant`: one's own; `dag:etl`; `tenant:team-a` for admins of the tenant `default`. */
export const budgetTargetSchema = z
  .string()
  .max(300)
  .regex(BUDGET_TARGET, 'must be tenant, dag:<name> or tenant:<name>')
  .transform((text): { readonly tenant: string | null; readonly dag: string | null } => {
    const [, dag, tenant] = BUDGET_TARGET.exec(text) ?? [];
    return { tenant: tenant ?? null, dag: dag ?? null };
  });

export const budgetViewSchema = z.object({
  /** `tenant:team-a` or `dag:etl`. */
  target: z.string(),
  amount: z.number(),
  /** In this month (UTC) so far. */
  spent: z.number(),
  currency: z.string().nullable(),
  setAt: z.iso.datetime(),
  setBy: z.string(),
});
export type BudgetView = z.infer<typeof budgetViewSchema>;
export const budgetPageSchema = z.object({ items: z.array(budgetViewSchema), cursor: z.null() });
export type BudgetPage = z.infer<typeof budgetPageSchema>;
export const budgetRemovedSchema = z.object({ target: z.string() });
export type BudgetRemoved = z.infer<typeof budgetRemovedSchema>;
