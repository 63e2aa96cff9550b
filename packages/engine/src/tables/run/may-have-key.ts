/** Whether a new run may have its key, where its dag limits its runs by key. */
import { runKeyOf } from '../../model/run/run-key.ts';
import type { Dag, Version } from '../dag/dag.ts';
import type { State } from '../state.ts';

/** The key that a run of this version would have; undefined where the version has none. */
export function keyOfNew({ spec }: Version, params: string | null): string | undefined {
  return spec.concurrency === undefined ? undefined : runKeyOf(spec.concurrency, params);
}

/** A run with this key may be admitted: it has room, and nobody was there before. */
export function mayHaveKey(state: State, dag: Dag, key: string | undefined): boolean {
  if (key === undefined) return true;
  const found = state.runKeys.find(dag.id, key);
  return found === undefined || (found.held.size === 0 && found.hasRoom(dag.current.spec.concurrency?.limit));
}
