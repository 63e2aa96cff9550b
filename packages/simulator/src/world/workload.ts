/** What users of this history have: dags of a few tasks, with limits, retries, timeouts and schedules, drawn from the seed. */
import type {
  DagSpec,
  Instant,
  Priority,
  QueueName,
  RetryPolicy,
  ScheduleSpec,
  ShardNo,
  TaskSpec,
  TenantId,
} from '@signalbox/engine';
import { OVERLAP_POLICIES, PRIORITIES } from '@signalbox/engine';
import { planAdding } from './adding.ts';
import { planAssets } from './assets.ts';
import { planCalls } from './calls.ts';
import type { Chance } from './chance.ts';
import { planClosing } from './closing.ts';
import { planDeadlines } from './deadlines.ts';
import { planExpect } from './expect.ts';
import { planGraph } from './graph.ts';
import { planMaps } from './maps.ts';
import { planPast } from './past.ts';
import { planRequires } from './requires.ts';
import { planSpeculative } from './speculative.ts';
import { MOVING } from './zone.ts';

export interface PlannedDag {
  readonly name: string;
  readonly shard: ShardNo;
  readonly tenantId: TenantId;
  /** Versions in the order in which they are deployed. */
  readonly versions: readonly DagSpec[];
}

const FIRST = 1 as TenantId;
export const QUEUES = ['default', 'gpu'] as readonly string[] as readonly QueueName[];

export function planDags(chance: Chance, count: number, tenants: readonly TenantId[] = [FIRST]): PlannedDag[] {
  const owners = chance.fork('owners');
  const tenantIds = Array.from({ length: count }, () => owners.pick(tenants));
  const shards = Array.from({ length: chance.int(1, 4) }, () => chance.int(0, 63) as ShardNo);
  return Array.from({ length: count }, (_, i) => {
    // Each calls only those before it: nobody waits for itself.
    const callable = Array.from({ length: i }, (_, no) => `dag${no}`).filter((_, no) => tenantIds[no] === tenantIds[i]);
    const first = planCalls(chance, planSpec(chance), callable);
    const versions = [first];
    for (let more = chance.int(0, 2); more > 0; more--) {
      versions.push(planCalls(chance, alter(chance, versions.at(-1) ?? first), callable));
    }
    // Last of all, for each version anew: what closes a run calls no other.
    const closing = chance.fork('what closes');
    const [assets, expect] = [chance.fork('assets'), chance.fork('expect')];
    const closed = versions.map((spec) => planExpect(expect, planAssets(assets, planClosing(closing, spec), i)));
    return { name: `dag${i}`, shard: chance.pick(shards), tenantId: tenantIds[i]!, versions: closed };
  });
}

function planSpec(chance: Chance): DagSpec {
  const limits = chance.fork('limits');
  const plain = planTasks(chance);
  const spec = limits.happens(0.4) ? planDeadlines(limits, plain) : plain;
  const maps = chance.fork('maps');
  const mapped = maps.happens(0.35) ? planMaps(maps, spec) : spec;
  // The name of a fork is part of the history of every seed: it stays.
  const slow = chance.fork('stragglers');
  const uneven = slow.happens(0.5) ? planSpeculative(slow, mapped) : mapped;
  const adding = chance.fork('adding');
  const grown = adding.happens(0.3) ? planAdding(adding, uneven) : uneven;
  const scheduled = planPast(chance.fork('past'), planSchedules(chance.fork('schedules'), grown));
  return planRequires(chance.fork('requires'), scheduled);
}

/** Some dags have more than one schedule, whose names come and go with their versions. */
function planSchedules(chance: Chance, spec: DagSpec): DagSpec {
  if (spec.schedule === null || chance.happens(0.6)) return spec;
  const names = ['second', 'third'].filter(() => chance.happens(0.7));
  return { ...spec, schedules: names.map((name) => ({ name, spec: planSchedule(chance) })) };
}

function planTasks(chance: Chance): DagSpec {
  const taskCount = chance.int(1, 6);
  const tasks = Array.from({ length: taskCount }, (_, no) => planTask(chance, no));
  return {
    ...(chance.happens(0.5) ? planGraph(chance, tasks) : { tasks }),
    priority: planPriority(chance),
    maxActiveRuns: chance.happens(0.4) ? chance.int(1, 3) : null,
    maxActiveTasks: chance.happens(0.4) ? chance.int(1, 3) : null,
    schedule: chance.happens(0.4) ? planSchedule(chance) : null,
    ...(chance.happens(0.2) && { on: { event: 'arrived' } }),
    ...(chance.happens(0.15) && { retryRun: { maxTimes: chance.int(1, 2), delayMs: chance.pick([0, 500, 3_000]) } }),
    ...planBreaker(chance),
  };
}

/** Few dags have one of their own, fewer want none at all. */
function planBreaker(chance: Chance): Pick<DagSpec, 'breaker'> {
  if (chance.happens(0.1)) return { breaker: null };
  if (!chance.happens(0.25)) return {};
  return { breaker: { share: 0.5, windowMs: 20_000, minimum: 4, pauseMs: 1_000, maxPauseMs: 4_000 } };
}

export function planPriority(chance: Chance): Priority {
  return chance.pick(PRIORITIES);
}

export function planTask(chance: Chance, no: number): TaskSpec {
  const needs = Array.from({ length: no }, (_, i) => i).filter(() => chance.happens(0.4));
  const draw = chance.next();
  const handler =
    draw < 0.35
      ? 'quick'
      : draw < 0.5
        ? 'dependent'
        : draw < 0.7
          ? 'steady'
          : draw < 0.85
            ? 'flaky'
            : draw < 0.97
              ? 'long'
              : 'deadly';
  // Whoever may hang has a timeout; otherwise nothing would ever end it.
  const mayHang = handler === 'flaky';
  return {
    name: `t${no}`,
    handler,
    queue: chance.happens(0.85) ? QUEUES[0]! : QUEUES[1]!,
    needs,
    retry: planRetry(chance),
    ...(chance.happens(0.2) && { poison: { count: 2, withinMs: 60_000, underMs: 300 } }),
    timeoutMs: mayHang || chance.happens(0.15) ? chance.int(500, 12_000) : null,
  };
}

function planRetry(chance: Chance): RetryPolicy {
  const minMs = chance.int(0, 200);
  return {
    maxAttempts: chance.int(1, 4),
    minMs,
    baseMs: chance.int(0, 1_000),
    factor: chance.pick([1, 2, 3]),
    maxMs: minMs + chance.int(0, 4_000),
    maxLost: chance.int(1, 4),
  };
}

/** Expressions whose windows are every so many seconds from the full minute on: easy to tell without the code under test. */
export const PERIODS_MS: Readonly<Record<string, number>> = {
  '*/5 * * * * *': 5_000,
  '*/15 * * * * *': 15_000,
  '*/30 * * * * *': 30_000,
  '* * * * *': 60_000,
};

export function planSchedule(chance: Chance): ScheduleSpec {
  return planTiming(chance.fork('timing'), planCronSchedule(chance));
}

/** Some fire by an interval, some late by jitter, some a few times only. */
function planTiming(chance: Chance, spec: ScheduleSpec): ScheduleSpec {
  const { cron: _cron, ...rest } = spec;
  const everyMs = chance.pick([4_000, 7_000, 20_000]);
  const interval = {
    ...rest,
    everyMs,
    ...(chance.happens(0.5) && { phaseMs: chance.int(0, everyMs - 1) }),
    ...(chance.happens(0.5) && { anchor: chance.int(0, 1_000_000_000) as Instant }),
  };
  return {
    ...(chance.happens(0.25) ? interval : spec),
    ...(chance.happens(0.15) && { jitterMs: chance.int(1, 8_000) }),
    ...(chance.happens(0.15) && { limit: chance.int(1, 6) }),
    ...(chance.happens(0.2) && { zone: MOVING, overlap: chance.pick(['first', 'second', 'both'] as const) }),
  };
}

function planCronSchedule(chance: Chance): ScheduleSpec {
  return {
    cron: chance.pick(Object.keys(PERIODS_MS)),
    zone: 'UTC',
    gap: 'skip',
    missed: chance.pick(['skip', 'latest', 'all', 'most_recent', 'catchup'] as const),
    missedLimit: chance.int(1, 4),
    ...(chance.happens(0.2) && { missedMaxAgeMs: chance.int(5_000, 120_000) }),
    ...(chance.happens(0.15) && { startWithinMs: chance.int(2_000, 60_000) }),
    ...(chance.happens(0.4) && { ifRunning: chance.pick(OVERLAP_POLICIES) }),
    ...(chance.happens(0.15) && { runNow: true as const }),
    ...(chance.happens(0.2) && { priority: planPriority(chance) }),
  };
}

function alter(chance: Chance, before: DagSpec): DagSpec {
  const draw = chance.next();
  if (draw < 0.3) return { ...before, maxActiveTasks: chance.happens(0.3) ? null : chance.int(1, 4) };
  if (draw < 0.5) return { ...before, maxActiveRuns: chance.happens(0.3) ? null : chance.int(1, 4) };
  if (draw < 0.75) {
    const { schedules: _schedules, ...single } = before;
    return planSchedules(chance, { ...single, schedule: chance.happens(0.3) ? null : planSchedule(chance) });
  }
  return planSpec(chance);
}
