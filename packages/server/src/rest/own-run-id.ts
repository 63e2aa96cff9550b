/**
 * A run with an id of the caller's own. Before it is submitted the id is kept for its dag, so that it is used once in the tenant,
 * whichever servers are asked. Within the dag the id is an idempotency key, which the owner of the dag judges (I11).
 */
import type { Routed } from '@signalbox/host';
import { SignalboxError } from '@signalbox/protocol';
import type { OwnRunId } from '@signalbox/store';
import type { FastifyRequest } from 'fastify';
import { fromDatabase } from './errors.ts';
import type { RestParts } from './rest-parts.ts';

export async function sendWithOwnId(
  request: FastifyRequest,
  { queries }: RestParts,
  id: OwnRunId,
  send: () => Promise<Routed>,
): Promise<Routed> {
  const isOurs = await fromDatabase(() => queries.claimRunId(id), request.log);
  if (!isOurs) throw new SignalboxError('RUN_ID_TAKEN', { run: id.uid });
  const routed = await send();
  // Nothing came of it, so nothing is remembered (I12). Whether it works or not: an id without a run is free again after a day.
  const isRefused = routed.status === 'answered' && !routed.answer.ok;
  if (isRefused) await queries.releaseRunId(id).catch(() => undefined);
  return routed;
}
