/** Who calls a service: the same credentials as over HTTP, in the metadata `authorization` (D13, I66). */
import type { Metadata } from '@grpc/grpc-js';
import { SignalboxError } from '@signalbox/protocol';
import type { Bearers, Caller, Role } from '../auth/bearer.ts';
import type { Logger } from '../log.ts';
import { fromDatabase } from '../rest/errors.ts';

export interface CallGuard {
  readonly bearers: Bearers;
  readonly logger: Logger;
}

export async function callerIn(
  metadata: Metadata,
  { bearers, logger }: CallGuard,
  { may, action }: { readonly may: readonly Role[]; readonly action: string },
  /** Where it comes from, if wrong credentials from there are to be counted. */
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
