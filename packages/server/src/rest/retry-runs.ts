/** Retries failed runs by a filter, or shows which those are: their failed tasks run again, and what depends on them. */
import type { TaskSelection } from '@signalbox/engine';
import { parseOr, type RetriedRuns, type RetryRuns, retryRunsSchema, SignalboxError } from '@signalbox/protocol';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { findRun, touch } from './manual.ts';
import { once } from './once.ts';
import type { RestParts } from './rest-parts.ts';
import { failedRuns } from './runs-by-filter.ts';

const FAILED: TaskSelection = { tasks: null, states: ['failed'], downstream: true, upstream: false };

export function retryRunsRoutes(app: FastifyInstance, parts: RestParts): void {
  app.post('/v1/runs/retry', (request) => {
    const body = parseOr(retryRunsSchema, request.body ?? {}, 'BAD_REQUEST');
    const make = (_key: unknown, again: boolean) => retryRuns(request, parts, body, again);
    return once<RetriedRuns>(request, parts, { target: 'runs', body, make });
  });
}

/** A page of runs; each by itself: what one is refused says nothing of the others. A run that is open again has not failed any more. */
async function retryRuns(
  request: FastifyRequest,
  parts: RestParts,
  filter: RetryRuns,
  again: boolean,
): Promise<RetriedRuns> {
  const { dryRun = false } = filter;
  const { runs, cursor } = await failedRuns(request, parts, filter);
  const items: RetriedRuns['items'] = [];
  for (const { uid, dagName } of runs) {
    const known = { run: uid, dag: dagName };
    try {
      const run = await findRun(request, parts, uid);
      const hand = { kind: 'ClearTasks', select: FAILED, force: false, dryRun };
      const { count } = await touch(request, parts, run, hand, again);
      items.push({ ...known, count, refused: null });
    } catch (error) {
      if (!(error instanceof SignalboxError) || error.body().status >= 500) throw error;
      items.push({ ...known, count: 0, refused: error.code });
    }
  }
  return { dryRun, items, cursor };
}
