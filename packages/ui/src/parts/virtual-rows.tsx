/** Rows of one height, of which only those in sight are in the page. */
import { useVirtualizer } from '@tanstack/react-virtual';
import { memo, type ReactNode, useRef } from 'react';

interface VirtualRowsProps {
  readonly count: number;
  readonly height: number;
  readonly className?: string;
  readonly label: string;
  /** Stays on top. */
  readonly head?: ReactNode;
  readonly children: (index: number) => ReactNode;
}

export function VirtualRows({ count, height, className = '', label, head, children }: VirtualRowsProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const rows = useVirtualizer({
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => height,
    overscan: 12,
  });
  return (
    <div
      ref={scroller}
      className={`virtual ${className}`}
      role="table"
      aria-label={label}
      aria-rowcount={count}
      tabIndex={0}
    >
      {head}
      <div className="virtual-space" style={{ height: rows.getTotalSize() }}>
        {rows.getVirtualItems().map(({ index, start }) => (
          <Row key={index} index={index} start={start} height={height} render={children} />
        ))}
      </div>
    </div>
  );
}

interface RowProps {
  readonly index: number;
  readonly start: number;
  readonly height: number;
  readonly render: (index: number) => ReactNode;
}

/** While somebody scrolls, only rows that come into sight are rendered: the others have not changed. */
const Row = memo(function Row({ index, start, height, render }: RowProps) {
  return (
    <div
      className="virtual-row"
      role="row"
      aria-rowindex={index + 1}
      style={{ transform: `translateY(${start}px)`, height }}
    >
      {render(index)}
    </div>
  );
});
