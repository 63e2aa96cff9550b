/** The cells of one row of the grid, drawn: a hundred runs by fifty rows in sight would be five thousand elements. */
import { type PointerEvent, useEffect, useRef } from 'react';
import { type Palette, paintShape } from '../../graph/paint.ts';
import { lookOf } from '../../parts/states.ts';
import type { GridRow } from './grid-rows.ts';

const CELL = 20;
const HEIGHT = 26;

interface GridCellsProps {
  readonly row: GridRow;
  readonly label: string;
  readonly palette: Palette;
  readonly chosen: number | null;
  readonly onPoint: (column: number) => void;
  readonly onOpen: (column: number) => void;
}

export function GridCells({ row, label, palette, chosen, onPoint, onOpen }: GridCellsProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const { states } = row;
  const width = states.length * CELL;
  useEffect(() => {
    const context = canvas.current?.getContext('2d');
    if (context == null) return;
    const ratio = window.devicePixelRatio || 1;
    Object.assign(context.canvas, { width: Math.round(width * ratio), height: Math.round(HEIGHT * ratio) });
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    states.forEach((state, column) => {
      if (state === null) return;
      const { shape, tone } = lookOf(state);
      const spot = {
        x: column * CELL + CELL / 2,
        y: HEIGHT / 2,
        ink: palette.tones[tone].ink,
        surface: palette.surface,
      };
      paintShape(context, shape, spot);
    });
    if (chosen === null) return;
    context.strokeStyle = palette.accent;
    context.lineWidth = 2;
    context.strokeRect(chosen * CELL + 1, 3, CELL - 2, HEIGHT - 6);
  }, [states, width, palette, chosen]);
  const columnAt = (event: PointerEvent) =>
    Math.min(states.length - 1, Math.max(0, Math.floor(event.nativeEvent.offsetX / CELL)));
  return (
    <span role="cell" className="grid-cells" aria-label={label}>
      <canvas
        ref={canvas}
        style={{ width, height: HEIGHT }}
        onPointerMove={(event) => columnAt(event) !== chosen && onPoint(columnAt(event))}
        onPointerUp={(event) => onOpen(columnAt(event))}
      />
    </span>
  );
}
