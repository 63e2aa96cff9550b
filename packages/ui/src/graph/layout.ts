/**
 * Places the nodes of an acyclic graph from left to right: each in the column after the last one that it needs, and within a
 * column near the middle of its neighbours (barycentre, a few sweeps). Linear in nodes and edges but for sorting columns.
 */
export interface Layout {
  /** Middle of each node, in units of columns and rows. */
  readonly column: Int32Array;
  readonly row: Float64Array;
  readonly columns: number;
  readonly rows: number;
}

const SWEEPS = 6;

/** `edges` has pairs: the node that is needed, then the one that needs it. */
export function layOut(nodeCount: number, edges: ArrayLike<number>): Layout {
  const { before, after } = neighbours(nodeCount, edges);
  const column = columnsOf(nodeCount, before, after);
  const columns = nodeCount === 0 ? 0 : Math.max(...chunkMax(column)) + 1;
  const order: number[][] = Array.from({ length: columns }, () => []);
  for (let node = 0; node < nodeCount; node++) order[column[node] as number]?.push(node);
  const row = new Float64Array(nodeCount);
  for (const nodes of order) centre(nodes, row);
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    const isForward = sweep % 2 === 0;
    for (let step = 1; step < columns; step++) {
      const nodes = order[isForward ? step : columns - 1 - step] as number[];
      const near = isForward ? before : after;
      const wish = new Map(nodes.map((node) => [node, middle(near, node, row)]));
      nodes.sort((a, b) => (wish.get(a) as number) - (wish.get(b) as number) || a - b);
      centre(nodes, row);
    }
  }
  const rows = order.reduce((most, nodes) => Math.max(most, nodes.length), 0);
  return { column, row, columns, rows };
}

interface Neighbours {
  readonly start: Int32Array;
  readonly list: Int32Array;
}

function neighbours(nodeCount: number, edges: ArrayLike<number>): { before: Neighbours; after: Neighbours } {
  const make = (own: 0 | 1): Neighbours => {
    const start = new Int32Array(nodeCount + 1);
    for (let i = 0; i < edges.length; i += 2) start[(edges[i + own] as number) + 1]! += 1;
    for (let node = 0; node < nodeCount; node++) start[node + 1]! += start[node] as number;
    const list = new Int32Array(edges.length / 2);
    const next = start.slice();
    for (let i = 0; i < edges.length; i += 2) {
      const node = edges[i + own] as number;
      list[next[node]!++] = edges[i + 1 - own] as number;
    }
    return { start, list };
  };
  return { before: make(1), after: make(0) };
}

function columnsOf(nodeCount: number, before: Neighbours, after: Neighbours): Int32Array {
  const column = new Int32Array(nodeCount);
  const unmet = new Int32Array(nodeCount);
  const queue: number[] = [];
  for (let node = 0; node < nodeCount; node++) {
    unmet[node] = (before.start[node + 1] as number) - (before.start[node] as number);
    if (unmet[node] === 0) queue.push(node);
  }
  for (let at = 0; at < queue.length; at++) {
    const node = queue[at] as number;
    for (let i = after.start[node] as number; i < (after.start[node + 1] as number); i++) {
      const next = after.list[i] as number;
      column[next] = Math.max(column[next] as number, (column[node] as number) + 1);
      unmet[next]! -= 1;
      if (unmet[next] === 0) queue.push(next);
    }
  }
  return column;
}

function middle({ start, list }: Neighbours, node: number, row: Float64Array): number {
  const [from, to] = [start[node] as number, start[node + 1] as number];
  if (from === to) return row[node] as number;
  let sum = 0;
  for (let i = from; i < to; i++) sum += row[list[i] as number] as number;
  return sum / (to - from);
}

function centre(nodes: readonly number[], row: Float64Array): void {
  const first = -(nodes.length - 1) / 2;
  nodes.forEach((node, at) => {
    row[node] = first + at;
  });
}

/** `Math.max` takes only so many arguments. */
function chunkMax(values: Int32Array): number[] {
  const parts: number[] = [];
  for (let at = 0; at < values.length; at += 10_000) parts.push(Math.max(...values.subarray(at, at + 10_000)));
  return parts;
}
