/** The tenant that runs the installation is the first one. Its admins make tenants, and tokens of other tenants. */
import type { TenantId } from '@signalbox/engine';
import { SignalboxError } from '@signalbox/protocol';
import type { FastifyRequest } from 'fastify';
import type { Caller } from '../auth/bearer.ts';
import { callerOf } from './guards.ts';

const FIRST_TENANT = 1 as TenantId;

export function isOfInstallation(request: FastifyRequest): boolean {
  return callerOf(request).tenantId === FIRST_TENANT;
}

/** For all others the tenant of the caller is the only one there is (I65). */
export function refuseOthers(request: FastifyRequest, action: string): Caller {
  if (!isOfInstallation(request)) throw new SignalboxError('FORBIDDEN', { action });
  return callerOf(request);
}
