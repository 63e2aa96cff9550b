/** Reservations: slots of queues that are kept for a dag or a tenant at certain times. */
import { z } from 'zod';
import { nameSchema } from './common.ts';
import { MAX_LIMIT_SLOTS } from './slot-limits.ts';

export const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
export type Day = (typeof DAYS)[number];

const WALL_TIME = /^([01]\d|2[0-3]):[0-5]\d$/;
const time = z
  .string()
  .refine(
    (text) => WALL_TIME.test(text) || z.iso.datetime({ offset: true }).safeParse(text).success,
    'must be a time of day such as 22:00, or an instant such as 2027-01-31T22:00:00Z',
  );

const fields = {
  /** Kept before the other dags of the tenant. */
  dag: nameSchema.optional(),
  /** Kept before all other tenants: for the tenant that runs the installation. */
  tenant: nameSchema.optional(),
  /** All queues that the same workers serve. */
  queues: z
    .array(nameSchema)
    .min(1)
    .max(20)
    .refine((names) => new Set(names).size === names.length, 'must not name a queue twice')
    .default(['default']),
  slots: z.int().min(1).max(MAX_LIMIT_SLOTS),
  /** Both a time of day, for each day, or both an instant, for once. */
  from: time,
  until: time,
  /** Of times of day. */
  timezone: z.string().min(1).max(64).optional(),
  /** On which they begin; all by default. */
  days: z.array(z.enum(DAYS)).min(1).max(7).optional(),
  reason: z.string().min(1).max(500).optional(),
};

export const newReservationSchema = z.strictObject(fields).superRefine((given, context) => {
  const refuse = (path: string, message: string) => context.addIssue({ code: 'custom', path: [path], message });
  const { dag, tenant, from, until, timezone, days } = given;
  if ((dag === undefined) === (tenant === undefined)) refuse('dag', 'give either dag or tenant');
  const isDaily = WALL_TIME.test(from);
  if (isDaily !== WALL_TIME.test(until))
    refuse('until', 'must be a time of day if "from" is one, or an instant if "from" is one');
  if (isDaily) return;
  if (timezone !== undefined) refuse('timezone', 'is for times of day');
  if (days !== undefined) refuse('days', 'are for times of day');
  if (Date.parse(until) <= Date.parse(from)) refuse('until', 'must be after "from"');
});
export type NewReservation = z.input<typeof newReservationSchema>;

export const reservationViewSchema = z.object({
  id: z.string(),
  /** Null: for the whole tenant. */
  dag: z.string().nullable(),
  tenant: z.string(),
  queues: z.array(z.string()),
  slots: z.int(),
  from: z.string(),
  until: z.string(),
  /** Null: `from` and `until` are instants. */
  timezone: z.string().nullable(),
  days: z.array(z.enum(DAYS)).nullable(),
  reason: z.string().nullable(),
  /** The time that is now or comes next; null: all of it is over. */
  window: z.object({ from: z.iso.datetime(), until: z.iso.datetime() }).nullable(),
  /** Slots are kept now. */
  open: z.boolean(),
  /** How many slots the others share now; null: nothing is kept, or servers have not begun to. */
  left: z.int().nullable(),
  createdAt: z.iso.datetime(),
  createdBy: z.string(),
});
export type ReservationView = z.infer<typeof reservationViewSchema>;

export const reservationPageSchema = z.object({ items: z.array(reservationViewSchema), cursor: z.string().nullable() });
export type ReservationPage = z.infer<typeof reservationPageSchema>;

export const reservationDeletedSchema = z.object({ id: z.string(), deleted: z.boolean() });
export type ReservationDeleted = z.infer<typeof reservationDeletedSchema>;
