/** The tenant that runs the installation is the first one. Its admins make tenants, and tokens of other tenants. */
import type { TenantId } from '@signalbox/engine';
import { SignalboxError } from '@signalbox/protocol';
import type { Caller } from '../auth/bearer.ts';

const FIRST_TENANT = 1 as TenantId;

export function isOfInstallation({ tenantId }: Caller): boolean {
  return tenantId === FIRST_TENANT;
}

/** For all others the tenant of the caller is the only one there is (I65). */
export function refuseOthers(caller: Caller, action: string): void {
  if (!isOfInstallation(caller)) throw new SignalboxError('FORBIDDEN', { action });
}
