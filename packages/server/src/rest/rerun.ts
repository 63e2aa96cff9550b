/** Makes a run again as a new run, with the same params and version or with others. */
import { createHash } from 'node:crypto';
import { makeRunUid, type SubmitRuns } from '@signalbox/engine';
import { parseOr, type RerunAnswer, type RerunPreview, rerunSchema, SignalboxError } from '@signalbox/protocol';
import type { FastifyInstance } from 'fastify';
import { randomBits, systemClock } from '../ports/clock.ts';
import { checkerOf } from './checked-items.ts';
import { guardCritical } from './critical.ts';
import { answerOf, fromDatabase } from './errors.ts';
import { callerOf } from './guards.ts';
import { once } from './once.ts';
import type { RestParts } from './rest-parts.ts';
import { idOf, type RunRequest } from './runs.ts';
import { submitTo } from './submit.ts';

export function rerunRoutes(app: FastifyInstance, parts: RestParts): void {
  app.post('/v1/runs/:id/rerun', async (request: RunRequest, reply) => {
    const body = parseOr(rerunSchema, request.body ?? {}, 'BAD_REQUEST');
    const id = idOf(request);
    const answer = await once<RerunAnswer | RerunPreview>(request, parts, {
      target: id,
      body,
      make: (key) => rerun(request, parts, id, body, key),
    });
    return reply.code('dryRun' in answer ? 200 : 201).send(answer);
  });
}

async function rerun(
  request: RunRequest,
  parts: RestParts,
  id: string,
  { version = 'same', params: given, dryRun = false }: ReturnType<typeof rerunSchema.parse>,
  key: string | null,
): Promise<RerunAnswer | RerunPreview> {
  const { tenantId, actor, credential } = callerOf(request);
  const run = await fromDatabase(() => parts.queries.getRun(tenantId, id), request.log);
  if (run === null) throw new SignalboxError('RUN_NOT_FOUND', { run: id });
  const kept = run.hasParams
    ? await fromDatabase(() => parts.queries.getPayload(tenantId, { uid: id, taskNo: null }), request.log)
    : null;
  const params = given === undefined ? kept : JSON.stringify(given);
  const upTo = run.notes.until === undefined ? {} : { until: run.notes.until };
  // Of the run that is made again: the same key for another run is another request.
  const stored = key === null ? null : `rerun:${createHash('sha256').update(`${id} ${key}`).digest('hex')}`;
  const place = await fromDatabase(() => parts.dags.find(tenantId, run.dagName), request.log);
  const dag = await fromDatabase(() => parts.queries.findDag(tenantId, run.dagName), request.log);
  if (dag === null || place === null) throw new SignalboxError('DAG_NOT_FOUND', { dag: run.dagName });
  const isCurrent = version === 'latest' || run.versionNo === dag.versionNo;
  if (dryRun) {
    const { priority } = run;
    const asked = [{ params, priority }];
    const [item] = isCurrent ? (await checkerOf(request, parts, run.dagName, asked)(place)).items : asked;
    const made = { dag: run.dagName, version: isCurrent ? dag.versionNo : run.versionNo, priority };
    return { dryRun, rerunOf: id, ...made, params: item?.params == null ? null : (JSON.parse(item.params) as unknown) };
  }
  await guardCritical(request, parts, { isCritical: run.priority === 'critical', target: run.dagName });
  if (isCurrent) {
    const { priority } = run;
    const one = { name: run.dagName, place, params, key: stored, cause: 'api', priority, ...upTo } as const;
    const { uid } = await submitTo(request, parts, one);
    return { id: uid, rerunOf: id, version: dag.versionNo };
  }
  const command: SubmitRuns = {
    kind: 'SubmitRuns',
    shard: run.shard,
    tenantId,
    dagId: run.dagId,
    uid: makeRunUid(run.shard, systemClock.wall(), randomBits(48), randomBits(26)),
    items: [{ params, priority: run.priority, ...upTo }],
    key: stored === null ? null : { key: stored, bodyHash: `same ${params ?? ''}` },
    mayRepeat: false,
    versionNo: run.versionNo,
    actor,
  };
  const routed = await parts.main.command(command, parts.leftMs(request), credential);
  const { uid } = answerOf(routed, 'submitted', { dag: run.dagName });
  return { id: uid, rerunOf: id, version: run.versionNo };
}
