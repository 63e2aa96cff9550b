/** Requests that the server makes to itself, for events that it finds out about without being asked. */
import type { Actor, TenantId } from '@signalbox/engine';
import type { FastifyBaseLogger, FastifyRequest } from 'fastify';
import type { Caller } from '../auth/bearer.ts';
import { systemClock } from '../ports/clock.ts';

export interface OwnCaller {
  readonly tenantId: TenantId;
  readonly tenant: string;
  /** Who it is for the runs that follow, such as `expectation`. */
  readonly actor: string;
}

/** Has what handlers look at: who asks, since when, and where to complain. */
export function ownRequest(log: FastifyBaseLogger, { tenantId, tenant, actor }: OwnCaller): FastifyRequest {
  const caller: Caller = {
    tenantId,
    tenant,
    role: 'operator',
    actor: actor as Actor,
    credential: `server:${actor}`,
    work: { queues: null, slots: null, serves: null },
    isSuspended: false,
    // The dag that it starts was deployed by somebody who may.
    mayBeCritical: true,
    defaultPriority: null,
  };
  const request = { caller, log, headers: {}, ip: '', startedAt: systemClock.mono() };
  return request as unknown as FastifyRequest;
}
