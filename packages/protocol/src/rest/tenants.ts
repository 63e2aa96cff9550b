/** Tenants: teams that share an installation and see nothing of each other. */
import { z } from 'zod';
import { TENANT_STATES } from '../words.ts';
import { nameSchema, pageQuerySchema, prioritySchema } from './common.ts';

const MAX_WEIGHT = 1_000;
const reasonSchema = z.string().min(1).max(500);

const settings = {
  /** Its share of slots that several tenants wait for, in proportion to the weights of the others. */
  weight: z.number().min(0.01).max(MAX_WEIGHT).optional(),
  /** Priority of dags and jobs without one; null: normal. */
  defaultPriority: prioritySchema.nullable().optional(),
  /** Whether it may use the priority `critical`. */
  critical: z.boolean().optional(),
};

export const newTenantSchema = z.strictObject({ name: nameSchema, ...settings });
export type NewTenant = z.infer<typeof newTenantSchema>;

export const tenantSettingsSchema = z
  .strictObject(settings)
  .refine((given) => Object.values(given).some((value) => value !== undefined), 'has nothing to change');
export type TenantSettings = z.infer<typeof tenantSettingsSchema>;

/** Why, for those who find it suspended. */
export const suspendTenantSchema = z.strictObject({ reason: reasonSchema.optional() });
export type SuspendTenant = z.infer<typeof suspendTenantSchema>;

export const tenantViewSchema = z.object({
  name: z.string(),
  state: z.enum(TENANT_STATES),
  weight: z.number(),
  defaultPriority: prioritySchema,
  critical: z.boolean(),
  /** Why it is suspended or deleted, if somebody said so. */
  reason: z.string().nullable(),
  createdAt: z.iso.datetime(),
  createdBy: z.string(),
  changedAt: z.iso.datetime(),
});
export type TenantView = z.infer<typeof tenantViewSchema>;

export const listTenantsSchema = pageQuerySchema.extend({
  /** With those that were deleted. */
  deleted: z.enum(['true', 'false']).optional(),
});
export type ListTenants = z.input<typeof listTenantsSchema>;

export const tenantPageSchema = z.object({ items: z.array(tenantViewSchema), cursor: z.string().nullable() });
export type TenantPage = z.infer<typeof tenantPageSchema>;
