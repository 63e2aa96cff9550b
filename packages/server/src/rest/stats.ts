/** How often runs end, how, and after how long. Reads sums, never runs. */
import type { Instant } from '@signalbox/engine';
import {
  type DagStats,
  dagStatsQuerySchema,
  parseOr,
  SignalboxError,
  type Stats,
  type StatsQuery,
  statsQuerySchema,
} from '@signalbox/protocol';
import { isKnownZone, zoneData } from '@signalbox/protocol/zones';
import type { EndedInHour, EndedOfDag } from '@signalbox/store';
import type { FastifyInstance } from 'fastify';
import { toIso } from '../iso-instants.ts';
import { systemClock } from '../ports/clock.ts';
import { sumsOf } from './ended-sums.ts';
import { badRequest, fromDatabase } from './errors.ts';
import { callerOf } from './guards.ts';
import type { RestParts } from './rest-parts.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

export function statsRoutes(app: FastifyInstance, { queries }: RestParts): void {
  app.get('/v1/stats', async (request) => {
    const { tenantId } = callerOf(request);
    const query = parseOr(statsQuerySchema, request.query, 'BAD_REQUEST');
    const steps = stepsOf(query, systemClock.wall());
    const name = query.dag;
    const dag = name === undefined ? null : await fromDatabase(() => queries.findDag(tenantId, name), request.log);
    if (name !== undefined && dag === null) throw new SignalboxError('DAG_NOT_FOUND', { dag: name });
    const fromHour = steps[0]?.fromHour ?? 0;
    const ended = await fromDatabase(() => queries.endedByHour(tenantId, { dag, fromHour }), request.log);
    return statsAnswer(steps, ended);
  });

  app.get('/v1/stats/dags', async (request) => {
    const { tenantId } = callerOf(request);
    const { days, dag } = parseOr(dagStatsQuerySchema, request.query, 'BAD_REQUEST');
    const fromHour = Math.floor((systemClock.wall() - days * DAY_MS) / HOUR_MS) + 1;
    const names = dag === undefined ? null : [dag].flat();
    const ended = await fromDatabase(() => queries.endedByDag(tenantId, { fromHour, names }), request.log);
    const byDag = new Map<string, EndedOfDag[]>();
    for (const one of ended) byDag.set(one.dagName, [...(byDag.get(one.dagName) ?? []), one]);
    const items = [...byDag].map(([dag, list]) => ({ dag, ...sumsOf(list) }));
    return { items, cursor: null } satisfies DagStats;
  });
}

interface Step {
  readonly from: string;
  /** Its first hour since 1970; the next step's first hour is its end. */
  readonly fromHour: number;
}

/** Oldest first; the last one is the current hour or day. */
export function stepsOf({ by, steps, zone }: Pick<StatsQuery, 'by' | 'steps' | 'zone'>, now: Instant): Step[] {
  if (by === 'hour') {
    const last = Math.floor(now / HOUR_MS);
    return Array.from({ length: steps }, (_, at) => {
      const fromHour = last - steps + 1 + at;
      return { from: toIso(fromHour * HOUR_MS), fromHour };
    });
  }
  const offsetAt = offsetsOf(zone, (now - (steps + 2) * DAY_MS) as Instant, now);
  const today = Math.floor((now + offsetAt(now)) / DAY_MS);
  return Array.from({ length: steps }, (_, at) => {
    const day = today - steps + 1 + at;
    const midnight = day * DAY_MS;
    // The offset at that wall time: asked twice, because the first answer may be that of the other side of a clock change.
    const near = midnight - offsetAt(midnight);
    const begins = midnight - offsetAt(near);
    return { from: toIso(midnight).slice(0, 10), fromHour: Math.ceil(begins / HOUR_MS) };
  });
}

function offsetsOf(zone: string, from: Instant, to: Instant): (at: number) => number {
  if (!isKnownZone(zone)) throw badRequest('zone', 'must be an IANA time zone, such as Europe/Berlin');
  const { initialOffsetMs, transitions } = zoneData(zone, from, to);
  return (at) => transitions.findLast(({ atMs }) => atMs <= at)?.offsetMs ?? initialOffsetMs;
}

function statsAnswer(steps: readonly Step[], ended: readonly EndedInHour[]): Stats {
  const byStep = new Map<number, EndedInHour[]>(steps.map((_, at) => [at, []]));
  for (const one of ended) byStep.get(steps.findLastIndex(({ fromHour }) => fromHour <= one.hour))?.push(one);
  return {
    steps: steps.map(({ from }, at) => ({ from, ...sumsOf(byStep.get(at) ?? []) })),
    total: sumsOf(ended),
  };
}
