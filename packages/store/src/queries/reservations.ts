/** Slots that are kept for a dag or a tenant at certain times. Servers read each second which are kept now. */
import type { DagId, KeptRule, LimitName, QueueName, TenantId } from '@signalbox/engine';
import type { Database } from '../database.ts';
import { call, statement } from '../statement.ts';
import { decodeNullableText, decodeText, encodeText } from '../text.ts';
import type { ChangedBy } from './audit.ts';

/** When it holds: once, or each day between two wall times; the second is of the next day if it is not after the first. */
export type ReservedTimes =
  | { readonly kind: 'once'; readonly from: number; readonly until: number }
  | {
      readonly kind: 'daily';
      readonly from: string;
      readonly until: string;
      readonly zone: string;
      /** 1 is Monday; null: all. */
      readonly days: readonly number[] | null;
    };

export interface NewReservation {
  /** Whose slots are kept. */
  readonly tenantId: TenantId;
  /** Null: of the whole tenant. */
  readonly dag: { readonly dagId: DagId; readonly name: string } | null;
  readonly queues: readonly QueueName[];
  readonly slots: number;
  /** What the others are under. */
  readonly limit: LimitName;
  readonly times: ReservedTimes;
  readonly reason: string | null;
}

export interface StoredReservation {
  readonly id: number;
  readonly tenantId: TenantId;
  readonly tenant: string;
  readonly dag: string | null;
  readonly queues: readonly string[];
  readonly slots: number;
  readonly limit: LimitName;
  readonly times: ReservedTimes;
  readonly reason: string | null;
  readonly reservedAt: number;
  readonly reservedBy: string;
  /** The time that is now or comes next; null: all of it is over. */
  readonly window: { readonly from: number; readonly until: number } | null;
  readonly isOpen: boolean;
  /** What the others share now; null: nothing is kept, or servers have not begun to. */
  readonly left: number | null;
}

const msOf = (what: string): string => `floor(extract(epoch from ${what}) * 1000)::bigint`;

/**
 * The window of each reservation that ends next. Wall times become instants day by day, so a night in which clocks change has the
 * right length. A week and a day ahead contain each day of the week.
 */
const WINDOWS = `
  reservation r left join lateral (
    select f.from_at, f.until_at from (
      select r.from_at, r.until_at where r.zone is null
      union all
      select (d.day + r.starts) at time zone r.zone,
          (d.day + r.ends + case when r.ends <= r.starts then interval '1 day' else interval '0' end) at time zone r.zone
        from (select (clock_timestamp() at time zone r.zone)::date + i as day from generate_series(-1, 8) i where r.zone is not null) d
       where r.days is null or extract(isodow from d.day)::smallint = any (r.days)) f
     where f.until_at > clock_timestamp() order by f.from_at limit 1) w on true`;
const IS_OPEN = 'coalesce(w.from_at <= clock_timestamp(), false)';

const selectKept = statement(
  'select_kept',
  `select r.limit_name, r.tenant_id, r.slots from ${WINDOWS} where ${IS_OPEN} order by r.reservation_id`,
);
/** `$2`: for the tenant that runs the installation, all that it made. `$3`: those that hold back this tenant, and are open. */
const selectReservations = statement(
  'select_reservations',
  `select r.reservation_id, r.tenant_id, coalesce(t.name, ''), r.dag, r.queues, r.slots, r.limit_name,
      ${msOf('r.from_at')}, ${msOf('r.until_at')}, to_char(r.starts, 'HH24:MI'), to_char(r.ends, 'HH24:MI'), r.zone,
      array_to_string(r.days, ','), r.reason, ${msOf('r.reserved_at')}, r.reserved_by,
      ${msOf('w.from_at')}, ${msOf('w.until_at')}, ${IS_OPEN}, l.slots
    from ${WINDOWS} left join tenant t on t.tenant_id = r.tenant_id left join slot_limit l on l.limit_name = r.limit_name
   where case when $3::boolean then ${IS_OPEN} and (r.dag_id is not null and r.tenant_id = $1::integer or r.dag_id is null and r.tenant_id <> $1::integer)
           else r.tenant_id = $1::integer or $2::boolean and r.by_tenant_id = $1::integer end
   order by r.reservation_id`,
);
const AUDIT = 'insert into audit_event (tenant_id, actor, action, target, origin, outcome, details)';
/** Those that have been over for a week make room. */
const insertReservation = statement(
  'insert_reservation',
  `
  with gone as (
    delete from reservation where tenant_id = $1::integer and until_at < clock_timestamp() - interval '7 days'),
  made as (
    insert into reservation (tenant_id, dag_id, dag, queues, slots, limit_name, from_at, until_at, starts, ends, zone, days, reason,
        reserved_by, by_tenant_id)
    values ($1::integer, $2::integer, $3::text, $4::text, $5::integer, $6::text,
      to_timestamp($7::float8 / 1000), to_timestamp($8::float8 / 1000), $9::time, $10::time, $11::text,
      string_to_array($12::text, ',')::smallint[], $13::text, $14::text, $15::integer)
    -- An unknown zone is refused here, and not when it is read.
    returning reservation_id, clock_timestamp() at time zone coalesce(zone, 'UTC') as checked),
  audited as (
    ${AUDIT} select $15::integer, $14::text, 'reservation.created', reservation_id::text, $16::text, 'done', $17::json
      from made where checked is not null)
  select reservation_id from made`,
);
const removeReservation = statement(
  'delete_reservation',
  `
  with gone as (
    delete from reservation where reservation_id = $1::bigint and by_tenant_id = $2::integer returning reservation_id)
  ${AUDIT} select $2::integer, $3::text, 'reservation.deleted', reservation_id::text, $4::text, 'done', '{}'::json from gone returning 1`,
);

/** What is kept now. */
export async function readKept(database: Database): Promise<KeptRule[]> {
  const { rows } = await database.one(call(selectKept));
  return rows.map(([limit, tenantId, slots]) => ({
    limit: decodeText(limit!) as LimitName,
    tenantId: Number(tenantId) as TenantId,
    slots: Number(slots),
  }));
}

/** Those of a tenant; for the one that runs the installation, also those that it made for others. */
export function listReservations(
  database: Database,
  { tenantId, isOfInstallation }: { readonly tenantId: TenantId; readonly isOfInstallation: boolean },
): Promise<StoredReservation[]> {
  return select(database, [tenantId, isOfInstallation, false]);
}

/** Those that keep slots from some dags of this tenant now. */
export function listKeptFrom(database: Database, tenantId: TenantId): Promise<StoredReservation[]> {
  return select(database, [tenantId, false, true]);
}

async function select(database: Database, of: readonly [TenantId, boolean, boolean]): Promise<StoredReservation[]> {
  const { rows } = await database.one(call(selectReservations, ...of));
  return rows.map(reservationOf);
}

function reservationOf(row: readonly (string | null)[]): StoredReservation {
  const [id, tenantId, tenant, dag, queues, slots, limit, fromAt, untilAt, starts, ends, zone, days, ...rest] = row;
  const [reason, reservedAt, reservedBy, opensAt, closesAt, isOpen, left] = rest;
  return {
    id: Number(id),
    tenantId: Number(tenantId) as TenantId,
    tenant: decodeText(tenant!),
    dag: decodeNullableText(dag ?? null),
    queues: decodeText(queues!).split(','),
    slots: Number(slots),
    limit: decodeText(limit!) as LimitName,
    times:
      zone == null
        ? { kind: 'once', from: Number(fromAt), until: Number(untilAt) }
        : {
            ...{ kind: 'daily', from: starts!, until: ends!, zone: decodeText(zone) },
            days: days == null ? null : days.split(',').map(Number),
          },
    reason: decodeNullableText(reason ?? null),
    reservedAt: Number(reservedAt),
    reservedBy: decodeText(reservedBy!),
    window: closesAt == null ? null : { from: Number(opensAt), until: Number(closesAt) },
    isOpen: isOpen === 't',
    left: left == null ? null : Number(left),
  };
}

/** Who reserves, or lets go: the audit event is of the tenant of that one (I65, I71). */
export interface ReservationChange extends ChangedBy {
  readonly byTenantId: TenantId;
}

/** Its id. Throws where PostgreSQL knows no such zone. */
export async function createReservation(
  database: Database,
  { tenantId, dag, queues, slots, limit, times, reason }: NewReservation,
  { actor, origin, byTenantId }: ReservationChange,
): Promise<number> {
  const daily = times.kind === 'daily' ? times : null;
  const once = times.kind === 'once' ? times : null;
  const details = JSON.stringify({ slots, queues, ...(dag === null ? { tenantId } : { dag: encodeText(dag.name) }) });
  const what = [tenantId, dag?.dagId ?? null, dag === null ? null : encodeText(dag.name), encodeText(queues.join(','))];
  const when = [once?.from ?? null, once?.until ?? null, daily?.from ?? null, daily?.until ?? null];
  const where = [daily === null ? null : encodeText(daily.zone), daily?.days?.join(',') ?? null];
  const by = [reason === null ? null : encodeText(reason), encodeText(actor), byTenantId, encodeText(origin), details];
  const [made] = await database.write([
    call(insertReservation, ...what, slots, encodeText(limit), ...when, ...where, ...by),
  ]);
  return Number(made?.rows[0]?.[0]);
}

/** False when the tenant that asks made no such reservation. */
export async function deleteReservation(database: Database, id: number, by: ReservationChange): Promise<boolean> {
  const { actor, origin, byTenantId } = by;
  const [gone] = await database.write([call(removeReservation, id, byTenantId, encodeText(actor), encodeText(origin))]);
  return (gone?.rows.length ?? 0) > 0;
}
