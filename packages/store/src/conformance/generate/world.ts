/** What the rules see: what has been committed so far, and what a change can be about. */
import type { AttemptNo, Change, DagDeployed, Fence, RunId, ShardNo, TaskNo, WorkerId } from '@signalbox/engine';
import { newWorkerId } from '../changes.ts';
import { Model, type ModelRun } from '../model.ts';
import type { Chance } from './chance.ts';
import { type ChangeKindName, type ChangeNamed, drawChange, type Given } from './draw-change.ts';

export type ModelTask = ModelRun['tasks'][number];

export class World {
  readonly model = new Model();
  readonly chance: Chance;
  readonly shards: readonly ShardNo[];
  readonly newRunId: (shard: ShardNo) => RunId;
  readonly workers: readonly WorkerId[] = [newWorkerId(), newWorkerId(), newWorkerId()];
  /** As last deployed. */
  readonly dags: DagDeployed[] = [];
  /** The highest numbers that speculative attempts of a task had: the row of the task does not show them. */
  readonly #tops = new Map<string, { readonly attemptNo: number; readonly fence: number }>();
  #changes: Change[] = [];

  constructor(chance: Chance, shards: readonly ShardNo[], newRunId: (shard: ShardNo) => RunId) {
    this.chance = chance;
    this.shards = shards;
    this.newRunId = newRunId;
  }

  get changeCount(): number {
    return this.#changes.length;
  }

  /** The changes since the last call. */
  takeChanges(): readonly Change[] {
    const changes = this.#changes;
    this.#changes = [];
    return changes;
  }

  emit<Kind extends ChangeKindName>(kind: Kind, given: Given<Kind>): ChangeNamed<Kind> {
    const change = drawChange(kind, given, this.chance);
    this.model.apply(change);
    this.#changes.push(change);
    return change;
  }

  dag(): DagDeployed {
    return this.chance.one(this.dags);
  }

  /** One of the runs that fit; null where none does. */
  run(fits: (run: ModelRun) => boolean): ModelRun | null {
    return this.chance.oneOrNull([...this.model.runs.values()].filter(fits));
  }

  openRun(fits: (run: ModelRun) => boolean = () => true): ModelRun | null {
    return this.run((run) => run.phase === 'open' && fits(run));
  }

  runningTask(fits: (run: ModelRun, task: ModelTask) => boolean = () => true): RunningTask | null {
    const runs = [...this.model.runs.values()].filter(({ phase }) => phase !== 'ended');
    const all = runs.flatMap((run) =>
      run.tasks.flatMap((task) => (task.state === 'running' && fits(run, task) ? [{ run, task }] : [])),
    );
    return this.chance.oneOrNull(all);
  }

  /** The numbers of the next attempt of a task that has none running. */
  nextAttempt(runId: RunId, taskNo: TaskNo, task: ModelTask | undefined): { attemptNo: AttemptNo; fence: Fence } {
    const top = this.#topOf(runId, taskNo);
    // A claim that was returned keeps its attempt number.
    const last = (task?.attemptNo ?? 0) - (task?.state === 'returned' ? 1 : 0);
    const attemptNo = Math.max(last, top.attemptNo) + 1;
    return { attemptNo: attemptNo as AttemptNo, fence: this.nextFence(runId, taskNo, task) };
  }

  nextFence(runId: RunId, taskNo: TaskNo, task: ModelTask | undefined): Fence {
    return (Math.max(task?.fence ?? 0, this.#topOf(runId, taskNo).fence) + 1) as Fence;
  }

  /** The numbers of an attempt beside the one that runs. */
  speculativeAttempt(runId: RunId, { taskNo, attemptNo, fence }: ModelTask): { attemptNo: AttemptNo; fence: Fence } {
    const top = this.#topOf(runId, taskNo);
    const next = { attemptNo: Math.max(attemptNo, top.attemptNo) + 1, fence: Math.max(fence, top.fence) + 1 };
    this.#tops.set(`${runId}/${taskNo}`, next);
    return next as { attemptNo: AttemptNo; fence: Fence };
  }

  #topOf(runId: RunId, taskNo: TaskNo): { readonly attemptNo: number; readonly fence: number } {
    return this.#tops.get(`${runId}/${taskNo}`) ?? { attemptNo: 0, fence: 0 };
  }
}

export interface RunningTask {
  readonly run: ModelRun;
  readonly task: ModelTask;
}
