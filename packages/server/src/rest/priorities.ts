/** Changes the priority of a run that waits or runs, or of many by a filter. `critical` needs its permission, as everywhere. */
import type { Command } from '@signalbox/engine';
import {
  type PrioritiesSet,
  type PrioritySet,
  parseOr,
  type SetPriorities,
  SignalboxError,
  setPrioritiesSchema,
  setPrioritySchema,
} from '@signalbox/protocol';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { toIso } from '../iso-instants.ts';
import { guardCritical, refuseCritical } from './critical.ts';
import { answerOf, fromDatabase } from './errors.ts';
import { callerOf } from './guards.ts';
import { once } from './once.ts';
import type { RestParts } from './rest-parts.ts';
import { idOf, type RunRequest } from './runs.ts';
import { filteredRuns, tryCommand } from './runs-by-filter.ts';

export function priorityRoutes(app: FastifyInstance, parts: RestParts): void {
  app.post('/v1/runs/:id/priority', (request: RunRequest) => {
    const id = idOf(request);
    const body = parseOr(setPrioritySchema, request.body ?? {}, 'BAD_REQUEST');
    return once<PrioritySet>(request, parts, { target: id, body, make: () => setPriority(request, parts, id, body) });
  });

  app.post('/v1/runs/priority', (request) => {
    const body = parseOr(setPrioritiesSchema, request.body ?? {}, 'BAD_REQUEST');
    return once<PrioritiesSet>(request, parts, {
      target: 'runs',
      body,
      make: () => setPriorities(request, parts, body),
    });
  });
}

async function setPriority(
  request: FastifyRequest,
  parts: RestParts,
  id: string,
  { priority }: ReturnType<typeof setPrioritySchema.parse>,
): Promise<PrioritySet> {
  const { tenantId, actor } = callerOf(request);
  const run = await fromDatabase(() => parts.queries.getRun(tenantId, id, () => []), request.log);
  if (run === null) {
    const delayed = await fromDatabase(() => parts.queries.findDelayedRun(tenantId, id), request.log);
    if (delayed !== null) throw new SignalboxError('RUN_SCHEDULED', { run: id, at: toIso(delayed.at) });
    throw new SignalboxError('RUN_NOT_FOUND', { run: id });
  }
  await guardCritical(request, parts, { isCritical: priority === 'critical', target: run.dagName });
  const command = { kind: 'SetPriority', tenantId, runId: run.runId, priority, actor } as Command;
  answerOf(await parts.main.command(command, parts.leftMs(request)), 'done', { run: id });
  return { run: id, before: run.priority, priority };
}

/** A page of runs; each by itself: what one is refused says nothing of the others. Doing it twice is doing it once. */
async function setPriorities(request: FastifyRequest, parts: RestParts, filter: SetPriorities): Promise<PrioritiesSet> {
  const { tenantId, actor } = callerOf(request);
  const { to: priority, dryRun = false, dag, tag } = filter;
  if (priority === 'critical') refuseCritical(request);
  const { runs, cursor } = await filteredRuns(request, parts, filter);
  const others = runs.filter(({ run }) => run.priority !== priority);
  const isCritical = priority === 'critical' && !dryRun && others.length > 0;
  await guardCritical(request, parts, { isCritical, target: dag ?? `tag ${tag}` });
  const items: PrioritiesSet['items'] = [];
  for (const { run, state } of others) {
    const command = { kind: 'SetPriority', tenantId, runId: run.runId, priority, actor } as Command;
    const refused = dryRun ? null : await tryCommand(request, parts, command, 'done');
    items.push({ run: run.uid, dag: run.dagName, state, before: run.priority, refused });
  }
  return { dryRun, items, cursor };
}
