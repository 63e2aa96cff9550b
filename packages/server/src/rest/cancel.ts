/** Cancels a run, or many by a filter, or shows what cancelling would do. */
import type { Command } from '@signalbox/engine';
import {
  type Cancelled,
  type CancelledRuns,
  type CancelRuns,
  cancelRunsSchema,
  cancelSchema,
  parseOr,
  SignalboxError,
  type Touched,
} from '@signalbox/protocol';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { cancelDelayedRun } from './delayed-runs.ts';
import { answerOf, fromDatabase } from './errors.ts';
import { callerOf } from './guards.ts';
import { findRun, touch } from './manual.ts';
import { once } from './once.ts';
import type { RestParts } from './rest-parts.ts';
import { idOf, type RunRequest } from './runs.ts';
import { filteredRuns, tryCommand } from './runs-by-filter.ts';
import { stateOf } from './views.ts';

export function cancelRoutes(app: FastifyInstance, parts: RestParts): void {
  const { queries, main } = parts;

  app.post('/v1/runs/:id/cancel', (request: RunRequest) => {
    const { tenantId, actor } = callerOf(request);
    const id = idOf(request);
    const { force = false, graceMs, dryRun = false } = parseOr(cancelSchema, request.body ?? {}, 'BAD_REQUEST');
    const how = { ...(force ? { force } : {}), ...(graceMs === undefined ? {} : { graceMs }) };
    const body = { force, graceMs, ...(dryRun ? { dryRun } : {}) };
    return once<Cancelled | Touched>(request, parts, {
      target: id,
      ...(force || graceMs !== undefined || dryRun ? { body } : {}),
      make: async (_key, again) => {
        if (dryRun) {
          const run = await findRun(request, parts, id);
          return touch(request, parts, run, { kind: 'CancelRun', ...how, dryRun }, false);
        }
        let found = await fromDatabase(() => queries.resolveRun(tenantId, id), request.log);
        if (found === null) {
          const cancelled = await cancelDelayedRun(request, parts, id);
          if (cancelled !== null) return cancelled;
          // It may have begun between the two looks.
          found = await fromDatabase(() => queries.resolveRun(tenantId, id), request.log);
        }
        // An earlier request with this key was cut off after it had cancelled a delayed run.
        if (found === null && again) return { id, state: 'ended', outcome: 'cancelled' };
        if (found === null) throw new SignalboxError('RUN_NOT_FOUND', { run: id });
        const command = { kind: 'CancelRun', tenantId, runId: found.runId, ...how, actor } as const;
        const { outcome } = answerOf(
          await main.command(command as Parameters<typeof main.command>[0], parts.leftMs(request)),
          'cancelled',
          { run: id },
        );
        const run = await fromDatabase(() => queries.getRun(tenantId, id), request.log);
        return { id, state: run === null ? 'closing' : stateOf(run), outcome };
      },
    });
  });

  app.post('/v1/runs/cancel', (request) => {
    const body = parseOr(cancelRunsSchema, request.body ?? {}, 'BAD_REQUEST');
    return once<CancelledRuns>(request, parts, { target: 'runs', body, make: () => cancelRuns(request, parts, body) });
  });
}

/** A page of runs; each by itself: what one is refused says nothing of the others. Doing it twice is doing it once. */
async function cancelRuns(request: FastifyRequest, parts: RestParts, filter: CancelRuns): Promise<CancelledRuns> {
  const { tenantId, actor } = callerOf(request);
  const { force = false, graceMs, dryRun = false } = filter;
  const { runs, cursor } = await filteredRuns(request, parts, filter);
  const items: CancelledRuns['items'] = [];
  for (const { run, state } of runs) {
    const how = { ...(force ? { force } : {}), ...(graceMs === undefined ? {} : { graceMs }) };
    const command = { kind: 'CancelRun', tenantId, runId: run.runId, ...how, actor } as Command;
    const refused = dryRun ? null : await tryCommand(request, parts, command, 'cancelled');
    items.push({ run: run.uid, dag: run.dagName, state, refused });
  }
  return { dryRun, items, cursor };
}
