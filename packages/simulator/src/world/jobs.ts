/**
 * Users that run jobs without a dag. The edge makes a dag of one task of a job's shape, under a name of its own, when the first job
 * of that shape comes; the job is a run of it, at once or later, and a job that recurs is a schedule.
 */
import type { ShardNo, TenantId } from '@signalbox/engine';
import type { Chance } from './chance.ts';
import { type PlannedDag, planSchedule, planTask } from './workload.ts';

export interface JobParts {
  readonly chance: Chance;
  readonly shapes: readonly PlannedDag[];
  isDeployed(shape: PlannedDag): boolean;
  /** Deploys the shape. Two jobs may do that at once. */
  deploy(shape: PlannedDag): void;
  submit(shape: PlannedDag): void;
  recur(shape: PlannedDag, job: RecurringJob): void;
}

export type RecurringJob =
  | { readonly name: string; readonly spec: ReturnType<typeof planSchedule> }
  | { readonly name: string; readonly to: 'paused' | 'resumed' | 'deleted' };

export function planShapes(chance: Chance, tenants: readonly TenantId[]): PlannedDag[] {
  return Array.from({ length: chance.int(1, 3) }, (_, no) => ({
    name: `.job-${no}`,
    shard: chance.int(0, 63) as ShardNo,
    tenantId: chance.pick(tenants),
    versions: [
      {
        tasks: [planTask(chance, 0)],
        priority: 'normal' as const,
        maxActiveRuns: null,
        maxActiveTasks: null,
        schedule: null,
        breaker: null,
      },
    ],
  }));
}

export class SimJobs {
  readonly #parts: JobParts;
  readonly #recurring: { readonly shape: PlannedDag; readonly name: string }[] = [];

  constructor(parts: JobParts) {
    this.#parts = parts;
  }

  useSomething(): void {
    const { chance, shapes } = this.#parts;
    const shape = chance.pick(shapes);
    if (!this.#parts.isDeployed(shape)) return this.#parts.deploy(shape);
    if (chance.happens(0.75)) return this.#parts.submit(shape);
    if (this.#recurring.length === 0 || chance.happens(0.4)) return this.#create(shape);
    const job = chance.pick(this.#recurring);
    this.#parts.recur(job.shape, { name: job.name, to: chance.pick(['paused', 'resumed', 'deleted'] as const) });
  }

  #create(shape: PlannedDag): void {
    const name = `job${this.#recurring.length}`;
    this.#recurring.push({ shape, name });
    this.#parts.recur(shape, { name, spec: planSchedule(this.#parts.chance) });
  }
}
