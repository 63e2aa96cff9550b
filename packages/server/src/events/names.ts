/** Names of runs, dags and tasks, because the journal contains only their numbers. Fetched in batches and cached for a while. */
import {
  type Change,
  type DagId,
  type RunId,
  type ShardNo,
  shardOfRun,
  TaskNames,
  type TenantId,
  type VersionNo,
} from '@signalbox/engine';
import type { NamedDag, NamedRun, Queries } from '@signalbox/store';
import type { Told } from './describe.ts';

export interface Named {
  readonly tenantId: TenantId;
  /** Null for what belongs to no dag. */
  readonly dag: string | null;
  readonly run: string | null;
  readonly task: string | null;
}

type NameQueries = Pick<Queries, 'nameRuns' | 'nameDags' | 'nameTasks' | 'getRunMaps'>;

const RUNS_KEPT = 50_000;
const DAGS_KEPT = 10_000;
const VERSIONS_KEPT = 50;
/** Runs with maps. */
const MAPPED_KEPT = 20;

export class Names {
  readonly #queries: NameQueries;
  readonly #runs = new Kept<RunId, NamedRun>(RUNS_KEPT);
  readonly #dags = new Kept<string, NamedDag>(DAGS_KEPT);
  readonly #tasks = new Kept<string, readonly string[]>(VERSIONS_KEPT);
  readonly #mapped = new Kept<RunId, TaskNames>(MAPPED_KEPT);

  constructor(queries: NameQueries) {
    this.#queries = queries;
  }

  /** A run's own creation says all that is asked of it later. */
  learn(changes: readonly Change[]): void {
    for (const change of changes) if (change.kind === 'RunCreated') this.#runs.set(change.runId, change);
  }

  /** Null for what no longer exists. */
  async nameAll(told: readonly Told[]): Promise<(Named | null)[]> {
    await this.#fetchRuns(told);
    await this.#fetchDags(told);
    const named: (Named | null)[] = [];
    for (const one of told) named.push(await this.#name(one));
    return named;
  }

  async #fetchRuns(told: readonly Told[]): Promise<void> {
    const missing = new Set<RunId>();
    for (const { about } of told) if ('runId' in about && !this.#runs.has(about.runId)) missing.add(about.runId);
    if (missing.size === 0) return;
    for (const run of await this.#queries.nameRuns([...missing])) this.#runs.set(run.runId, run);
  }

  async #fetchDags(told: readonly Told[]): Promise<void> {
    const missing = new Map<string, { shard: ShardNo; dagId: DagId }>();
    for (const one of told) {
      const dag = this.#dagOf(one);
      if (dag !== null && !this.#dags.has(keyOf(dag))) missing.set(keyOf(dag), dag);
    }
    if (missing.size === 0) return;
    for (const dag of await this.#queries.nameDags([...missing.values()])) this.#dags.set(keyOf(dag), dag);
  }

  #dagOf({ about }: Told): { shard: ShardNo; dagId: DagId } | null {
    if ('dagId' in about) return about;
    if (!('runId' in about)) return null;
    const run = this.#runs.get(about.runId);
    return run === undefined ? null : { shard: shardOfRun(about.runId), dagId: run.dagId };
  }

  async #name(told: Told): Promise<Named | null> {
    if ('tenantId' in told.about) return { tenantId: told.about.tenantId, dag: null, run: null, task: null };
    const key = this.#dagOf(told);
    const dag = key === null ? undefined : this.#dags.get(keyOf(key));
    if (dag === undefined) return null;
    const { tenantId, name } = dag;
    if (!('runId' in told.about)) return { tenantId, dag: name, run: null, task: null };
    const run = this.#runs.get(told.about.runId);
    if (run === undefined) return null;
    if (told.taskNo === null) return { tenantId, dag: name, run: run.uid, task: null };
    const tasks = await this.#tasksOf(dag, run.versionNo);
    const task = tasks[told.taskNo] ?? (await this.#instanceOf(tenantId, told.about.runId, told.taskNo));
    return { tenantId, dag: name, run: run.uid, task };
  }

  /** A task that a map has made; more may have come since the last look. */
  async #instanceOf(tenantId: TenantId, runId: RunId, taskNo: number): Promise<string | null> {
    const known = this.#mapped.get(runId)?.nameOf(taskNo) ?? null;
    if (known !== null) return known;
    const found = await this.#queries.getRunMaps(tenantId, runId);
    if (found === null) return null;
    const names = new TaskNames(found.spec, found.maps);
    this.#mapped.set(runId, names);
    return names.nameOf(taskNo);
  }

  async #tasksOf(dag: NamedDag, versionNo: VersionNo): Promise<readonly string[]> {
    const key = `${keyOf(dag)}/${versionNo}`;
    const known = this.#tasks.get(key);
    if (known !== undefined) return known;
    const names = await this.#queries.nameTasks(dag, versionNo);
    this.#tasks.set(key, names);
    return names;
  }
}

const keyOf = ({ shard, dagId }: { shard: ShardNo; dagId: DagId }): string => `${shard}/${dagId}`;

/** The newest so many. */
class Kept<K, V> extends Map<K, V> {
  readonly #most: number;

  constructor(most: number) {
    super();
    this.#most = most;
  }

  override set(key: K, value: V): this {
    super.delete(key);
    super.set(key, value);
    if (this.size > this.#most) {
      const [oldest] = this.keys();
      super.delete(oldest as K);
    }
    return this;
  }
}
