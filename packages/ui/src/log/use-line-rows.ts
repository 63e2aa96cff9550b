/** Which lines of a long log are in the page: those in sight, and some above and below. */
import { useVirtualizer } from '@tanstack/react-virtual';
import { useCallback, useEffect, useState } from 'react';

const ROW = 19;
const AROUND = 30;

export interface LineRows {
  /** Of all rows together, in pixels. */
  readonly height: number;
  readonly rows: readonly { readonly index: number; readonly start: number }[];
  readonly goTo: (index: number, align: 'center' | 'end') => void;
  /** For rows whose height only the browser knows. */
  readonly measure: ((row: Element | null) => void) | undefined;
}

/** Wrapped lines have each a height of their own; the others are all alike, and a million of them cost nothing. */
export function useLineRows(scroller: HTMLElement | null, count: number, isWrapped: boolean): LineRows {
  const measured = useVirtualizer({
    count: isWrapped ? count : 0,
    getScrollElement: () => scroller,
    estimateSize: () => ROW,
    overscan: AROUND,
  });
  const [first, last] = useRowsInSight(scroller, isWrapped);
  // The same function while the lines are the same: whoever follows a log goes to its end when it has changed, not when it is scrolled.
  const goTo = useCallback(
    (index: number, align: 'center' | 'end') => {
      if (isWrapped) measured.scrollToIndex(index, { align });
      else if (scroller !== null) {
        const room = scroller.clientHeight - ROW;
        scroller.scrollTop = align === 'end' ? scroller.scrollHeight : index * ROW - room / 2;
      }
    },
    [scroller, isWrapped, measured],
  );
  if (isWrapped) {
    return {
      height: measured.getTotalSize(),
      rows: measured.getVirtualItems(),
      goTo,
      measure: measured.measureElement,
    };
  }
  const from = Math.max(0, Math.min(first, count) - AROUND);
  const end = Math.min(count, last + AROUND);
  return {
    height: count * ROW,
    rows: Array.from({ length: Math.max(0, end - from) }, (_, at) => ({ index: from + at, start: (from + at) * ROW })),
    goTo,
    measure: undefined,
  };
}

function useRowsInSight(scroller: HTMLElement | null, isOff: boolean): readonly [first: number, last: number] {
  const [sight, setSight] = useState<readonly [number, number]>([0, 0]);
  useEffect(() => {
    if (scroller === null || isOff) return;
    const look = () => {
      const first = Math.floor(scroller.scrollTop / ROW);
      const last = Math.ceil((scroller.scrollTop + scroller.clientHeight) / ROW);
      setSight((known) => (known[0] === first && known[1] === last ? known : [first, last]));
    };
    const resized = new ResizeObserver(look);
    resized.observe(scroller);
    scroller.addEventListener('scroll', look, { passive: true });
    look();
    return () => {
      resized.disconnect();
      scroller.removeEventListener('scroll', look);
    };
  }, [scroller, isOff]);
  return sight;
}
