/** Reservations: who may keep slots for what, and when. Servers read each second which are kept. */
import { keptLimit, type QueueName } from '@signalbox/engine';
import {
  DAYS,
  newReservationSchema,
  parseOr,
  type ReservationDeleted,
  type ReservationPage,
  type ReservationView,
  SignalboxError,
} from '@signalbox/protocol';
import type { NewReservation, ReservationChange, ReservedTimes, StoredReservation } from '@signalbox/store';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { fromIso, toIso } from '../iso-instants.ts';
import { badRequest, fromDatabase } from './errors.ts';
import { callerOf } from './guards.ts';
import { once } from './once.ts';
import { isOfInstallation, refuseOthers } from './operators.ts';
import type { RestParts } from './rest-parts.ts';

type Given = z.output<typeof newReservationSchema>;

/** Each server reads all of them each second, and each name of a limit stays. */
const MOST = 100;
const MOST_NAMES = 500;

export function reservationRoutes(app: FastifyInstance, parts: RestParts): void {
  const { queries } = parts;

  app.get('/v1/reservations', async (request) => {
    return { items: (await list(request)).map(viewOf), cursor: null } satisfies ReservationPage;
  });

  app.post('/v1/reservations', async (request) => {
    const given = parseOr(newReservationSchema, request.body, 'BAD_REQUEST');
    const wanted = await wantedOf(request, given);
    return once<ReservationView>(request, parts, {
      target: '',
      body: request.body,
      make: async () => {
        await assertRoom(request, wanted);
        const id = await fromDatabase(() => queries.createReservation(wanted, byOf(request)), request.log);
        const found = (await list(request)).find((one) => one.id === id);
        // Somebody may have deleted it at once.
        if (found === undefined) throw new SignalboxError('RESERVATION_NOT_FOUND', { reservation: String(id) });
        return viewOf(found);
      },
    });
  });

  app.delete('/v1/reservations/:id', async (request: FastifyRequest<{ Params: { id: string } }>) => {
    const { id } = request.params;
    return once<ReservationDeleted>(request, parts, {
      target: id,
      make: async (_key, again) => {
        const isNumber = /^\d{1,15}$/.test(id);
        const isGone =
          isNumber && (await fromDatabase(() => queries.deleteReservation(Number(id), byOf(request)), request.log));
        if (!isGone && !again) throw new SignalboxError('RESERVATION_NOT_FOUND', { reservation: id });
        return { id, deleted: true };
      },
    });
  });

  function list(request: FastifyRequest): Promise<StoredReservation[]> {
    const caller = callerOf(request);
    const who = { tenantId: caller.tenantId, isOfInstallation: isOfInstallation(caller) };
    return fromDatabase(() => queries.listReservations(who), request.log);
  }

  async function wantedOf(request: FastifyRequest, given: Given): Promise<NewReservation> {
    const caller = callerOf(request);
    const { slots, reason = null } = given;
    const queues = [...given.queues].sort() as QueueName[];
    const rest = { queues, slots, reason, times: timesOf(given) };
    if (given.dag === undefined) {
      refuseOthers(caller, 'reserve slots for a whole tenant');
      const { tenant: name = '' } = given;
      const tenant = await fromDatabase(() => queries.findTenant(name), request.log);
      if (tenant === null) throw new SignalboxError('TENANT_NOT_FOUND', { tenant: name });
      const { tenantId } = tenant;
      return { ...rest, tenantId, dag: null, limit: keptLimit({ tenantId, dagId: null, queues }) };
    }
    const { tenantId } = caller;
    const { dag: name } = given;
    const dag = await fromDatabase(() => parts.dags.find(tenantId, name), request.log);
    if (dag === null) throw new SignalboxError('DAG_NOT_FOUND', { dag: name });
    const { dagId } = dag;
    return { ...rest, tenantId, dag: { dagId, name }, limit: keptLimit({ tenantId, dagId, queues }) };
  }

  /** Requests at the same moment may exceed it by a few. */
  async function assertRoom(request: FastifyRequest, { tenantId, limit }: NewReservation): Promise<void> {
    const known = (await list(request)).filter((one) => one.tenantId === tenantId);
    if (known.length >= MOST) throw new SignalboxError('TOO_MANY_RESERVATIONS', { reason: `${MOST} reservations` });
    const { ever, wasSet } = await fromDatabase(() => queries.countSlotLimits(tenantId, limit), request.log);
    if (!wasSet && ever >= MOST_NAMES)
      throw new SignalboxError('TOO_MANY_RESERVATIONS', {
        reason: `had reservations for ${MOST_NAMES} dags and queues`,
      });
  }
}

function timesOf({ from, until, timezone = 'UTC', days }: Given): ReservedTimes {
  if (from.length > 'hh:mm'.length) return { kind: 'once', from: fromIso(from), until: fromIso(until) };
  if (!isZone(timezone)) throw badRequest('timezone', 'must be an IANA time zone such as Europe/Berlin');
  const numbers =
    days === undefined ? null : [...new Set(days.map((day) => DAYS.indexOf(day) + 1))].sort((a, b) => a - b);
  return { kind: 'daily', from, until, zone: timezone, days: numbers };
}

/** The database knows areas and places, and would take an offset such as +01:00 the other way round. */
function isZone(name: string): boolean {
  try {
    return /^[A-Za-z]/.test(name) && new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions() !== null;
  } catch {
    return false;
  }
}

function byOf(request: FastifyRequest): ReservationChange {
  const { tenantId: byTenantId, actor } = callerOf(request);
  return { byTenantId, actor, origin: request.ip };
}

function viewOf(stored: StoredReservation): ReservationView {
  const { id, tenant, dag, queues, slots, times, reason, reservedAt, reservedBy, window, isOpen, left } = stored;
  const isDaily = times.kind === 'daily';
  return {
    ...{ id: String(id), dag, tenant, queues: [...queues], slots },
    from: isDaily ? times.from : toIso(times.from),
    until: isDaily ? times.until : toIso(times.until),
    timezone: isDaily ? times.zone : null,
    days: isDaily ? (times.days?.map((day) => DAYS[day - 1]!) ?? null) : null,
    reason,
    window: window === null ? null : { from: toIso(window.from), until: toIso(window.until) },
    open: isOpen,
    left: isOpen ? left : null,
    ...{ createdAt: toIso(reservedAt), createdBy: reservedBy },
  };
}
