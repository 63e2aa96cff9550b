import { useMemo } from 'react';
import { Folding } from './folding.ts';
import type { Line } from './lines.ts';

/** Null while nothing is folded. `version` grows when lines were added; `lines` is one and the same list meanwhile. */
export function useFolding(
  lines: readonly Line[],
  version: number,
  isOn: boolean,
  open: ReadonlySet<number>,
): Folding | null {
  const folding = useMemo(() => {
    // Another log is folded from its first line.
    return isOn && lines.length >= 0 ? new Folding(open) : null;
  }, [isOn, lines, open]);
  if (version >= 0) folding?.goOn(lines);
  return folding;
}
