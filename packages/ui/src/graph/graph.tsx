/** A graph to look at and move in: drag or arrows to pan, wheel or + and − to zoom, 0 to see all, Enter to open. */
import { type KeyboardEvent, type PointerEvent, useCallback, useEffect, useRef, useState } from 'react';
import { type GraphNode, paint } from './paint.ts';
import { usePalette } from './palette.ts';
import { useLayout } from './use-layout.ts';
import {
  type Box,
  centreOn,
  firstView,
  fit,
  NODE_H,
  NODE_W,
  nodeX,
  nodeY,
  ROW_H,
  readPlace,
  type View,
  writePlace,
  zoomAt,
} from './view.ts';
import './graph.css';

interface GraphProps {
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly number[];
  readonly selected: number | null;
  readonly lit: ReadonlySet<number> | null;
  readonly onSelect: (node: number | null) => void;
  readonly onOpen: (node: number) => void;
  readonly label: string;
  /** Where the eye is, from the address; see `writePlace`. */
  readonly place?: string | undefined;
  readonly onPlace: (place: string) => void;
}

const CLICK_PX = 4;
const PAN_PX = 60;
const REST_MS = 400;

/** A short graph needs no tall picture; the limits are in the style. */
const heightOf = (rows: number): number => Math.max(300, rows * ROW_H + 160);

export function Graph({ nodes, edges, selected, lit, onSelect, onOpen, label, place, onPlace }: GraphProps) {
  const palette = usePalette();
  const layout = useLayout(nodes.length, edges);
  const canvas = useRef<HTMLCanvasElement>(null);
  const [box, setBox] = useState<Box | null>(null);
  const [view, setView] = useState<View | null>(null);
  const drag = useRef<{ x: number; y: number; view: View; hasMoved: boolean } | null>(null);

  useEffect(() => {
    const element = canvas.current;
    if (element === null) return;
    const observer = new ResizeObserver(([entry]) => {
      const { width = 0, height = 0 } = entry?.contentRect ?? {};
      if (width > 0 && height > 0) setBox({ width, height });
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, []);

  // Until somebody moves the picture it follows the size of the window.
  const isUntouched = useRef(true);
  const firstPlace = useRef(place);
  useEffect(() => {
    if (!isUntouched.current || layout === null || box === null) return;
    setView(readPlace(firstPlace.current, box) ?? firstView(layout.columns, layout.rows, box));
  }, [layout, box]);
  // Told once it rests: an address that changes with each frame is refused by browsers.
  const tellPlace = useRef(onPlace);
  tellPlace.current = onPlace;
  useEffect(() => {
    if (isUntouched.current || view === null || box === null) return;
    const timer = setTimeout(() => tellPlace.current(writePlace(view, box)), REST_MS);
    return () => clearTimeout(timer);
  }, [view, box]);
  const move = useCallback((change: (known: View) => View) => {
    isUntouched.current = false;
    setView((known) => known && change(known));
  }, []);

  useEffect(() => {
    const element = canvas.current;
    const context = element?.getContext('2d');
    if (element == null || context == null || layout === null || box === null || view === null) return;
    if (layout.column.length !== nodes.length) return;
    const frame = requestAnimationFrame(() => {
      const ratio = window.devicePixelRatio || 1;
      const [width, height] = [Math.round(box.width * ratio), Math.round(box.height * ratio)];
      if (element.width !== width || element.height !== height) Object.assign(element, { width, height });
      paint(context, { nodes, edges, layout, view, box, palette, selected, lit });
    });
    return () => cancelAnimationFrame(frame);
  }, [nodes, edges, layout, view, box, palette, selected, lit]);

  // What was chosen elsewhere, such as by a search, comes into sight.
  useEffect(() => {
    if (selected === null || layout === null || box === null) return;
    const [x, y] = [nodeX(layout.column[selected] ?? 0) + NODE_W / 2, nodeY(layout.row[selected] ?? 0) + NODE_H / 2];
    if (isUntouched.current && readPlace(firstPlace.current, box) !== null) return;
    isUntouched.current = false;
    setView((known) => {
      const zoom = Math.max(known?.zoom ?? 1, 0.5);
      if (known !== null && known.zoom >= 0.42) {
        const [sx, sy] = [x * known.zoom + known.x, y * known.zoom + known.y];
        if (sx > 60 && sy > 20 && sx < box.width - 60 && sy < box.height - 20) return known;
      }
      return centreOn(x, y, box, zoom);
    });
  }, [selected, layout, box]);

  useEffect(() => {
    const element = canvas.current;
    if (element === null) return;
    // React listens to wheels passively, which would scroll the page too.
    const onWheel = (event: WheelEvent) => {
      event.preventDefault();
      const at = { x: event.offsetX, y: event.offsetY };
      move((known) => zoomAt(known, at, Math.exp(-event.deltaY * (event.ctrlKey ? 0.01 : 0.0015))));
    };
    element.addEventListener('wheel', onWheel, { passive: false });
    return () => element.removeEventListener('wheel', onWheel);
  }, [move]);

  const fitAll = () => {
    if (layout !== null && box !== null) move(() => fit(layout.columns, layout.rows, box));
  };
  const nodeAt = (event: PointerEvent): number | null => {
    if (layout === null || view === null) return null;
    const { offsetX, offsetY } = event.nativeEvent;
    const [x, y] = [(offsetX - view.x) / view.zoom, (offsetY - view.y) / view.zoom];
    for (let node = 0; node < nodes.length; node++) {
      const [left, top] = [nodeX(layout.column[node] as number), nodeY(layout.row[node] as number)];
      if (x >= left && x <= left + NODE_W && y >= top && y <= top + NODE_H) return node;
    }
    return null;
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const pans: Record<string, readonly [number, number]> = {
      ArrowLeft: [PAN_PX, 0],
      ArrowRight: [-PAN_PX, 0],
      ArrowUp: [0, PAN_PX],
      ArrowDown: [0, -PAN_PX],
    };
    const pan = pans[event.key];
    const factor = { '+': 1.25, '=': 1.25, '-': 0.8 }[event.key];
    if (pan !== undefined) move((known) => ({ ...known, x: known.x + pan[0], y: known.y + pan[1] }));
    else if (factor !== undefined && box !== null)
      move((known) => zoomAt(known, { x: box.width / 2, y: box.height / 2 }, factor));
    else if (event.key === '0') fitAll();
    else if (event.key === 'Enter' && selected !== null) onOpen(selected);
    else if (event.key === 'Escape') onSelect(null);
    else return;
    event.preventDefault();
  };
  const zoomBy = (factor: number) =>
    box !== null && move((known) => zoomAt(known, { x: box.width / 2, y: box.height / 2 }, factor));

  return (
    <div className="graph" style={{ height: layout === null ? undefined : heightOf(layout.rows) }}>
      <canvas
        ref={canvas}
        role="img"
        aria-label={label}
        tabIndex={0}
        onKeyDown={onKeyDown}
        onPointerDown={(event) => {
          if (view === null) return;
          event.currentTarget.setPointerCapture(event.pointerId);
          drag.current = { x: event.clientX, y: event.clientY, view, hasMoved: false };
        }}
        onPointerMove={(event) => {
          const from = drag.current;
          if (from === null) {
            event.currentTarget.style.cursor = nodeAt(event) === null ? 'grab' : 'pointer';
            return;
          }
          const [dx, dy] = [event.clientX - from.x, event.clientY - from.y];
          if (Math.abs(dx) + Math.abs(dy) > CLICK_PX) from.hasMoved = true;
          if (from.hasMoved) move(() => ({ ...from.view, x: from.view.x + dx, y: from.view.y + dy }));
        }}
        onPointerUp={(event) => {
          const from = drag.current;
          drag.current = null;
          if (from === null || from.hasMoved) return;
          const node = nodeAt(event);
          if (node !== null && node === selected) onOpen(node);
          else onSelect(node);
        }}
        onDoubleClick={() => selected !== null && onOpen(selected)}
      />
      {layout === null && <div className="graph-note">Laying out …</div>}
      <div className="graph-tools">
        <button type="button" className="button small icon" aria-label="Zoom in" onClick={() => zoomBy(1.4)}>
          +
        </button>
        <button type="button" className="button small icon" aria-label="Zoom out" onClick={() => zoomBy(0.7)}>
          −
        </button>
        <button type="button" className="button small" onClick={fitAll}>
          Fit
        </button>
      </div>
    </div>
  );
}
