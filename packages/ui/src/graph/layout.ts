/**
 * Places the nodes of an acyclic graph from left to right: each in the rank after the last one that it needs, and within a
 * rank near the middle of its neighbours (barycentre, a few sweeps). Linear in nodes and edges but for sorting ranks.
 */
export interface Layout {
  /** Middle of each node, in units of columns and rows. */
  readonly column: Int32Array;
  readonly row: Float64Array;
  readonly columns: number;
  readonly rows: number;
  /** By place in `edges`: the rows at which an edge crosses the columns between its ends, so that it meets no node there. */
  readonly bends: ReadonlyMap<number, readonly number[]>;
}

const SWEEPS = 6;
/** A rank of fewer nodes is never folded. */
const MOST_ROWS = 60;
/** Of a graph whose edges cross more columns in all, long edges are drawn straight. */
const MOST_CROSSINGS = 20_000;

/** `edges` has pairs: the node that is needed, then the one that needs it. */
export function layOut(nodeCount: number, edges: ArrayLike<number>): Layout {
  const own = neighbours(nodeCount, edges);
  const rank = ranksOf(nodeCount, own.before, own.after);
  const tallest = Math.max(MOST_ROWS, Math.ceil(1.5 * Math.sqrt(nodeCount)));
  if (sizesOf(rank).some((size) => size > tallest)) return fold(rank, orderRanks(rank, Array.from(edges)), tallest);
  const cut = cutLongEdges(edges, rank);
  const byRank = orderRanks(cut.rank, cut.edges);
  const row = new Float64Array(cut.rank.length);
  for (const nodes of byRank) centre(nodes, row);
  const bends = new Map([...cut.crossings].map(([edge, nodes]) => [edge, nodes.map((node) => row[node] as number)]));
  const rows = byRank.reduce((most, nodes) => Math.max(most, nodes.length), 0);
  return { column: rank, row: row.slice(0, nodeCount), columns: byRank.length, rows, bends };
}

/** A rank of thousands would be a line that no screen can show: it is folded into a block of several columns. */
function fold(rank: Int32Array, byRank: readonly (readonly number[])[], tallest: number): Layout {
  const column = new Int32Array(rank.length);
  const row = new Float64Array(rank.length);
  let first = 0;
  let rows = 0;
  for (const nodes of byRank) {
    const width = Math.max(1, Math.ceil(nodes.length / tallest));
    const height = Math.ceil(nodes.length / width);
    rows = Math.max(rows, height);
    nodes.forEach((node, at) => {
      // Row by row, so that what was ordered from top to bottom stays so.
      column[node] = first + (at % width);
      row[node] = Math.floor(at / width) - (height - 1) / 2;
    });
    first += width;
  }
  return { column, row, columns: first, rows, bends: new Map() };
}

function sizesOf(rank: Int32Array): number[] {
  const sizes: number[] = [];
  for (const at of rank) sizes[at] = (sizes[at] ?? 0) + 1;
  return sizes;
}

interface CutEdges {
  readonly rank: Int32Array;
  readonly edges: readonly number[];
  /** The stand-ins of an edge, one in each rank that it crosses. */
  readonly crossings: ReadonlyMap<number, readonly number[]>;
}

/** An edge over several ranks becomes a chain of stand-ins, which are given room like nodes. */
function cutLongEdges(edges: ArrayLike<number>, rank: Int32Array): CutEdges {
  const span = (i: number) => (rank[edges[i + 1] as number] as number) - (rank[edges[i] as number] as number);
  let total = 0;
  for (let i = 0; i < edges.length; i += 2) total += span(i) - 1;
  const crossings = new Map<number, number[]>();
  if (total > MOST_CROSSINGS) return { rank, edges: Array.from(edges), crossings };
  const [ranks, chains]: [number[], number[]] = [Array.from(rank), []];
  for (let i = 0; i < edges.length; i += 2) {
    let from = edges[i] as number;
    const nodes: number[] = [];
    for (let step = 1; step < span(i); step++) {
      const node = ranks.length;
      ranks.push((rank[edges[i] as number] as number) + step);
      nodes.push(node);
      chains.push(from, node);
      from = node;
    }
    chains.push(from, edges[i + 1] as number);
    if (nodes.length > 0) crossings.set(i, nodes);
  }
  return { rank: Int32Array.from(ranks), edges: chains, crossings };
}

/** The nodes of each rank, from top to bottom. */
function orderRanks(rank: Int32Array, edges: readonly number[]): number[][] {
  const { before, after } = neighbours(rank.length, edges);
  const byRank: number[][] = Array.from(sizesOf(rank), () => []);
  for (let node = 0; node < rank.length; node++) byRank[rank[node] as number]?.push(node);
  const row = new Float64Array(rank.length);
  for (const nodes of byRank) centre(nodes, row);
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    const isForward = sweep % 2 === 0;
    for (let step = 1; step < byRank.length; step++) {
      const nodes = byRank[isForward ? step : byRank.length - 1 - step] as number[];
      const near = isForward ? before : after;
      const wish = new Map(nodes.map((node) => [node, middle(near, node, row)]));
      nodes.sort((a, b) => (wish.get(a) as number) - (wish.get(b) as number) || a - b);
      centre(nodes, row);
    }
  }
  return byRank;
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

function ranksOf(nodeCount: number, before: Neighbours, after: Neighbours): Int32Array {
  const rank = new Int32Array(nodeCount);
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
      rank[next] = Math.max(rank[next] as number, (rank[node] as number) + 1);
      unmet[next]! -= 1;
      if (unmet[next] === 0) queue.push(next);
    }
  }
  return rank;
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
