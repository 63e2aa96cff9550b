/** Dags: deployed, shown, deleted. */
import { type DagSpec, type DeployDag, type RetireDag, triggersOf, type VersionNo } from '@signalbox/engine';
import {
  contentHash,
  type DagDetails as DagDetailsAnswer,
  type DagLabels,
  type DagNamePage,
  type DagPage,
  type DagRetired,
  type Deployed,
  deployQuerySchema,
  listDagNamesSchema,
  listDagsSchema,
  nameSchema,
  pageQuerySchema,
  parseOr,
  SignalboxError,
  toDagSpec,
  type VersionPage,
  type VersionView,
  warningsOf,
} from '@signalbox/protocol';
import { HIDDEN_DAG_PREFIX } from '@signalbox/store';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { breakerView } from './breakers.ts';
import { guardCritical, usesCritical, withPriority } from './critical.ts';
import { firstShard } from './dag-lookup.ts';
import { concurrencyAnswer, dagAnswer, graphOf, scheduleSettings, triggerAnswer, versionAnswer } from './dag-views.ts';
import { answerOf, badRequest, fromDatabase } from './errors.ts';
import { callerOf } from './guards.ts';
import { once } from './once.ts';
import type { RestParts } from './rest-parts.ts';

/** The dags of jobs are the server's own. */
function refuseHidden(name: string): void {
  if (!name.startsWith(HIDDEN_DAG_PREFIX)) return;
  throw badRequest('name', `must not begin with ${HIDDEN_DAG_PREFIX}: such dags are made for jobs`);
}

export type DagRequest = FastifyRequest<{ Params: { name: string } }>;
type VersionRequest = FastifyRequest<{ Params: { name: string; no: string } }>;

type Filter = Pick<ReturnType<typeof listDagNamesSchema.parse>, 'retired' | 'tag' | 'owner' | 'q' | 'show' | 'hidden'>;

const filterOf = ({ retired, tag, owner, q, show, hidden }: Filter) => ({
  hidden: hidden === 'true',
  retired: retired === 'true',
  tag: tag ?? null,
  owner: owner ?? null,
  words: (q ?? '').split(/\s+/).filter((word) => word !== ''),
  show: show ?? null,
});

const DEPLOY_BYTES = 8 * 1024 * 1024;
/** Shown with one dag. */
const RECENT_RUNS = 25;
const MAX_VERSION = 2_147_483_647;

export function dagRoutes(app: FastifyInstance, parts: RestParts): void {
  const { queries, main, dags } = parts;

  app.put('/v1/dags/:name', { bodyLimit: DEPLOY_BYTES }, async (request: DagRequest) => {
    const { name, spec } = toDagSpec(withPriority(request.body, callerOf(request)));
    if (name !== request.params.name) throw badRequest('name', 'must be the name in the path');
    refuseHidden(name);
    const hash = contentHash(spec);
    const { source } = parseOr(deployQuerySchema, request.query, 'BAD_REQUEST');
    // Beside the hash: the same definition from another folder is the same version.
    await guardCritical(request, parts, { isCritical: usesCritical(spec as DagSpec), target: name });
    const sourced = source === undefined ? (spec as DagSpec) : { ...(spec as DagSpec), source };
    const deployed = await once<Deployed>(request, parts, {
      target: name,
      body: hash,
      make: () => deploy(request, { name, spec: sourced, hash }),
    });
    return { ...deployed, ...warningsOf(request.body) };
  });

  async function deploy(
    request: DagRequest,
    { name, spec, hash }: { name: string; spec: DagSpec; hash: string },
  ): Promise<Deployed> {
    const { tenantId, tenant, actor } = callerOf(request);
    // Touched too: what is named from now on must not be removed as unused in this very moment.
    for (const bundle of [spec.bundle, spec.files]) {
      if (bundle === undefined) continue;
      const isThere = await fromDatabase(() => queries.touchBundle(tenantId, bundle), request.log);
      if (!isThere) throw new SignalboxError('BUNDLE_NOT_FOUND', { bundle });
    }
    const place = await fromDatabase(() => dags.find(tenantId, name), request.log);
    const shard = place?.shard ?? firstShard(tenantId, name);
    const command: DeployDag = { kind: 'DeployDag', shard, tenantId, tenant, name, spec, hash, actor };
    const answer = answerOf(await main.command(command, parts.leftMs(request)), 'deployed', { dag: name });
    dags.keep(tenantId, name, { shard, dagId: answer.dagId });
    return { name, version: answer.versionNo, hash, changed: answer.changed };
  }

  app.delete('/v1/dags/:name', async (request: DagRequest) => {
    const { tenantId, actor } = callerOf(request);
    const name = dagNameOf(request);
    refuseHidden(name);
    return once<DagRetired>(request, parts, {
      target: name,
      make: async () => {
        const place = await fromDatabase(() => dags.find(tenantId, name), request.log);
        if (place === null) throw new SignalboxError('DAG_NOT_FOUND', { dag: name });
        const command: RetireDag = { kind: 'RetireDag', ...place, tenantId, actor };
        answerOf(await main.command(command, parts.leftMs(request)), 'done', { dag: name });
        return { name, retired: true };
      },
    });
  });

  app.get('/v1/dags', async (request) => {
    const { tenantId } = callerOf(request);
    const { cursor, limit, recent, ...filter } = parseOr(listDagsSchema, request.query, 'BAD_REQUEST');
    const list = { after: cursor ?? null, limit, ...filterOf(filter) };
    const found = await fromDatabase(() => queries.listDags(tenantId, list), request.log);
    const last = await fromDatabase(() => queries.lastRuns(tenantId, found, recent), request.log);
    const items = found.map((dag) => dagAnswer(dag, last.get(dag.dagId)));
    return { items, cursor: found.length < limit ? null : (found.at(-1)?.name ?? null) } satisfies DagPage;
  });

  app.get('/v1/dag-names', async (request) => {
    const { tenantId } = callerOf(request);
    const filter = filterOf(parseOr(listDagNamesSchema, request.query, 'BAD_REQUEST'));
    const items = await fromDatabase(() => queries.listDagNames(tenantId, filter), request.log);
    return { items, cursor: null } satisfies DagNamePage;
  });

  app.get('/v1/dag-labels', async (request) => {
    const { tenantId } = callerOf(request);
    const { tags, owners } = await fromDatabase(() => queries.listDagLabels(tenantId), request.log);
    return { tags: [...tags], owners: [...owners] } satisfies DagLabels;
  });

  app.get('/v1/dags/:name', async (request: DagRequest) => {
    const dag = await findDag(request, parts);
    const { tenantId } = callerOf(request);
    const ofDag = { dagName: dag.name, fingerprint: null, taskName: null, reason: null };
    const held = await fromDatabase(() => queries.listBreakers(tenantId, dag.name), request.log);
    const deadLetters = await fromDatabase(() => queries.countDeadLetters(tenantId, ofDag), request.log);
    const state = { breakers: held.map(breakerView), deadLetters: deadLetters[0]?.deadLetters ?? 0 };
    const last = await fromDatabase(() => queries.lastRuns(tenantId, [dag], RECENT_RUNS), request.log);
    return { ...dagAnswer(dag, last.get(dag.dagId)), ...graphOf(dag.spec), ...state } satisfies DagDetailsAnswer;
  });

  app.get('/v1/dags/:name/versions', async (request: DagRequest) => {
    const { tenantId } = callerOf(request);
    const { cursor, limit } = parseOr(pageQuerySchema, request.query, 'BAD_REQUEST');
    const before = cursor === undefined ? null : versionOf(cursor);
    if (cursor !== undefined && before === null) throw badRequest('cursor', 'is not a cursor from a page');
    const dag = await findDag(request, parts);
    const list = { dagName: dag.name, before, limit };
    const found = await fromDatabase(() => queries.listVersions(tenantId, list), request.log);
    const last = found.at(-1);
    const next = found.length < limit || last === undefined ? null : String(last.versionNo);
    return { items: found.map(versionAnswer), cursor: next } satisfies VersionPage;
  });

  app.get('/v1/dags/:name/versions/:no', async (request: VersionRequest) => {
    const { tenantId } = callerOf(request);
    const dag = await findDag(request, parts);
    const versionNo = versionOf(request.params.no);
    const wanted = versionNo === null ? null : { dagName: dag.name, versionNo };
    const found = wanted && (await fromDatabase(() => queries.findVersion(tenantId, wanted), request.log));
    if (found === null) throw new SignalboxError('VERSION_NOT_FOUND', { dag: dag.name, version: request.params.no });
    const { spec } = found;
    return {
      ...versionAnswer(found),
      name: dag.name,
      priority: spec.priority,
      maxActiveRuns: spec.maxActiveRuns,
      maxActiveTasks: spec.maxActiveTasks,
      ...(spec.maxActiveTasksPerRun === undefined ? {} : { maxActiveTasksPerRun: spec.maxActiveTasksPerRun }),
      ...(spec.rate === undefined ? {} : { rate: spec.rate }),
      ...concurrencyAnswer(spec.concurrency),
      schedule: spec.schedule === null ? null : scheduleSettings(spec.schedule),
      description: spec.description ?? null,
      tags: [...(spec.tags ?? [])],
      owner: spec.owner ?? null,
      event: triggersOf(spec)[0]?.type ?? null,
      triggers: triggersOf(spec).map(triggerAnswer),
      bundle: spec.bundle ?? null,
      ...graphOf(spec),
    } satisfies VersionView;
  });
}

/** The dag that the path names, if it is one of the caller's. */
export async function findDag(request: DagRequest, { queries }: RestParts) {
  const { tenantId } = callerOf(request);
  const name = dagNameOf(request);
  const dag = await fromDatabase(() => queries.findDag(tenantId, name), request.log);
  if (dag === null) throw new SignalboxError('DAG_NOT_FOUND', { dag: name });
  return dag;
}

export function dagNameOf(request: DagRequest): string {
  const parsed = nameSchema.safeParse(request.params.name);
  // What can be no name is the name of no dag.
  if (!parsed.success) throw new SignalboxError('DAG_NOT_FOUND', { dag: request.params.name });
  return parsed.data;
}

function versionOf(text: string): VersionNo | null {
  const no = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
  return no >= 1 && no <= MAX_VERSION ? (no as VersionNo) : null;
}
