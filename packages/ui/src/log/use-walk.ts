import { useEffect, useMemo, useReducer } from 'react';
import { Folding } from './folding.ts';
import type { Line, Lines } from './lines.ts';
import { Scan, type Walk } from './scan.ts';

const PAUSE_MS = 15;

/** Goes on with it whenever the page is drawn, and in small steps meanwhile. Whether all lines were looked at. */
function useWalk(walk: Walk | null, lines: Lines, version: number): boolean {
  const [, showAgain] = useReducer((times: number) => times + 1, 0);
  const isDone = walk === null || version < 0 || walk.goOn(lines);
  useEffect(() => {
    if (isDone || walk === null) return;
    const timer = setInterval(() => {
      if (walk.goOn(lines)) clearInterval(timer);
      showAgain();
    }, PAUSE_MS);
    return () => clearInterval(timer);
  }, [isDone, walk, lines]);
  return isDone;
}

export interface Scanned {
  readonly count: number;
  readonly first: number | null;
  readonly isDone: boolean;
}

/** Null while there is nothing to look for. `version` grows when lines were added; `lines` is one and the same list meanwhile. */
export function useScan(lines: Lines, version: number, matches: ((line: Line) => boolean) | null): Scanned | null {
  const scan = useMemo(() => {
    // Another log begins from its first line too.
    return matches === null || lines.length < 0 ? null : new Scan(matches);
  }, [matches, lines]);
  const isDone = useWalk(scan, lines, version);
  return scan === null ? null : { count: scan.count, first: scan.first, isDone };
}

/** Null while nothing is folded. */
export function useFolding(lines: Lines, version: number, isOn: boolean, open: ReadonlySet<number>): Folding | null {
  const folding = useMemo(() => (isOn && lines.length >= 0 ? new Folding(open) : null), [isOn, lines, open]);
  useWalk(folding, lines, version);
  return folding;
}
