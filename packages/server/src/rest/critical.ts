/** The priority `critical` goes before all other work, also that of other tenants: it needs a permission, and its use is recorded. */
import { type DagSpec, schedulesOf } from '@signalbox/engine';
import { PRIORITIES, SignalboxError } from '@signalbox/protocol';
import type { FastifyRequest } from 'fastify';
import type { Caller } from '../auth/bearer.ts';
import { fromDatabase } from './errors.ts';
import { callerOf } from './guards.ts';
import type { RestParts } from './rest-parts.ts';

/** Refuses a caller whose tenant may not, and leaves an audit event for one that may (I71). `target`: the dag. */
export async function guardCritical(
  request: FastifyRequest,
  { queries }: RestParts,
  { isCritical, target }: { readonly isCritical: boolean; readonly target: string },
): Promise<void> {
  if (!isCritical) return;
  refuseCritical(request);
  const { tenantId, actor } = callerOf(request);
  const { id } = request.routeOptions.config.operation ?? { id: '' };
  await fromDatabase(
    () => queries.recordUse({ tenantId, actor, action: 'priority.critical', target, origin: request.ip, details: id }),
    request.log,
  );
}

/** Without an audit event: for one of several that are then guarded together. */
export function refuseCritical(request: FastifyRequest): void {
  if (!callerOf(request).mayBeCritical) throw new SignalboxError('FORBIDDEN', { action: 'use the priority critical' });
}

/** The dag, or one of its schedules, makes critical runs. */
export function usesCritical(spec: DagSpec): boolean {
  if (spec.priority === 'critical') return true;
  return schedulesOf(spec).some(({ spec: schedule }) => schedule.priority === 'critical');
}

/** A definition or a job that says nothing about its priority has that of its tenant. */
export function withPriority<T>(body: T, { defaultPriority }: Caller): T {
  if (defaultPriority === null || typeof body !== 'object' || body === null) return body;
  if ((body as { readonly priority?: unknown }).priority !== undefined) return body;
  return { ...body, priority: PRIORITIES[defaultPriority] };
}
