/** What users' functions do, drawn anew for each attempt: how long they take, how they end, whether they listen. */
import { bitsOf, type ClaimRef, type ReportedOutcome, type Usage } from '@signalbox/engine';
import type { Assignment, WorkerReport, WorkerRequest } from '@signalbox/host';
import { addingOf, tasksToAdd } from './adding.ts';
import type { Chance } from './chance.ts';
import type { SimulatedWork } from './simulated-work.ts';

export interface Behaviour {
  readonly durationMs: number;
  readonly end: 'returns' | 'throws' | 'throws for good' | 'hangs' | 'kills its worker';
  /** How long it takes to stop when told; null when it does not listen. */
  readonly stopsInMs: number | null;
}

interface Profile {
  readonly meanMs: number;
  readonly fails: number;
  readonly permanent: number;
  readonly hangs: number;
  readonly kills: number;
}

/** By the name of the handler. */
const PROFILES: Readonly<Record<string, Profile>> = {
  quick: { meanMs: 20, fails: 0, permanent: 0, hangs: 0, kills: 0 },
  steady: { meanMs: 800, fails: 0.05, permanent: 0, hangs: 0, kills: 0 },
  long: { meanMs: 7_000, fails: 0.05, permanent: 0, hangs: 0, kills: 0 },
  flaky: { meanMs: 300, fails: 0.5, permanent: 0.05, hangs: 0.05, kills: 0 },
  /** Leans on something that is down at times, for all who do. */
  dependent: { meanMs: 100, fails: 0, permanent: 0, hangs: 0, kills: 0 },
  /** Items of one map: most are quick, some never end. */
  uneven: { meanMs: 300, fails: 0.08, permanent: 0.02, hangs: 0.15, kills: 0.02 },
  deadly: { meanMs: 200, fails: 0.1, permanent: 0, hangs: 0, kills: 0.6 },
};

export const HANDLERS = Object.keys(PROFILES);

/** What `dependent` leans on: up and down in turns, and up for good before a history ends. */
function isDown(mono: number): boolean {
  return mono < 40_000 && Math.floor(mono / 7_000) % 2 === 1;
}

/** The same cause has the same words, but for what varies. */
export function errorOf({ handler, claim }: Assignment): string {
  return `${handler}: row ${claim.runId} went wrong`;
}

export function behave(chance: Chance, { handler }: Assignment, mono: number): Behaviour {
  const { meanMs, fails, permanent, hangs, kills } = PROFILES[handler] ?? PROFILES['quick']!;
  const draw = chance.next();
  const stopsInMs = chance.happens(0.8) ? chance.between(1, 300) : null;
  const durationMs = chance.wait(meanMs);
  if (handler === 'dependent' && isDown(mono)) return { durationMs, end: 'throws', stopsInMs };
  let sum = fails;
  if (draw < sum) return { durationMs, end: 'throws', stopsInMs };
  if (draw < (sum += permanent)) return { durationMs, end: 'throws for good', stopsInMs };
  if (draw < (sum += hangs)) return { durationMs, end: 'hangs', stopsInMs };
  if (draw < sum + kills) return { durationMs, end: 'kills its worker', stopsInMs };
  return { durationMs, end: 'returns', stopsInMs };
}

export function outcomeOf(end: Behaviour['end']): ReportedOutcome {
  return end === 'returns' ? 'succeeded' : end === 'throws for good' ? 'permanent' : 'transient';
}

/** What else is said of a failure that may pass: the same for the same attempt, so that it can be told from outside. */
export function failureOf(claim: ClaimRef): Partial<WorkerReport> & Pick<WorkerReport, 'outcome'> {
  const draw = bitsOf(25, claim.runId, claim.taskNo, claim.attemptNo) % 16;
  if (draw === 0) return { outcome: 'transient', code: 'http:429', retryAfterMs: 2_500 };
  if (draw === 1) return { outcome: 'resource', code: 'exit:137', memoryBytes: 1_700 };
  if (draw === 2) return { outcome: 'resource' };
  if (draw === 3) return { outcome: 'timeout', code: 'exit:124' };
  if (draw === 4) return { outcome: 'stuck' };
  return { outcome: 'transient', code: draw < 10 ? 'exit:1' : null };
}

/** What an attempt used: nothing is known of some, and the same of the same attempt. */
export function usedOf({ runId, taskNo, fence }: Pick<ClaimRef, 'runId' | 'taskNo' | 'fence'>): Usage | null {
  const draw = bitsOf(28, runId, taskNo, fence);
  if (draw % 4 === 0) return null;
  return { cpuMs: draw % 5 === 0 ? null : draw % 10_000, peakBytes: draw % 7 === 0 ? null : 1 + (draw % 1_000_000) };
}

/** What a task leaves behind names the attempt that made it; some choose a way, and some let nothing pass. */
export function outputOf({ claim, run, work }: Pick<Assignment, 'claim' | 'run' | 'work'>): string {
  const draw = bitsOf(24, claim.runId, claim.taskNo, claim.attemptNo);
  const role = work === '' ? {} : (JSON.parse(work) as SimulatedWork);
  if (role.chooses !== undefined) return JSON.stringify(role.chooses.filter((_, i) => (draw >> (i + 2)) % 2 === 0));
  if (role.stops === true && draw % 4 === 0) return 'false';
  const by = `${run} task ${claim.taskNo} attempt ${claim.attemptNo} fence ${claim.fence}`;
  return JSON.stringify({ by, n: draw % 3, items: Array.from({ length: (draw >> 4) % 4 }, (_, i) => i) });
}

/**
 * Few functions save what they have done so far, ask whether the task is still theirs, or for more time; some do so long after they
 * were given up. What is saved tells who saved it and how often before.
 */
export function asksOf(
  chance: Chance,
  assignment: Assignment,
  durationMs: number,
): readonly { readonly atMs: number; readonly request: WorkerRequest['request'] }[] {
  const { claim } = assignment;
  const adding = addingOf(assignment);
  if (adding !== undefined) {
    // Most say all before they are over; some stop early, and some go on when nobody listens any more.
    return Array.from({ length: chance.int(chance.happens(0.15) ? 0 : 1, 3) }, (_, call) => ({
      atMs: chance.wait(durationMs * (chance.happens(0.15) ? 2 : 0.15)),
      request: { kind: 'add', tasks: tasksToAdd(assignment, adding, call % 2) } as const,
    }));
  }
  const draw = bitsOf(25, claim.runId, claim.taskNo);
  if (draw % 5 !== 0) return [];
  return Array.from({ length: chance.int(1, 4) }, (_, i) => ({
    atMs: chance.wait(durationMs * (chance.happens(0.2) ? 3 : 0.6)),
    request: chance.happens(0.3)
      ? ({ kind: 'assert' } as const)
      : chance.happens(0.3)
        ? ({ kind: 'extend', byMs: chance.int(100, 8_000) } as const)
        : ({ kind: 'checkpoint', value: JSON.stringify({ by: claim.fence, i }) } as const),
  }));
}
