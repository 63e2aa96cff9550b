/** The caller of a service: the same credentials as over HTTP, in the metadata `authorization` (D13, I66). */
import type { Metadata } from '@grpc/grpc-js';
import type { TenantId, WorkerId } from '@signalbox/engine';
import { SignalboxError } from '@signalbox/protocol';
import { TENANT_HEADER, WORKER_HEADER } from '@signalbox/protocol/grpc';
import type { Bearers, Caller, Role } from '../auth/bearer.ts';
import { isWorkerOwnId, workerIdOf } from '../auth/worker-identity.ts';
import type { Logger } from '../log.ts';
import { fromDatabase } from '../rest/errors.ts';

export interface CallGuard {
  readonly bearers: Bearers;
  readonly logger: Logger;
}

/** The worker that a call is from: its tokens are good for it alone (I20). */
export function workerIn(metadata: Metadata, caller: Caller): WorkerId {
  const [ownId] = metadata.get(WORKER_HEADER);
  if (typeof ownId !== 'string' || !isWorkerOwnId(ownId)) {
    const problem = { path: WORKER_HEADER, message: 'must be the id that the worker says hello with' };
    throw new SignalboxError('BAD_REQUEST', { problems: [problem] });
  }
  return workerIdOf(caller, ownId);
}

/**
 * The tenant that a worker of the fleet works for in this call: the one it names, if its token serves that one (I65). That the token
 * belongs to a tenant does not mean that it serves it.
 */
export async function tenantIn(
  metadata: Metadata,
  caller: Caller,
  findTenant: (name: string) => Promise<{ readonly tenantId: TenantId } | null>,
): Promise<TenantId> {
  const [name] = metadata.get(TENANT_HEADER);
  const isOwn = typeof name !== 'string' || name === '' || name === caller.tenant;
  const found = isOwn ? caller : caller.work.serves === null ? null : await findTenant(name);
  if (found !== null && isServed(caller, found.tenantId)) return found.tenantId;
  throw new SignalboxError('FORBIDDEN', { action: 'work for this tenant' });
}

export function isServed({ tenantId: own, work }: Caller, tenantId: TenantId): boolean {
  if (work.serves === null) return tenantId === own;
  return work.serves.length === 0 || work.serves.includes(tenantId);
}

export async function callerIn(
  metadata: Metadata,
  { bearers, logger }: CallGuard,
  { may, action }: { readonly may: readonly Role[]; readonly action: string },
  /** The address of the caller, if wrong credentials from there are counted. */
  from: string | null = null,
): Promise<Caller> {
  const [header] = metadata.get('authorization');
  const caller = await fromDatabase(
    async () => bearers.identify(typeof header === 'string' ? header : undefined, from),
    logger as Parameters<typeof fromDatabase>[1],
  );
  if (caller === null) throw new SignalboxError('UNAUTHENTICATED');
  if (!may.includes(caller.role)) throw new SignalboxError('FORBIDDEN', { action });
  return caller;
}
