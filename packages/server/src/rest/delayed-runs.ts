/** Runs that were asked for and have not begun. To readers they are runs in state `scheduled`, without tasks. */
import type { Command } from '@signalbox/engine';
import type { Cancelled, RunView as RunAnswer, RunPage, RunSummary } from '@signalbox/protocol';
import type { DelayedRun } from '@signalbox/store';
import type { FastifyRequest } from 'fastify';
import { toIso } from '../iso-instants.ts';
import { answerOf, badRequest, fromDatabase } from './errors.ts';
import { callerOf } from './guards.ts';
import type { RestParts } from './rest-parts.ts';

function delayedSummary(run: DelayedRun): RunSummary {
  const { spec, paused, setBy, setAt } = run;
  return {
    id: run.uid,
    dag: run.dagName,
    version: run.versionNo,
    state: 'scheduled',
    outcome: null,
    priority: run.priority as RunSummary['priority'],
    cause: 'api',
    until: spec.run?.until ?? null,
    window: null,
    windowStart: null,
    backfill: null,
    createdAt: toIso(setAt),
    scheduledFor: toIso(run.at),
    endedAt: null,
    slowAt: null,
    reason: null,
    parent: null,
    actor: spec.run?.actor ?? '',
    reopenedAt: null,
    reopenedBy: null,
    retries: 0,
    paused: paused ? { by: setBy, since: toIso(setAt), until: null } : null,
  };
}

/** Null when there is none of the caller's. */
export async function readDelayedRun(
  request: FastifyRequest,
  { queries }: RestParts,
  id: string,
): Promise<RunAnswer | null> {
  const { tenantId } = callerOf(request);
  const run = await fromDatabase(() => queries.findDelayedRun(tenantId, id), request.log);
  if (run === null) return null;
  const at = toIso(run.at);
  const message =
    run.fault !== null
      ? `It was paused by a fault of the server: ${run.fault}`
      : run.paused
        ? 'It is paused: resume it, and it begins when its time has come.'
        : `It begins at ${at}.`;
  const why = { code: 'run_scheduled', message, until: run.paused ? null : at } as const;
  const params: unknown = run.spec.params === undefined ? null : JSON.parse(run.spec.params);
  return { ...delayedSummary(run), params, tasks: [], closingFailed: [], why };
}

/** Soonest first. */
export async function listDelayedRuns(
  request: FastifyRequest,
  { queries }: RestParts,
  list: { dag: string | undefined; mine: boolean; cursor: string | undefined; limit: number },
): Promise<RunPage> {
  const { tenantId, actor } = callerOf(request);
  const { dag: dagName, mine, cursor, limit } = list;
  const wanted = { dagName, actor: mine ? actor : undefined, after: placeOf(cursor), limit };
  const found = await fromDatabase(() => queries.listDelayedRuns(tenantId, wanted), request.log);
  const last = found.length < limit ? undefined : found.at(-1);
  return { items: found.map(delayedSummary), cursor: last === undefined ? null : `${last.at}.${last.uid}` };
}

function placeOf(cursor: string | undefined): { at: number; uid: string } | null {
  if (cursor === undefined) return null;
  const [, at, uid] = /^(\d{1,16})\.([0-9a-f-]{36})$/.exec(cursor) ?? [];
  if (at === undefined || uid === undefined) {
    throw badRequest('cursor', 'is not a cursor from a page. Omit it to start with the first');
  }
  return { at: Number(at), uid };
}

/** Null when it has begun, or there is none. */
export async function cancelDelayedRun(
  request: FastifyRequest,
  parts: RestParts,
  id: string,
): Promise<Cancelled | null> {
  const done = await askDelayedRun(request, parts, id, { kind: 'DeleteSchedule' });
  return done ? { id, state: 'ended', outcome: 'cancelled' } : null;
}

/** False when it has begun, or there is none. */
export function pauseDelayedRun(
  request: FastifyRequest,
  parts: RestParts,
  id: string,
  paused: boolean,
): Promise<boolean> {
  return askDelayedRun(request, parts, id, { kind: 'SetSchedulePaused', paused });
}

type Wish = { readonly kind: 'DeleteSchedule' } | { readonly kind: 'SetSchedulePaused'; readonly paused: boolean };

/** False when it has begun, or there is none. */
async function askDelayedRun(
  request: FastifyRequest,
  { queries, main, leftMs }: RestParts,
  id: string,
  wish: Wish,
): Promise<boolean> {
  const { tenantId, actor } = callerOf(request);
  const run = await fromDatabase(() => queries.findDelayedRun(tenantId, id), request.log);
  if (run === null) return false;
  const { shard, dagId } = run;
  const command = { ...wish, shard, dagId, tenantId, actor, name: id } as Command;
  const routed = await main.command(command, leftMs(request));
  if (routed.status === 'answered' && !routed.answer.ok && routed.answer.code === 'SCHEDULE_NOT_FOUND') return false;
  answerOf(routed, 'done', { run: id });
  return true;
}
