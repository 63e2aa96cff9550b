/** Rows of one height, of which only those in sight are in the page. */
import { useVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, useRef } from 'react';

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
          <div
            key={index}
            className="virtual-row"
            role="row"
            aria-rowindex={index + 1}
            style={{ transform: `translateY(${start}px)`, height }}
          >
            {children(index)}
          </div>
        ))}
      </div>
    </div>
  );
}
