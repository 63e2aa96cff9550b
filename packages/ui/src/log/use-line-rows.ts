/** Which lines of a long log are in the page: those in sight, and some above and below. */
import { useVirtualizer } from '@tanstack/react-virtual';
import { useCallback, useEffect, useLayoutEffect, useState } from 'react';

const ROW = 19;
const AROUND = 20;
/** While new lines push the others out, those above are gone before anybody could scroll to them. */
const ABOVE_END = 3;

export interface LineRow {
  readonly index: number;
  readonly start: number;
  /** Rows of a log that is followed keep their elements and get other lines: that is far cheaper than new elements. */
  readonly key: number;
}

export interface LineRows {
  /** Of all rows together, in pixels. */
  readonly height: number;
  readonly rows: readonly LineRow[];
  readonly goTo: (index: number, align: 'center' | 'end') => void;
  /** For rows whose height only the browser knows. */
  readonly measure: ((row: Element | null) => void) | undefined;
}

interface RowsOptions {
  readonly scroller: HTMLElement | null;
  readonly count: number;
  readonly isWrapped: boolean;
  /** The last rows are in sight, whatever is added. */
  readonly isFollowing: boolean;
  /** Somebody went away from the end. */
  readonly onLeave: () => void;
}

/** Wrapped lines have each a height of their own; the others are all alike, and a million of them cost nothing. */
export function useLineRows({ scroller, count, isWrapped, isFollowing, onLeave }: RowsOptions): LineRows {
  const measured = useVirtualizer({
    count: isWrapped ? count : 0,
    getScrollElement: () => scroller,
    estimateSize: () => ROW,
    overscan: AROUND,
  });
  const height = isWrapped ? measured.getTotalSize() : count * ROW;
  const sight = useSight(scroller, isWrapped, onLeave);
  // The same function while the lines are the same: whoever follows a log goes to its end when it has changed, not when it is scrolled.
  const goTo = useCallback(
    (index: number, align: 'center' | 'end') => {
      if (isWrapped) measured.scrollToIndex(index, { align });
      else if (scroller !== null) {
        const room = scroller.clientHeight - ROW;
        scroller.scrollTop = align === 'end' ? (index + 1) * ROW : index * ROW - room / 2;
      }
    },
    [scroller, isWrapped, measured],
  );
  // With the new height, before it is drawn: one layout in place of one for the height and one for the place.
  useLayoutEffect(() => {
    if (isFollowing && count > 0 && scroller !== null) goTo(count - 1, 'end');
  }, [isFollowing, count, scroller, goTo]);
  if (isWrapped) {
    const rows = measured.getVirtualItems().map(({ index, start }) => ({ index, start, key: index }));
    return { height, rows, goTo, measure: measured.measureElement };
  }
  const inSight = Math.ceil(sight.height / ROW) + 1;
  const [from, end] = isFollowing
    ? [count - inSight - ABOVE_END, count]
    : [sight.first - AROUND, sight.first + inSight + AROUND];
  return { height, rows: rowsFrom(Math.max(0, from), Math.min(count, end), isFollowing), goTo, measure: undefined };
}

function rowsFrom(from: number, end: number, isReused: boolean): LineRow[] {
  const length = Math.max(0, end - from);
  return Array.from({ length }, (_, at) => {
    const index = from + at;
    return { index, start: index * ROW, key: isReused ? index % length : index };
  });
}

interface Sight {
  readonly first: number;
  /** Of the window onto the lines. */
  readonly height: number;
}

function useSight(scroller: HTMLElement | null, isOff: boolean, onLeave: () => void): Sight {
  const [sight, setSight] = useState<Sight>({ first: 0, height: 0 });
  useEffect(() => {
    if (scroller === null || isOff) return;
    const look = () => {
      const [first, height] = [Math.floor(scroller.scrollTop / ROW), scroller.clientHeight];
      setSight((known) => (known.first === first && known.height === height ? known : { first, height }));
    };
    const onScroll = () => {
      if (scroller.scrollTop + scroller.clientHeight < scroller.scrollHeight - 2 * ROW) onLeave();
      look();
    };
    const resized = new ResizeObserver(look);
    resized.observe(scroller);
    scroller.addEventListener('scroll', onScroll, { passive: true });
    look();
    return () => {
      resized.disconnect();
      scroller.removeEventListener('scroll', onScroll);
    };
  }, [scroller, isOff, onLeave]);
  return sight;
}
