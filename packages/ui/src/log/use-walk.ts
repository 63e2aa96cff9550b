import { useLayoutEffect, useMemo, useReducer } from 'react';
import { Folding } from './folding.ts';
import type { Line, Lines } from './lines.ts';
import { Scan, type Walk } from './scan.ts';

/** Between two steps, each of which takes less than a frame. */
const PAUSE_MS = 15;
/** How often the page shows how far it is. */
const SHOW_MS = 150;

/** Walks in small steps, the first one before the page is drawn: a short log is done with it. */
function useWalk(walk: Walk | null, lines: Lines, version: number): void {
  const [, showAgain] = useReducer((times: number) => times + 1, 0);
  useLayoutEffect(() => {
    if (walk === null || version < 0 || walk.isDone(lines)) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let shownAt = performance.now();
    const step = () => {
      const isDone = walk.goOn(lines);
      if (!isDone) timer = setTimeout(step, PAUSE_MS);
      if (!isDone && performance.now() - shownAt < SHOW_MS) return;
      shownAt = performance.now();
      showAgain();
    };
    step();
    return () => clearTimeout(timer);
  }, [walk, lines, version]);
}

export interface Scanned {
  readonly count: number;
  readonly isDone: boolean;
}

/** Null while there is nothing to look for. `version` grows when lines were added; `lines` is one and the same list meanwhile. */
export function useScan(lines: Lines, version: number, matches: ((line: Line) => boolean) | null): Scanned | null {
  const scan = useMemo(() => {
    // Another log begins from its first line too.
    return matches === null || lines.length < 0 ? null : new Scan(matches);
  }, [matches, lines]);
  useWalk(scan, lines, version);
  return scan === null ? null : { count: scan.count, isDone: scan.isDone(lines) };
}

/** Null while nothing is folded. */
export function useFolding(lines: Lines, version: number, isOn: boolean, open: ReadonlySet<number>): Folding | null {
  const folding = useMemo(() => (isOn && lines.length >= 0 ? new Folding(open) : null), [isOn, lines, open]);
  useWalk(folding, lines, version);
  return folding;
}
