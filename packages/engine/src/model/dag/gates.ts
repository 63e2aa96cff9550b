import type { Graph } from './graph.ts';

interface Gated {
  readonly no: number;
  readonly gates: readonly number[];
}

/** Tasks that were there before, and have other short circuits above them now that skip all behind them; and which of those are new. */
export function changedGates(from: Graph, to: Graph): Gated[] {
  const changed: Gated[] = [];
  if (from.gates.length === 0 && to.gates.length === 0) return changed;
  for (let no = 0; no < from.taskCount; no++) {
    const [had, has] = [new Set(from.gates[no]), to.gates[no] ?? []];
    const gates = has.filter((gate) => !had.has(gate));
    if (gates.length > 0 || had.size !== has.length) changed.push({ no, gates });
  }
  return changed;
}

export function newGates(from: Graph, to: Graph): Gated[] {
  return changedGates(from, to).filter(({ gates }) => gates.length > 0);
}
