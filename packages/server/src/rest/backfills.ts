/** Backfills: started, listed, paused, resumed and cancelled; and the windows that one would decide. */
import { createHash } from 'node:crypto';
import {
  type BackfillSpec,
  type BackfillUid,
  compileTimetable,
  type Instant,
  makeRunUid,
  type RunId,
  type SetBackfill,
  shardOfUid,
  spreadSeedOf,
  windowsBetween,
} from '@signalbox/engine';
import {
  type BackfillPage,
  type BackfillPreview,
  type BackfillView,
  backfillViewSchema,
  cancelBackfillSchema,
  listBackfillsSchema,
  MAX_BACKFILL_WINDOWS,
  newBackfillSchema,
  parseOr,
  SignalboxError,
} from '@signalbox/protocol';
import type { BackfillRow, ListedSchedule } from '@signalbox/store';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { fromIso, toIso } from '../iso-instants.ts';
import { randomBits, systemClock } from '../ports/clock.ts';
import { zoneData } from '../zones/edge-zones.ts';
import { guardCritical } from './critical.ts';
import type { DagPlace } from './dag-lookup.ts';
import { type DagRequest, dagNameOf } from './dags.ts';
import { answerOf, fromDatabase } from './errors.ts';
import { callerOf } from './guards.ts';
import { once } from './once.ts';
import type { RestParts } from './rest-parts.ts';

type BackfillRequest = FastifyRequest<{ Params: { id: string } }>;
type Main = RestParts['main'];

/** Runs that a cancel asks for in one go. */
const CANCELLED_AT_ONCE = 100;
/** A dag has no more schedules than this in one list. */
const SCHEDULES_LIMIT = 1_000;

export function backfillRoutes(app: FastifyInstance, parts: RestParts): void {
  const { queries, main } = parts;

  app.post('/v1/dags/:name/backfills', (request: DagRequest, reply) => {
    const asked = parseOr(newBackfillSchema, request.body, 'BAD_REQUEST');
    void reply.code(201);
    return once<BackfillView>(request, parts, {
      target: dagNameOf(request),
      body: asked,
      make: async (key) => {
        const { place, spec, windows, name } = await plan(request);
        await guardCritical(request, parts, { isCritical: spec.schedule.priority === 'critical', target: name });
        const { tenantId, actor } = callerOf(request);
        const uid = key === null ? newUid(place) : uidOfKey(place, `${tenantId}/${place.dagId}/${key}`, spec.fromAt);
        const { shard, dagId } = place;
        const what = { shard, dagId, tenantId, uid, spec, windowCount: windows.length, actor };
        const routed = await main.command({ kind: 'StartBackfill', ...what }, parts.leftMs(request));
        answerOf(routed, 'done', { dag: name });
        return show(request, uid);
      },
    });
  });

  app.post('/v1/dags/:name/backfills/preview', async (request: DagRequest) => {
    const { place, spec, windows, name } = await plan(request);
    const { fromAt, toAt, which, scheduleNo, scheduleName: schedule } = spec;
    const range = { shard: place.shard, dagId: place.dagId, scheduleNo, fromAt, toAt };
    const newest = await fromDatabase(() => queries.newestRunsOf(range), request.log);
    const items = windows.map((at): BackfillPreview['items'][number] => {
      const run = newest.get(at);
      if (run === undefined) {
        return { at: toIso(at), action: which === 'failed' ? 'skip' : 'create', run: null, outcome: null };
      }
      const isWanted = !run.isLive && (which === 'all' || (which === 'failed' && run.outcome === 'failed'));
      return { at: toIso(at), action: isWanted ? 'again' : 'skip', run: run.uid, outcome: run.outcome };
    });
    const toCreate = items.filter(({ action }) => action !== 'skip').length;
    return { dag: name, schedule, windows: items.length, toCreate, items } satisfies BackfillPreview;
  });

  app.get('/v1/backfills', async (request) => {
    const { dag: dagName, cursor, limit } = parseOr(listBackfillsSchema, request.query, 'BAD_REQUEST');
    const list = { dagName, before: cursor === undefined ? null : (Number(cursor) as Instant), limit };
    const found = await fromDatabase(() => queries.listBackfills(callerOf(request).tenantId, list), request.log);
    const last = found.at(-1);
    const next = found.length < limit || last === undefined ? null : String(last.startedAt);
    return { items: found.map(backfillAnswer), cursor: next } satisfies BackfillPage;
  });

  app.get('/v1/backfills/:id', (request: BackfillRequest) => show(request, idOf(request)));

  for (const [verb, to] of [
    ['pause', 'paused'],
    ['resume', 'running'],
  ] as const) {
    app.post(`/v1/backfills/:id/${verb}`, (request: BackfillRequest) => set(request, to, async () => undefined));
  }

  app.post('/v1/backfills/:id/cancel', (request: BackfillRequest) => {
    const { runs } = parseOr(cancelBackfillSchema, request.body ?? {}, 'BAD_REQUEST');
    return set(request, 'cancelled', () => (runs ? cancelRuns(request) : Promise.resolve()), { runs });
  });

  function set(
    request: BackfillRequest,
    to: SetBackfill['to'],
    then: () => Promise<void>,
    body?: unknown,
  ): Promise<BackfillView> {
    const uid = idOf(request);
    return once<BackfillView>(request, parts, {
      target: uid,
      ...(body === undefined ? {} : { body }),
      make: async () => {
        await find(request, uid);
        const { tenantId, actor } = callerOf(request);
        const command = { kind: 'SetBackfill', shard: shardOfUid(uid), tenantId, uid, to, actor } as const;
        answerOf(await main.command(command, parts.leftMs(request)), 'done', { backfill: uid });
        await then();
        return show(request, uid);
      },
    });
  }

  /** It creates none any more: those that are live now are all that there are. */
  async function cancelRuns(request: BackfillRequest): Promise<void> {
    const { tenantId, actor } = callerOf(request);
    for (const state of ['open', 'closing'] as const) {
      const list = { backfill: idOf(request), state, limit: CANCELLED_AT_ONCE };
      const found = await fromDatabase(() => queries.listBackfillRuns(tenantId, list), request.log);
      const cancel = (runId: RunId): ReturnType<Main['command']> =>
        main.command({ kind: 'CancelRun', tenantId, runId, actor }, parts.leftMs(request));
      await Promise.all((found?.runs ?? []).map(({ runId }) => cancel(runId)));
    }
  }

  async function find(request: FastifyRequest, uid: BackfillUid): Promise<BackfillRow> {
    const found = await fromDatabase(() => queries.getBackfill(callerOf(request).tenantId, uid), request.log);
    if (found === null) throw new SignalboxError('BACKFILL_NOT_FOUND', { backfill: uid });
    return found;
  }

  async function show(request: FastifyRequest, uid: BackfillUid): Promise<BackfillView> {
    return backfillAnswer(await find(request, uid));
  }

  /** What is asked for, with the windows in order. The timetable is that of the schedule as it is now. */
  async function plan(request: DagRequest) {
    const name = dagNameOf(request);
    const { tenantId } = callerOf(request);
    const asked = parseOr(newBackfillSchema, request.body, 'BAD_REQUEST');
    const place = await fromDatabase(() => parts.dags.find(tenantId, name), request.log);
    if (place === null) throw new SignalboxError('DAG_NOT_FOUND', { dag: name });
    const wanted = { after: null, limit: SCHEDULES_LIMIT, dagName: name };
    const schedules = await fromDatabase(() => queries.listSchedules(tenantId, wanted), request.log);
    const schedule = schedules.find((one) => one.name === asked.schedule);
    if (schedule === undefined) throw new SignalboxError('SCHEDULE_NOT_FOUND', { dag: name, reason: asked.schedule });
    const spec = specOf(asked, schedule, name);
    return { name, place, spec, windows: windowsIn(spec, schedule, name) };
  }
}

function specOf(
  asked: ReturnType<typeof newBackfillSchema.parse>,
  schedule: ListedSchedule,
  dag: string,
): BackfillSpec {
  const now = systemClock.wall();
  const fromAt = fromIso(asked.from) as Instant;
  // What has not come yet is the schedule's (I4).
  const toAt = Math.min(asked.to === undefined ? now : fromIso(asked.to), now) as Instant;
  if (fromAt > toAt) throw invalid(dag, 'its range is empty, or in the future');
  const { which, order, until, maxActive, share } = asked;
  const { scheduleNo, name: scheduleName, spec } = schedule;
  const how = { which, order, maxActive, share, ...(until === undefined ? {} : { until }) };
  return { scheduleNo, scheduleName, schedule: spec, fromAt, toAt, ...how };
}

function windowsIn({ fromAt, toAt, order, schedule }: BackfillSpec, of: ListedSchedule, dag: string): Instant[] {
  const compiled = compileTimetable(schedule, spreadSeedOf(of));
  if (!compiled.ok) throw invalid(dag, 'its schedule cannot be read');
  const range = { from: (fromAt - 1) as Instant, until: toAt, most: MAX_BACKFILL_WINDOWS + 1 };
  const found = windowsBetween(compiled.timetable, range, zoneData).map(({ at }) => at);
  if (found.length > MAX_BACKFILL_WINDOWS) {
    throw invalid(dag, `its range has more than ${MAX_BACKFILL_WINDOWS} windows: take a shorter one`);
  }
  return order === 'forward' ? found : found.reverse();
}

const invalid = (dag: string, reason: string) => new SignalboxError('BACKFILL_INVALID', { dag, reason });

/** Made here, before anything is sent: a command that is sent again is the same one (I11). */
function newUid({ shard }: DagPlace): BackfillUid {
  return makeRunUid(shard, systemClock.wall(), randomBits(48), randomBits(26)) as string as BackfillUid;
}

/**
 * The same key gives the same backfill, also if the first request was cut off after it had started one (I11). So the time in the id is
 * the beginning of the range, which the requests with one key share, and not that of the request.
 */
function uidOfKey({ shard }: DagPlace, key: string, fromAt: Instant): BackfillUid {
  const bytes = createHash('sha256').update(key).digest();
  return makeRunUid(shard, fromAt, bytes.readUIntBE(0, 6), bytes.readUInt32BE(6) >>> 6) as string as BackfillUid;
}

function idOf(request: BackfillRequest): BackfillUid {
  return parseOr(backfillViewSchema.shape.id, request.params.id, 'BAD_REQUEST') as BackfillUid;
}

function backfillAnswer(row: BackfillRow): BackfillView {
  const { spec, ended } = row;
  const isLive = row.state === 'running' || row.state === 'paused';
  return {
    id: row.uid,
    dag: row.dagName,
    schedule: spec.scheduleName,
    from: toIso(spec.fromAt),
    to: toIso(spec.toAt),
    which: spec.which,
    order: spec.order,
    until: spec.until ?? null,
    maxActive: spec.maxActive,
    share: spec.share,
    state: row.state,
    reason: row.reason,
    actor: row.actor,
    startedAt: toIso(row.startedAt),
    endedAt: isLive || row.stateAt === null ? null : toIso(row.stateAt),
    windows: row.windowCount,
    decided: row.createdCount + row.skippedCount,
    created: row.createdCount,
    skipped: row.skippedCount,
    runs: { active: row.activeRuns, ...ended },
    estimatedEndAt: estimateOf(row, systemClock.wall()),
  };
}

/** By the pace of the runs so far. Windows that are left are taken to need a run as often as those before. */
function estimateOf(row: BackfillRow, now: number): string | null {
  const { state, startedAt, windowCount, createdCount, skippedCount, activeRuns, ended } = row;
  const done = ended.succeeded + ended.failed + ended.cancelled;
  const decided = createdCount + skippedCount;
  if (state !== 'running' || done === 0 || decided === 0) return null;
  const runsLeft = activeRuns + Math.max(0, windowCount - decided) * (createdCount / decided);
  return toIso(now + ((now - startedAt) / done) * runsLeft);
}
