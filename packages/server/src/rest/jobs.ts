/** Jobs: listed, paused, resumed, cancelled, deleted; they are created by `create-jobs.ts`. A job is a run or a schedule of a hidden dag. */
import { describeTiming, type RunId } from '@signalbox/engine';
import {
  type JobDeleted,
  type JobPage,
  type JobView,
  listJobsSchema,
  pageQuerySchema,
  parseOr,
  type RunPage,
  runIdSchema,
  SignalboxError,
} from '@signalbox/protocol';
import type { JobRow } from '@signalbox/store';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { toIso, toIsoOrNull } from '../iso-instants.ts';
import { createJobRoutes } from './create-jobs.ts';
import { answerOf, badRequest, fromDatabase } from './errors.ts';
import { callerOf } from './guards.ts';
import { nextWindowOf } from './next-window.ts';
import { once } from './once.ts';
import type { RestParts } from './rest-parts.ts';
import { runSummary } from './views.ts';

type JobRequest = FastifyRequest<{ Params: { id: string } }>;

/** How many jobs a page looks at for those in a state. */
const LOOKED_AT = 500;

export function jobRoutes(app: FastifyInstance, parts: RestParts): void {
  const { queries, main } = parts;

  createJobRoutes(app, parts);

  app.get('/v1/jobs', async (request) => {
    const { tenantId } = callerOf(request);
    const { cursor, limit, tag, owner, state, recurring } = parseOr(listJobsSchema, request.query, 'BAD_REQUEST');
    if (cursor !== undefined && !runIdSchema.safeParse(cursor).success)
      throw badRequest('cursor', 'is not a cursor from a page');
    const looked = state === undefined ? limit : LOOKED_AT;
    const list = {
      ...{ before: cursor ?? null, tag: tag ?? null, owner: owner ?? null, limit: looked },
      recurring: recurring === undefined ? null : recurring === 'true',
    };
    const found = await fromDatabase(() => queries.listJobs(tenantId, list), request.log);
    const items: JobView[] = [];
    let last: string | null = found.length < looked ? null : (found.at(-1)?.id ?? null);
    for (const [no, row] of found.entries()) {
      const view = jobView(row);
      if (view === null || (state !== undefined && view.state !== state)) continue;
      items.push(view);
      if (items.length < limit) continue;
      if (no < found.length - 1) last = row.id;
      break;
    }
    return { items, cursor: last } satisfies JobPage;
  });

  app.get('/v1/jobs/:id', async (request: JobRequest) => shownOf(await find(request), request));

  app.get('/v1/jobs/:id/runs', async (request: JobRequest) => {
    const { tenantId } = callerOf(request);
    const { cursor, limit } = parseOr(pageQuerySchema, request.query, 'BAD_REQUEST');
    const job = await find(request);
    if (!job.recurring) {
      const run = await fromDatabase(() => queries.getRun(tenantId, job.id), request.log);
      return { items: run === null ? [] : [runSummary(run)], cursor: null } satisfies RunPage;
    }
    if (cursor !== undefined && !/^\d{1,16}$/.test(cursor)) throw badRequest('cursor', 'is not a cursor from a page');
    const { shard, dagId, scheduleNo } = job;
    if (scheduleNo === null) return { items: [], cursor: null } satisfies RunPage;
    const before = cursor === undefined ? null : (Number(cursor) as RunId);
    const list = { shard, dagId, scheduleNo, before, limit };
    const runs = [...(await fromDatabase(() => queries.listJobRuns(tenantId, list), request.log))];
    runs.sort((a, b) => b.runId - a.runId);
    const last = runs.length < limit ? undefined : runs.at(-1);
    return { items: runs.map(runSummary), cursor: last === undefined ? null : String(last.runId) } satisfies RunPage;
  });

  for (const [verb, paused] of [['pause', true] as const, ['resume', false] as const]) {
    app.post(`/v1/jobs/:id/${verb}`, (request: JobRequest) =>
      once<JobView>(request, parts, {
        target: request.params.id,
        make: async () => {
          const job = await find(request);
          if (!(await askSchedule(request, job, { kind: 'SetSchedulePaused', paused }))) {
            const { tenantId, actor } = callerOf(request);
            const runId = await runOf(request, job.id);
            const command = { kind: 'SetPaused', tenantId, runId, taskNo: null, paused, actor } as const;
            answerOf(await main.command(command, parts.leftMs(request)), 'done', { run: job.id });
          }
          return shownOf(await find(request), request);
        },
      }),
    );
  }

  app.post('/v1/jobs/:id/cancel', (request: JobRequest) =>
    once<JobView>(request, parts, {
      target: request.params.id,
      make: async () => {
        const job = await find(request);
        await cancel(request, job);
        return shownOf(await find(request), request);
      },
    }),
  );

  app.delete('/v1/jobs/:id', (request: JobRequest) =>
    once<JobDeleted>(request, parts, {
      target: request.params.id,
      make: async (_key, again) => {
        const { tenantId, actor } = callerOf(request);
        const id = idOf(request);
        const job = await find(request).catch((error: unknown) => {
          // An earlier request with this key was cut off after it had deleted the job.
          if (again && error instanceof SignalboxError && error.code === 'JOB_NOT_FOUND') return null;
          throw error;
        });
        if (job !== null) {
          await cancel(request, job);
          const by = { actor, origin: request.ip };
          await fromDatabase(() => queries.deleteJob(tenantId, id, by), request.log);
        }
        return { id, deleted: true };
      },
    }),
  );

  /** What waits never runs; a run of a job that runs once is cancelled. Runs that a recurring job has begun go on. */
  async function cancel(request: FastifyRequest, job: JobRow): Promise<void> {
    const { tenantId, actor } = callerOf(request);
    const { scheduleNo } = job;
    if (job.recurring && scheduleNo !== null)
      await fromDatabase(() => queries.keepJobScheduleNo(tenantId, job.id, scheduleNo), request.log);
    if (await askSchedule(request, job, { kind: 'DeleteSchedule' })) {
      await fromDatabase(() => queries.markJobCancelled(tenantId, job.id), request.log);
      return;
    }
    if (job.recurring) return;
    const found = await fromDatabase(() => queries.resolveRun(tenantId, job.id), request.log);
    if (found === null) return;
    const command = { kind: 'CancelRun', tenantId, runId: found.runId, actor } as const;
    const routed = await main.command(command, parts.leftMs(request));
    const hasEnded = routed.status === 'answered' && !routed.answer.ok && routed.answer.code === 'RUN_ENDED';
    if (!hasEnded) answerOf(routed, 'cancelled', { run: job.id });
  }

  async function find(request: JobRequest): Promise<JobRow> {
    const { tenantId } = callerOf(request);
    const id = idOf(request);
    const found = await fromDatabase(() => queries.findJob(tenantId, id), request.log);
    if (found === null || stateOf(found) === null) throw new SignalboxError('JOB_NOT_FOUND', { job: id });
    return found;
  }

  async function runOf(request: FastifyRequest, id: string): Promise<RunId> {
    const { tenantId } = callerOf(request);
    const found = await fromDatabase(() => queries.resolveRun(tenantId, id), request.log);
    if (found === null) throw new SignalboxError('JOB_NOT_FOUND', { job: id });
    return found.runId;
  }

  /** False when the job waits for no time. */
  async function askSchedule(
    request: FastifyRequest,
    { id: name, shard, dagId, schedule }: JobRow,
    wish: { readonly kind: 'DeleteSchedule' } | { readonly kind: 'SetSchedulePaused'; readonly paused: boolean },
  ): Promise<boolean> {
    if (schedule === null) return false;
    const { tenantId, actor } = callerOf(request);
    const routed = await main.command({ ...wish, shard, dagId, tenantId, actor, name }, parts.leftMs(request));
    // It has begun meanwhile.
    if (routed.status === 'answered' && !routed.answer.ok && routed.answer.code === 'SCHEDULE_NOT_FOUND') return false;
    answerOf(routed, 'done', { job: name });
    return true;
  }
}

function shownOf(row: JobRow, request: JobRequest): JobView {
  const view = jobView(row);
  if (view === null) throw new SignalboxError('JOB_NOT_FOUND', { job: request.params.id });
  return view;
}

function idOf({ params }: JobRequest): string {
  const parsed = runIdSchema.safeParse(params.id);
  if (!parsed.success) throw new SignalboxError('JOB_NOT_FOUND', { job: params.id });
  return parsed.data.toLowerCase();
}

/** Null for a row without a run or schedule: it is no job. */
function stateOf({ schedule, run, isCancelled }: JobRow): JobView['state'] | null {
  if (schedule !== null) return schedule.paused ? 'paused' : 'scheduled';
  if (run !== null) {
    if (run.phase === 'ended') return run.outcome as JobView['state'];
    return run.admitted ? 'running' : 'queued';
  }
  return isCancelled ? 'cancelled' : null;
}

function jobView(row: JobRow): JobView | null {
  const state = stateOf(row);
  if (state === null) return null;
  const { id, schedule, recurring } = row;
  const next = schedule === null ? null : nextWindowOf({ dagId: row.dagId, name: id, ...schedule });
  return {
    id,
    state,
    what: row.what,
    name: row.name,
    tags: [...row.tags],
    owner: row.owner,
    recurring,
    fires: recurring && schedule !== null ? describeTiming(schedule.spec) : null,
    nextAt: toIsoOrNull(next),
    run: row.run === null ? null : id,
    fired: recurring ? (schedule?.fired ?? 0) : null,
    dag: row.dagName,
    createdAt: toIso(row.createdAt),
    createdBy: row.createdBy,
  };
}
