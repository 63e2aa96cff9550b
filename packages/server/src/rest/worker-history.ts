/** When workers came and went, and what was done to them. Servers write what they see; what a person asks for is written here. */
import { listWorkerHistorySchema, parseOr, type WorkerEvent, type WorkerHistory } from '@signalbox/protocol';
import type { StoredWorkerEvent, WorkerAsked } from '@signalbox/store';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { toIso } from '../iso-instants.ts';
import { badRequest, fromDatabase } from './errors.ts';
import { callerOf } from './guards.ts';
import type { RestParts } from './rest-parts.ts';
import { spokenSpan } from './spoken-span.ts';

export function workerHistoryRoutes(app: FastifyInstance, { queries }: RestParts): void {
  app.get('/v1/workers/history', async (request): Promise<WorkerHistory> => {
    const { tenantId } = callerOf(request);
    const {
      cursor,
      limit,
      worker = null,
      kind = null,
    } = parseOr(listWorkerHistorySchema, request.query, 'BAD_REQUEST');
    if (cursor !== undefined && !/^\d{1,15}$/.test(cursor)) throw badRequest('cursor', 'is not a cursor from a page');
    const before = Number(cursor ?? Number.MAX_SAFE_INTEGER);
    const list = { worker, kind, before, limit };
    const events = await fromDatabase(() => queries.listWorkerEvents(tenantId, list), request.log);
    const items = events.map(eventView);
    return { items, cursor: items.length < limit ? null : (items.at(-1)?.id ?? null) };
  });
}

interface Asked {
  readonly kind: WorkerAsked['kind'];
  readonly workerId: string;
  readonly details?: object;
}

/** After it was done. That it can't be noted does not undo it. */
export async function noteAsked(
  request: FastifyRequest,
  { queries }: Pick<RestParts, 'queries'>,
  { kind, workerId, details = {} }: Asked,
): Promise<void> {
  const { tenantId, actor } = callerOf(request);
  try {
    await queries.keepWorkerAsked({ kind, tenantId, workerId, actor, details });
  } catch (error) {
    request.log.warn({ error: String(error), workerId }, 'The history of a worker lacks what was asked of it.');
  }
}

function eventView({ id, at, workerId, name, kind, nodeId, actor, details }: StoredWorkerEvent): WorkerEvent {
  const told = details as Details & Record<string, unknown>;
  const known = kind as WorkerEvent['kind'];
  return {
    id: String(id),
    at: toIso(at),
    worker: workerId,
    name,
    kind: known,
    node: nodeId,
    actor,
    message: MESSAGES[known](told, actor),
    details: told,
  };
}

/** What servers of this version write; of the kinds that have it. */
interface Details {
  readonly slots?: number;
  readonly queues?: readonly string[];
  readonly version?: string | null;
  readonly running?: number;
  readonly aheadMs?: number;
  readonly silentMs?: number;
  readonly reason?: string | null;
}

const runs = ({ running = 0 }: Details) => (running === 0 ? '' : `, with ${running} running`);
const offers = ({ slots = 0, queues = [], version = null }: Details) =>
  `: ${slots} slots for ${queues.join(', ')}${version === null ? '' : `, version ${version}`}.`;
const clock = ({ aheadMs = 0 }: Details) => `${spokenSpan(Math.abs(aheadMs))} ${aheadMs < 0 ? 'behind' : 'ahead'}`;

const MESSAGES: Readonly<Record<WorkerEvent['kind'], (details: Details, actor: string) => string>> = {
  registered: (details) => `It came for the first time${offers(details)}`,
  returned: (details) => `It came back${offers(details)}`,
  draining: () => 'It takes nothing new and finishes what it has.',
  left: () => 'It left in order.',
  disconnected: (details) => `Its connection ended: ${details.reason ?? 'unknown'}${runs(details)}.`,
  lost: (details) =>
    `Nothing was heard of it for ${spokenSpan(details.silentMs ?? 0)}: its attempts are given up${runs(details)}.`,
  clock_wrong: (details) => `Its clock is ${clock(details)}.`,
  clock_right: (details) => `Its clock is right again: ${clock(details)}.`,
  drain_asked: (_, actor) => `${actor} told it to drain.`,
  evict_asked: (_, actor) => `${actor} evicted it.`,
  cordoned: ({ reason = null }, actor) => `${actor} cordoned it${reason === null ? '' : `: ${reason}`}.`,
  uncordoned: (_, actor) => `${actor} uncordoned it.`,
};
