import { useEffect, useMemo, useReducer } from 'react';
import type { Line } from './lines.ts';
import { Scan } from './scan.ts';

const PAUSE_MS = 15;

export interface Scanned {
  readonly count: number;
  readonly first: number | null;
  readonly isDone: boolean;
}

/** Null while there is nothing to look for. `version` grows when lines were added. */
export function useScan(
  lines: readonly Line[],
  version: number,
  matches: ((line: Line) => boolean) | null,
): Scanned | null {
  const scan = useMemo(() => {
    // Another log begins from its first line too.
    return matches === null || lines.length < 0 ? null : new Scan(matches);
  }, [matches, lines]);
  const [, showAgain] = useReducer((times: number) => times + 1, 0);
  const isDone = scan === null || version < 0 || scan.goOn(lines);
  useEffect(() => {
    if (isDone || scan === null) return;
    const timer = setInterval(() => {
      if (scan.goOn(lines)) clearInterval(timer);
      showAgain();
    }, PAUSE_MS);
    return () => clearInterval(timer);
  }, [isDone, scan, lines]);
  return scan === null ? null : { count: scan.count, first: scan.first, isDone };
}
