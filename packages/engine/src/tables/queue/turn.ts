/**
 * The lanes of one dag in one queue and class, and its place among the other dags there. Dags of a tenant take turns: the one with the
 * lowest *tag* claims next, and each claim raises its tag by one. So thousands of ready tasks of one dag delay another dag by one claim
 * each, and not by all of them. A dag that had nothing waiting saves nothing up: it begins where the others are.
 *
 * Tags are known in memory only, and compare within one tenant and class, over all its queues.
 */
import { PlacedHeap } from './placed-heap.ts';

/** See `lane.ts`. */
interface LaneOfTurn {
  place: number;
  readonly ready: number;
  headRunId(): number;
}

export class Turn<Lane extends LaneOfTurn = LaneOfTurn> {
  /** Place among the dags of its queue with tasks that may begin; -1 without any. */
  place = -1;
  tag = 0;
  /** Its active lanes, the one with the oldest head first. */
  readonly lanes = new PlacedHeap<Lane>(isOlder);

  get head(): number {
    return this.lanes.top()!.headRunId();
  }

  /** Ready tasks that no limit holds back. */
  waiting(): number {
    let waiting = 0;
    for (const lane of this.lanes.all()) waiting += lane.ready;
    return waiting;
  }
}

/** Where the turns of a tenant are, by class: the tag that claimed last. */
export type TurnClock = number[];

/** Of equals the older run goes first. */
export function isNext(a: Pick<Turn, 'tag' | 'head'>, b: Pick<Turn, 'tag' | 'head'>): boolean {
  return a.tag === b.tag ? a.head < b.head : a.tag < b.tag;
}

/** A lane has one queue, dag and class, and a run one dag: the heads of two lanes are of the same run where their limits differ. */
function isOlder(a: LaneOfTurn, b: LaneOfTurn): boolean {
  return a.headRunId() < b.headRunId();
}
