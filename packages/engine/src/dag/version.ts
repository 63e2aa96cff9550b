/** One version of a dag in the working set. */
import { type AddedTask, growSpec, roomOf } from '../add/added.ts';
import type { TaskNo, VersionNo } from '../ids.ts';
import type { Lane } from '../match/lane.ts';
import { hasClaimTimers, keepsNotes } from '../task/notes.ts';
import type { Dag } from './dag-table.ts';
import { Graph } from './graph.ts';
import type { DagSpec, TaskSpec } from './spec.ts';
import { limitSpec } from './until.ts';

/** More names than this of one version are not remembered; a graph of each is kept. */
const MAX_LIMITED = 16;

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
  /** Of some of its tasks more is kept than their rows tell: see `task/notes.ts`. */
  readonly keepsNotes: boolean;
  /** Some of its tasks have times that begin with a claim, or when they are ready. */
  readonly hasClaimTimers: boolean;
  readonly watchesQueue: boolean;
  /** Some of its tasks may have a second attempt beside the first: see `straggler/`. */
  readonly speculates: boolean;
  /** Lane of task t at priority p, found once: `lanes[t * 4 + p]`. */
  readonly lanes: (Lane | undefined)[] = [];
  /** Live runs in memory; without any, an old version is forgotten. */
  liveRuns = 0;
  /** Of the deployed one: for runs that go up to a chosen task, by its name. */
  private readonly limited = new Map<string, Version>();
  private workTexts: (string | undefined)[] | null = null;

  constructor(dag: Dag, no: VersionNo, hash: string, spec: DagSpec, origin?: Version) {
    this.dag = dag;
    this.no = no;
    this.hash = hash;
    this.spec = spec;
    this.graph = new Graph(spec);
    this.taskCount = spec.tasks.length;
    this.room = roomOf(spec);
    this.origin = origin ?? this;
    this.closingCount = this.graph.closing?.tasks.length ?? 0;
    // The same before and after tasks are added to a run.
    const all = spec.templates === undefined ? spec.tasks : [...spec.tasks, ...spec.templates];
    this.keepsNotes = origin?.keepsNotes ?? all.some(keepsNotes);
    this.hasClaimTimers = origin?.hasClaimTimers ?? all.some(hasClaimTimers);
    this.speculates = origin?.speculates ?? all.some(({ speculate }) => speculate !== undefined);
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

  /** What a worker is told, as JSON: made once for all runs. Empty for a plain handler. */
  workText(no: TaskNo): string {
    const { work } = this.task(no);
    if (work === undefined) return '';
    this.workTexts ??= [];
    return (this.workTexts[no] ??= JSON.stringify(work));
  }
}
