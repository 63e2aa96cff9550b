/** One version of a dag in the working set. */
import { type AddedTask, growSpec, roomOf } from '../../model/dag/added.ts';
import { Graph } from '../../model/dag/graph.ts';
import type { DagSpec, RateSpec, ScheduleSpec, TaskSpec } from '../../model/dag/spec.ts';
import { limitSpec } from '../../model/dag/until.ts';
import type { DagId, ShardNo, TaskNo, TenantId, VersionNo } from '../../model/ids.ts';
import { taskLimit } from '../../model/limit.ts';
import { hasClaimTimers, keepsNotes } from '../../model/task/notes.ts';
import type { Breaker } from '../breaker/breaker.ts';
import { OwnLimit } from '../limit/lane-limit.ts';
import type { Lane } from '../queue/lane.ts';
import type { ReadyQueue } from '../queue/ready-queue.ts';
import type { Turn } from '../queue/turn.ts';
import { FanOut } from './fan-out.ts';
import { WaitingRuns } from './waiting-runs.ts';

/** More names than this of one version are not remembered; a graph of each is kept. */
const MAX_LIMITED = 16;

/** A definition never changes, nor does its graph: two working sets that hold the same definition share it. */
const graphs = new WeakMap<DagSpec, Graph>();

function graphOf(spec: DagSpec): Graph {
  const graph = graphs.get(spec) ?? new Graph(spec);
  graphs.set(spec, graph);
  return graph;
}

export class Version {
  readonly dag: Dag;
  readonly no: VersionNo;
  readonly hash: string;
  readonly spec: DagSpec;
  readonly graph: Graph;
  readonly taskCount: number;
  /** Slots that a run takes: some are kept for tasks that may be added. */
  readonly room: number;
  /** The one that was deployed: another only for a run that tasks were added to, or that goes up to a chosen task. */
  readonly origin: Version;
  /** How many of them close its runs. */
  readonly closingCount: number;
  /** Of some of its tasks more is kept than their rows tell: see `tables/task/task-notes.ts`. */
  readonly keepsNotes: boolean;
  /** Some of its tasks have times that begin with a claim, or when they are ready. */
  readonly hasClaimTimers: boolean;
  readonly watchesQueue: boolean;
  /** Some of its tasks, or all tasks of a run, have a limit of their own. */
  readonly hasOwnLimits: boolean;
  /** Tasks of it begin together or not at all. */
  readonly hasGangs: boolean;
  /** Some of its tasks may have a speculative attempt beside the first: see `decide/speculative/`. */
  readonly speculates: boolean;
  /** Some of its tasks are better near others: which worker ran which is kept. */
  readonly notesWorkers: boolean;
  /** Tasks that wait for the window before: their numbers. Nearly always none. */
  readonly pastTasks: readonly number[];
  /** Lane of task t at priority p, found once: `lanes[t * 5 + p]`; place 4 is that of backfills. */
  readonly lanes: (Lane | undefined)[] = [];
  /** Live runs in memory; without any, an old version is forgotten. */
  liveRuns = 0;
  /** Of the deployed one: for runs that go up to a chosen task, by its name. */
  private readonly limited = new Map<string, Version>();
  private numbers: Map<string, number> | null = null;
  private workTexts: (string | undefined)[] | null = null;

  constructor(dag: Dag, no: VersionNo, hash: string, spec: DagSpec, origin?: Version) {
    this.dag = dag;
    this.no = no;
    this.hash = hash;
    this.spec = spec;
    this.graph = origin === undefined ? graphOf(spec) : new Graph(spec);
    this.taskCount = spec.tasks.length;
    this.room = roomOf(spec);
    this.origin = origin ?? this;
    this.closingCount = this.graph.closing?.tasks.length ?? 0;
    // The same before and after tasks are added to a run.
    const all = spec.templates === undefined ? spec.tasks : [...spec.tasks, ...spec.templates];
    this.keepsNotes = origin?.keepsNotes ?? all.some(keepsNotes);
    this.hasClaimTimers = origin?.hasClaimTimers ?? all.some(hasClaimTimers);
    this.speculates = origin?.speculates ?? all.some(({ speculate }) => speculate !== undefined);
    this.notesWorkers = origin?.notesWorkers ?? all.some(({ placement }) => placement?.near !== undefined);
    this.pastTasks = spec.tasks.flatMap(({ past }, taskNo) => (past === undefined ? [] : [taskNo]));
    this.hasGangs = origin?.hasGangs ?? all.some(({ placement }) => placement?.gang !== undefined);
    if (this.hasGangs) dag.hasGangs = true;
    this.hasOwnLimits =
      spec.maxActiveTasksPerRun !== undefined || spec.tasks.some(({ maxActive }) => maxActive !== undefined);
    this.watchesQueue = origin?.watchesQueue ?? all.some(({ queueTimeoutMs }) => queueTimeoutMs !== undefined);
  }

  /** For a run that these were added to. */
  grown(added: readonly AddedTask[] | undefined): Version {
    const { dag, no, hash, origin } = this;
    return added === undefined ? this : new Version(dag, no, hash, growSpec(this.ungrown, added), origin);
  }

  /** The spec without what was added to a run. */
  get ungrown(): DagSpec {
    return limitSpec(this.origin.spec, this.spec.until);
  }

  /** For a run that goes up to this task or group; undefined: to its end. */
  upTo(until: string | undefined): Version {
    if (until === undefined) return this;
    const known = this.origin.limited.get(until);
    if (known !== undefined) return known;
    const { dag, no, hash, origin } = this;
    const spec = limitSpec(origin.spec, until);
    const version = spec === origin.spec ? origin : new Version(dag, no, hash, spec, origin);
    if (origin.limited.size < MAX_LIMITED) origin.limited.set(until, version);
    return version;
  }

  task(no: TaskNo): TaskSpec {
    return this.spec.tasks[no]!;
  }

  /** The number of the task with this name, if it has one. */
  numberOf(name: string): number | undefined {
    this.numbers ??= new Map(this.spec.tasks.map((task, no) => [task.name, no]));
    return this.numbers.get(name);
  }

  /** What a worker is told, as JSON: made once for all runs. Empty for a plain handler. */
  workText(no: TaskNo): string {
    const { work } = this.task(no);
    if (work === undefined) return '';
    this.workTexts ??= [];
    return (this.workTexts[no] ??= JSON.stringify(work));
  }
}

export class Dag {
  readonly shard: ShardNo;
  readonly id: DagId;
  readonly tenantId: TenantId;
  readonly tenant: string;
  readonly name: string;
  /** The version that new runs take; its limits are the dag's limits. */
  current: Version;
  readonly versions = new Map<VersionNo, Version>();
  /** Makes no new runs; those that live go on. */
  isRetired = false;
  /** Windows of schedules that it had are decided up to here. */
  windowsUntil = 0;
  /** The last number given to one of its schedules. */
  lastScheduleNo = 0;
  /** Admitted live runs, loaded or not (I7). */
  activeRuns = 0;
  /** Live runs in memory. */
  liveRuns = 0;
  /** Those of them that tasks of other runs have made. */
  liveChildren = 0;
  /** Tasks of live runs in memory, ended or not. */
  liveTasks = 0;
  /** Running attempts (I44). */
  runningTasks = 0;
  /** A version of it has gangs, which want several places of its limit at once. */
  hasGangs = false;
  /** None of its tasks begins. */
  isFrozen = false;
  /** It created too much: see `decide/halt`. */
  isHalted = false;
  readonly fanOut = new FanOut();
  readonly waitingRuns = new WaitingRuns();
  /** The last batch that changed it: not forgotten before that one is settled. */
  touchedIn = 0;
  /** Its own breaker, while that holds or lets go: its lanes step aside as at a limit (I47). */
  gate: Breaker | null = null;
  /** Of tasks that have one: by name, and by what their version says. */
  private readonly taskLimits = new Map<string, Map<number, OwnLimit>>();
  /** By queue, and by what else its tasks wait for: see `enqueue.ts`. */
  readonly lanes = new Map<string, (Lane | undefined)[]>();
  /** By class: its turns among other dags of each queue. */
  readonly turns = new Map<ReadyQueue, (Turn<Lane> | undefined)[]>();

  constructor(
    shard: ShardNo,
    id: DagId,
    tenantId: TenantId,
    tenant: string,
    name: string,
    no: VersionNo,
    hash: string,
    spec: DagSpec,
  ) {
    this.shard = shard;
    this.id = id;
    this.tenantId = tenantId;
    this.tenant = tenant;
    this.name = name;
    this.current = new Version(this, no, hash, spec);
    this.versions.set(no, this.current);
  }

  /** The limit of a task over all runs: that of the current version, where it has the task; else `most`, that of its own. */
  limitOfTask(name: string, most: number): OwnLimit {
    const ofTask = this.taskLimits.get(name) ?? new Map<number, OwnLimit>();
    this.taskLimits.set(name, ofTask);
    let limit = ofTask.get(most);
    if (limit === undefined) {
      const limitOf = () => {
        const no = this.current.numberOf(name);
        return no === undefined ? most : (this.current.task(no as TaskNo).maxActive ?? null);
      };
      const [other] = ofTask.values();
      limit = new OwnLimit(taskLimit(this.id, name), limitOf, other);
      ofTask.set(most, limit);
    }
    return limit;
  }

  /** Those of each version that runs. All of one task count the same attempts. */
  *limitsOfTasks(): Iterable<OwnLimit> {
    for (const ofTask of this.taskLimits.values()) yield* ofTask.values();
  }

  limitsOfTask(name: string): OwnLimit[] {
    return [...(this.taskLimits.get(name)?.values() ?? [])];
  }

  /** Starts per time, of a task or (null) of all of them: what the current version says; `own` of a task that it does not have. */
  rateOf(task: string | null, own: RateSpec | null): RateSpec | null {
    if (task === null) return this.current.spec.rate ?? null;
    const no = this.current.numberOf(task);
    return no === undefined ? own : (this.current.task(no as TaskNo).rate ?? null);
  }

  /** After another version has become the current one. */
  settleLimits(): void {
    for (const limit of this.limitsOfTasks()) limit.settle();
  }

  /** The params of a run for a window: those of the schedule, and those of the dag where it has none. */
  paramsOfWindow({ params }: ScheduleSpec): string | null {
    return params ?? this.current.spec.defaultParams ?? null;
  }

  hasRoomForRun(): boolean {
    const limit = this.current.spec.maxActiveRuns;
    return limit === null || this.activeRuns < limit;
  }

  /** For so many tasks at once. */
  hasRoomForTask(count = 1): boolean {
    if (this.isFrozen || this.isHalted || this.isHeldByBreaker()) return false;
    return !this.isAtTaskLimit(count);
  }

  isHeldByBreaker(): boolean {
    return this.gate !== null && this.gate.allowance <= 0;
  }

  isAtTaskLimit(count = 1): boolean {
    const limit = this.current.spec.maxActiveTasks;
    return limit !== null && this.runningTasks + count > limit;
  }

  get taskRoom(): number | null {
    const limit = this.current.spec.maxActiveTasks;
    return limit === null ? null : limit - this.runningTasks;
  }
}
