/** Where the eye is: which part of the drawing is on the screen, and how large. */
export interface View {
  readonly x: number;
  readonly y: number;
  readonly zoom: number;
}

export interface Box {
  readonly width: number;
  readonly height: number;
}

const MIN_ZOOM = 0.005;
const MAX_ZOOM = 2;

export const NODE_W = 166;
export const NODE_H = 34;
const COLUMN_W = 212;
export const ROW_H = 46;

/** Keeps the point under the pointer where it is. */
export function zoomAt(view: View, at: { readonly x: number; readonly y: number }, factor: number): View {
  const zoom = Math.min(MAX_ZOOM, Math.max(MIN_ZOOM, view.zoom * factor));
  const scale = zoom / view.zoom;
  return { zoom, x: at.x - (at.x - view.x) * scale, y: at.y - (at.y - view.y) * scale };
}

/** Shows everything, and no larger than life. */
export function fit(columns: number, rows: number, box: Box): View {
  const width = Math.max(1, columns) * COLUMN_W;
  const height = Math.max(1, rows) * ROW_H;
  const zoom = Math.min(1, Math.max(MIN_ZOOM, Math.min((box.width - 40) / width, (box.height - 40) / height)));
  return { zoom, x: (box.width - width * zoom) / 2 + ((COLUMN_W - NODE_W) / 2) * zoom, y: box.height / 2 };
}

/** Text can be read from here on. */
export const TEXT_FROM = 0.42;
/** Below it even a screen that moves shows too little of the whole. */
const TOO_LARGE = 0.15;

/** What is shown first: everything, or on a small screen the beginning of the graph in a size that can be read. */
export function firstView(columns: number, rows: number, box: Box): View {
  const whole = fit(columns, rows, box);
  if (whole.zoom >= TEXT_FROM || whole.zoom < TOO_LARGE) return whole;
  const zoom = 0.6;
  return { zoom, x: 14, y: box.height / 2 };
}

/** Puts a place of the drawing in the middle. */
export function centreOn(x: number, y: number, box: Box, zoom: number): View {
  return { zoom, x: box.width / 2 - x * zoom, y: box.height / 2 - y * zoom };
}

export const nodeX = (column: number): number => column * COLUMN_W;
export const nodeY = (row: number): number => row * ROW_H - NODE_H / 2;

/** The middle of what is seen and how large, as short text for an address: it shows the same in a window of another size. */
export function writePlace({ x, y, zoom }: View, box: Box): string {
  const [cx, cy] = [(box.width / 2 - x) / zoom, (box.height / 2 - y) / zoom];
  return `${Math.round(cx)},${Math.round(cy)},${Number(zoom.toPrecision(3))}`;
}

/** Null for what is no place. */
export function readPlace(text: string | undefined, box: Box): View | null {
  const [x, y, zoom] = (text ?? '').split(',').map(Number);
  if (x === undefined || y === undefined || zoom === undefined || !Number.isFinite(x + y) || !(zoom > 0)) return null;
  return centreOn(x, y, box, Math.min(MAX_ZOOM, Math.max(MIN_ZOOM, zoom)));
}
