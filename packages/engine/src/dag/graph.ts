/** The edges of a dag as flat arrays, so that the end of a task costs its out-degree and nothing is ever rescanned. */
export class Graph {
  readonly taskCount: number;
  /** Downstream tasks of task t are `downstream[downstreamStart[t] … downstreamStart[t+1])`. */
  readonly downstreamStart: Int32Array;
  readonly downstream: Int32Array;
  /** How many upstream tasks each task waits for at the start. */
  readonly upstreamCount: Int32Array;
  /** Tasks that wait for none. */
  readonly roots: Int32Array;

  constructor(tasks: readonly { readonly needs: readonly number[] }[]) {
    const count = tasks.length;
    this.taskCount = count;
    this.upstreamCount = new Int32Array(count);
    this.downstreamStart = new Int32Array(count + 1);
    const roots: number[] = [];
    tasks.forEach((task, no) => {
      this.upstreamCount[no] = task.needs.length;
      if (task.needs.length === 0) roots.push(no);
      for (const up of task.needs) this.downstreamStart[up + 1]! += 1;
    });
    for (let t = 0; t < count; t++) this.downstreamStart[t + 1]! += this.downstreamStart[t]!;
    this.downstream = new Int32Array(this.downstreamStart[count]!);
    const filled = this.downstreamStart.slice();
    tasks.forEach((task, no) => {
      for (const up of task.needs) this.downstream[filled[up]!++] = no;
    });
    this.roots = Int32Array.from(roots);
  }
}
