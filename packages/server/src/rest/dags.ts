/** Dags: deployed, shown, their schedules held back and let go again. */
import type { DagSpec, DeployDag, Instant } from '@signalbox/engine';
import {
  contentHash,
  type DagView as DagAnswer,
  type DagPage,
  type Deployed,
  listDagsSchema,
  listWindowsSchema,
  nameSchema,
  parseOr,
  type SchedulePaused,
  SignalboxError,
  type TaskSpecView,
  toDagSpec,
} from '@signalbox/protocol';
import type { DagView } from '@signalbox/store';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { RestParts } from './app.ts';
import { firstShard } from './dag-lookup.ts';
import { answerOf, badRequest, fromDatabase } from './errors.ts';
import { admins, callerOf } from './guards.ts';
import { nextWindowOf } from './next-window.ts';
import { iso } from './views.ts';

type DagRequest = FastifyRequest<{ Params: { name: string } }>;

const DEPLOY_BYTES = 8 * 1024 * 1024;

export function dagRoutes(app: FastifyInstance, parts: RestParts): void {
  const { queries, main, dags } = parts;

  app.put('/v1/dags/:name', { bodyLimit: DEPLOY_BYTES }, async (request: DagRequest) => {
    const { tenantId, tenant, actor } = callerOf(request, admins('deploy dags'));
    const { name, spec } = toDagSpec(request.body);
    if (name !== request.params.name) throw badRequest('name', 'must be the name in the path');
    const hash = contentHash(spec);
    const place = await fromDatabase(() => dags.find(tenantId, name), request.log);
    const shard = place?.shard ?? firstShard(tenantId, name);
    const command: DeployDag = { kind: 'DeployDag', shard, tenantId, tenant, name, spec: spec as DagSpec, hash, actor };
    const answer = answerOf(await main.command(command, parts.leftMs(request)), 'deployed', { dag: name });
    dags.keep(tenantId, name, { shard, dagId: answer.dagId });
    return { name, version: answer.versionNo, hash, changed: answer.changed } satisfies Deployed;
  });

  app.get('/v1/dags', async (request) => {
    const { tenantId } = callerOf(request, admins('list dags'));
    const { cursor, limit, retired } = parseOr(listDagsSchema, request.query, 'BAD_REQUEST');
    const list = { after: cursor ?? null, limit, retired: retired === 'true' };
    const found = await fromDatabase(() => queries.listDags(tenantId, list), request.log);
    const items = found.map(dagAnswer);
    return { items, cursor: found.length < limit ? null : (found.at(-1)?.name ?? null) } satisfies DagPage;
  });

  app.get('/v1/dags/:name', async (request: DagRequest) => {
    const { tenantId } = callerOf(request, admins('read dags'));
    const dag = await fromDatabase(() => queries.findDag(tenantId, nameOf(request)), request.log);
    if (dag === null) throw new SignalboxError('DAG_NOT_FOUND', { dag: request.params.name });
    return { ...dagAnswer(dag), tasks: tasksOf(dag.spec) };
  });

  app.get('/v1/dags/:name/windows', async (request: DagRequest) => {
    const { tenantId } = callerOf(request, admins('read schedules'));
    const dagName = nameOf(request);
    const { cursor, limit } = parseOr(listWindowsSchema, request.query, 'BAD_REQUEST');
    const dag = await fromDatabase(() => queries.findDag(tenantId, dagName), request.log);
    if (dag === null) throw new SignalboxError('DAG_NOT_FOUND', { dag: dagName });
    const before = cursor === undefined ? null : (Number(cursor) as Instant);
    const windows = await fromDatabase(() => queries.listWindows(tenantId, { dagName, before, limit }), request.log);
    const items = windows.map((window) => ({
      firesAt: iso(window.firesAt),
      untilAt: iso(window.untilAt),
      wallTime: window.wallTime,
      count: window.count,
      skipped: window.skipped,
      run: window.runUid,
      decidedAt: iso(window.decidedAt),
    }));
    const last = windows.at(-1);
    return { items, cursor: windows.length < limit || last === undefined ? null : String(last.firesAt) };
  });

  for (const [verb, paused] of [['pause', true] as const, ['resume', false] as const]) {
    app.post(`/v1/dags/:name/schedule/${verb}`, async (request: DagRequest) => {
      const { tenantId, actor } = callerOf(request, admins(`${verb} schedules`));
      const name = nameOf(request);
      const place = await fromDatabase(() => dags.find(tenantId, name), request.log);
      if (place === null) throw new SignalboxError('DAG_NOT_FOUND', { dag: name });
      const command = { kind: 'SetSchedulePaused', ...place, tenantId, paused, actor } as const;
      answerOf(await main.command(command, parts.leftMs(request)), 'done', { dag: name });
      return { name, paused } satisfies SchedulePaused;
    });
  }
}

function nameOf(request: DagRequest): string {
  const parsed = nameSchema.safeParse(request.params.name);
  // What can be no name is the name of no dag.
  if (!parsed.success) throw new SignalboxError('DAG_NOT_FOUND', { dag: request.params.name });
  return parsed.data;
}

function dagAnswer(dag: DagView): DagAnswer {
  const { schedule } = dag;
  return {
    name: dag.name,
    version: dag.versionNo,
    hash: dag.hash,
    priority: dag.priority,
    maxActiveRuns: dag.maxActiveRuns,
    maxActiveTasks: dag.maxActiveTasks,
    taskCount: dag.taskCount,
    schedule:
      schedule === null
        ? null
        : { ...schedule.spec, paused: schedule.paused, nextAt: iso(nextWindowOf(dag.dagId, schedule)) },
    description: dag.description,
    event: dag.event,
    bundle: dag.bundle,
    deployedAt: new Date(dag.deployedAt).toISOString(),
    retiredAt: iso(dag.retiredAt),
  };
}

function tasksOf(spec: DagSpec): TaskSpecView[] {
  return spec.tasks.map((task) => ({
    name: task.name,
    kind: kindOf(task.work),
    handler: task.handler === '' ? null : task.handler,
    queue: task.queue,
    needs: task.needs.map((no) => spec.tasks[no]?.name ?? ''),
    retries: task.retry,
    timeoutMs: task.timeoutMs,
    work: (task.work as TaskSpecView['work'] | undefined) ?? null,
  }));
}

function kindOf(work: unknown): TaskSpecView['kind'] {
  return (work as { readonly kind?: TaskSpecView['kind'] } | undefined)?.kind ?? 'handler';
}
