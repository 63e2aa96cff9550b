/** One version of a dag in the working set. */
import type { TaskNo, VersionNo } from '../ids.ts';
import type { Lane } from '../match/lane.ts';
import type { Dag } from './dag-table.ts';
import { Graph } from './graph.ts';
import type { DagSpec, TaskSpec } from './spec.ts';

export class Version {
  readonly dag: Dag;
  readonly no: VersionNo;
  readonly hash: string;
  readonly spec: DagSpec;
  readonly graph: Graph;
  readonly taskCount: number;
  /** Lane of task t at priority p, found once: `lanes[t * 4 + p]`. */
  readonly lanes: (Lane | undefined)[] = [];
  /** Live runs in memory; without any, an old version is forgotten. */
  liveRuns = 0;

  constructor(dag: Dag, no: VersionNo, hash: string, spec: DagSpec) {
    this.dag = dag;
    this.no = no;
    this.hash = hash;
    this.spec = spec;
    this.graph = new Graph(spec.tasks);
    this.taskCount = spec.tasks.length;
  }

  task(no: TaskNo): TaskSpec {
    return this.spec.tasks[no]!;
  }
}
