/** Draws the visible part of a graph. Far away, nodes are coloured marks without text, and edges thin out. */
import type { Shape, Tone } from '../parts/states.ts';
import type { Layout } from './layout.ts';
import { type Box, NODE_H, NODE_W, nodeX, nodeY, TEXT_FROM, type View } from './view.ts';

export interface GraphNode {
  readonly label: string;
  /** Beside the label, such as `12 / 40`. */
  readonly note: string;
  readonly tone: Tone;
  readonly shape: Shape;
  /** Teardowns, undos and hooks. */
  readonly isMinor: boolean;
}

export interface Palette {
  readonly surface: string;
  readonly ink: string;
  readonly faint: string;
  readonly line: string;
  readonly accent: string;
  readonly font: string;
  readonly tones: Readonly<Record<Tone, { readonly ink: string; readonly fill: string; readonly soft: string }>>;
}

interface Picture {
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly number[];
  readonly layout: Layout;
  readonly view: View;
  readonly box: Box;
  readonly palette: Palette;
  readonly selected: number | null;
  /** Others are faded; null for all. */
  readonly lit: ReadonlySet<number> | null;
}

const EDGES_FROM = 0.03;
const MOST_FAR_EDGES = 20_000;

export function paint(context: CanvasRenderingContext2D, picture: Picture): void {
  const { view, box, palette, layout, nodes } = picture;
  const ratio = globalThis.devicePixelRatio || 1;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, box.width, box.height);
  context.setTransform(ratio * view.zoom, 0, 0, ratio * view.zoom, ratio * view.x, ratio * view.y);
  const left = -view.x / view.zoom;
  const top = -view.y / view.zoom;
  const right = left + box.width / view.zoom;
  const bottom = top + box.height / view.zoom;
  paintEdges(context, picture, { left, top, right, bottom });
  context.textBaseline = 'middle';
  for (let node = 0; node < nodes.length; node++) {
    const x = nodeX(layout.column[node] as number);
    const y = nodeY(layout.row[node] as number);
    if (x > right || y > bottom || x + NODE_W < left || y + NODE_H < top) continue;
    context.globalAlpha = picture.lit === null || picture.lit.has(node) ? 1 : 0.18;
    paintNode(context, nodes[node] as GraphNode, {
      x,
      y,
      zoom: view.zoom,
      palette,
      isSelected: node === picture.selected,
    });
  }
  context.globalAlpha = 1;
}

interface Area {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

function paintEdges(
  context: CanvasRenderingContext2D,
  { edges, layout, view, palette, lit, selected }: Picture,
  area: Area,
): void {
  if (view.zoom < EDGES_FROM) return;
  const step = view.zoom < TEXT_FROM ? Math.max(1, Math.ceil(edges.length / 2 / MOST_FAR_EDGES)) : 1;
  const draw = (i: number) => {
    const [from, to] = [edges[i] as number, edges[i + 1] as number];
    const x1 = nodeX(layout.column[from] as number) + NODE_W;
    const x2 = nodeX(layout.column[to] as number);
    const y1 = nodeY(layout.row[from] as number) + NODE_H / 2;
    const y2 = nodeY(layout.row[to] as number) + NODE_H / 2;
    if (x2 < area.left || x1 > area.right || Math.max(y1, y2) < area.top || Math.min(y1, y2) > area.bottom) return;
    let [x, y] = [x1, y1];
    const curveTo = (nextX: number, nextY: number) => {
      const bend = Math.max(24, (nextX - x) / 2);
      context.bezierCurveTo(x + bend, y, nextX - bend, nextY, nextX, nextY);
    };
    context.moveTo(x, y);
    // Straight where it passes a column of nodes, curved between columns.
    layout.bends.get(i)?.forEach((row, at) => {
      const left = nodeX((layout.column[from] as number) + 1 + at);
      curveTo(left, nodeY(row) + NODE_H / 2);
      [x, y] = [left + NODE_W, nodeY(row) + NODE_H / 2];
      context.lineTo(x, y);
    });
    curveTo(x2, y2);
  };
  context.strokeStyle = palette.line;
  context.lineWidth = Math.max(1.2, 0.7 / view.zoom);
  context.globalAlpha = lit === null ? 0.9 : 0.3;
  context.beginPath();
  for (let i = 0; i < edges.length; i += 2 * step) draw(i);
  context.stroke();
  context.globalAlpha = 1;
  if (selected === null) return;
  context.strokeStyle = palette.accent;
  context.lineWidth = Math.max(2, 1.2 / view.zoom);
  context.beginPath();
  for (let i = 0; i < edges.length; i += 2) {
    if (edges[i] === selected || edges[i + 1] === selected) draw(i);
  }
  context.stroke();
}

interface Place {
  readonly x: number;
  readonly y: number;
  readonly zoom: number;
  readonly palette: Palette;
  readonly isSelected: boolean;
}

function paintNode(
  context: CanvasRenderingContext2D,
  node: GraphNode,
  { x, y, zoom, palette, isSelected }: Place,
): void {
  const tone = palette.tones[node.tone];
  if (zoom < TEXT_FROM) {
    context.fillStyle = tone.fill;
    context.fillRect(x, y, NODE_W, NODE_H);
    if (isSelected) outline(context, { x, y, colour: palette.accent, width: 3 / zoom });
    return;
  }
  context.beginPath();
  context.roundRect(x, y, NODE_W, NODE_H, node.isMinor ? 17 : 7);
  context.fillStyle = palette.surface;
  context.fill();
  context.fillStyle = tone.soft;
  context.fill();
  context.lineWidth = isSelected ? 2.5 : 1;
  context.strokeStyle = isSelected ? palette.accent : tone.fill;
  context.setLineDash(node.shape === 'dotted' ? [4, 3] : []);
  context.stroke();
  context.setLineDash([]);
  paintShape(context, node.shape, { x: x + 17, y: y + NODE_H / 2, ink: tone.ink, surface: palette.surface });
  context.fillStyle = palette.ink;
  context.font = `550 13px ${palette.font}`;
  const noteWidth = node.note === '' ? 0 : context.measureText(node.note).width + 8;
  context.fillText(cut(context, node.label, NODE_W - 42 - noteWidth), x + 31, y + NODE_H / 2 + 0.5);
  if (node.note === '') return;
  context.fillStyle = palette.faint;
  context.fillText(node.note, x + NODE_W - noteWidth - 2, y + NODE_H / 2 + 0.5);
}

function outline(
  context: CanvasRenderingContext2D,
  { x, y, colour, width }: { x: number; y: number; colour: string; width: number },
): void {
  context.strokeStyle = colour;
  context.lineWidth = width;
  context.strokeRect(x, y, NODE_W, NODE_H);
}

const known = new Map<string, string>();
const MOST_KNOWN = 20_000;

/** Measuring text is dear: what fits is remembered. */
function cut(context: CanvasRenderingContext2D, text: string, width: number): string {
  const key = `${Math.round(width)} ${text}`;
  const before = known.get(key);
  if (before !== undefined) return before;
  let shown = text;
  if (context.measureText(text).width > width) {
    let [low, high] = [0, text.length];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (context.measureText(`${text.slice(0, middle)}…`).width <= width) low = middle;
      else high = middle - 1;
    }
    shown = `${text.slice(0, low)}…`;
  }
  if (known.size > MOST_KNOWN) known.clear();
  known.set(key, shown);
  return shown;
}

interface Spot {
  readonly x: number;
  readonly y: number;
  readonly ink: string;
  readonly surface: string;
}

const R = 6.5;

/** The same shapes as elsewhere in the page. */
export function paintShape(context: CanvasRenderingContext2D, shape: Shape, { x, y, ink, surface }: Spot): void {
  context.lineWidth = 1.7;
  context.lineCap = 'round';
  context.strokeStyle = ink;
  context.fillStyle = ink;
  const line = (...points: readonly (readonly [number, number])[]) => {
    context.beginPath();
    points.forEach(([dx, dy], at) => (at === 0 ? context.moveTo(x + dx, y + dy) : context.lineTo(x + dx, y + dy)));
  };
  const circle = (radius: number) => {
    context.beginPath();
    context.arc(x, y, radius, 0, 2 * Math.PI);
  };
  switch (shape) {
    case 'check':
      circle(R);
      context.fill();
      context.strokeStyle = surface;
      line([-3, 0.2], [-0.8, 2.4], [3.2, -2.2]);
      break;
    case 'cross':
      line([-3, -R], [3, -R], [R, -3], [R, 3], [3, R], [-3, R], [-R, 3], [-R, -3]);
      context.fill();
      context.strokeStyle = surface;
      line([-2.4, -2.4], [2.4, 2.4]);
      context.stroke();
      line([2.4, -2.4], [-2.4, 2.4]);
      break;
    case 'triangle':
      line([0, -R], [R, R - 1], [-R, R - 1]);
      context.fill();
      return;
    case 'diamond':
      line([0, -R], [R, 0], [0, R], [-R, 0]);
      context.fill();
      return;
    case 'ring':
      context.beginPath();
      context.arc(x, y, 5.5, -Math.PI / 2, Math.PI);
      break;
    case 'half':
      circle(5.5);
      context.stroke();
      context.beginPath();
      context.arc(x, y, 5.5, -Math.PI / 2, Math.PI / 2);
      context.fill();
      return;
    case 'again':
      context.beginPath();
      context.arc(x, y, 5, -0.9, Math.PI * 1.4);
      break;
    case 'pause':
      line([-2.4, -4.5], [-2.4, 4.5]);
      context.stroke();
      line([2.4, -4.5], [2.4, 4.5]);
      break;
    case 'arrow':
      line([-4.5, -4], [-0.5, 0], [-4.5, 4]);
      context.stroke();
      line([0.5, -4], [4.5, 0], [0.5, 4]);
      break;
    case 'slash':
      circle(5.5);
      context.stroke();
      line([-3.6, 3.6], [3.6, -3.6]);
      break;
    case 'minus':
      line([-5, 0], [5, 0]);
      break;
    case 'stack':
      context.strokeRect(x - 6, y - 3, 8.5, 8.5);
      line([-3, -6], [5.5, -6], [5.5, 2.5]);
      break;
    case 'dotted':
      context.setLineDash([1.5, 3]);
      circle(5.5);
      context.stroke();
      context.setLineDash([]);
      return;
    default:
      circle(5.5);
  }
  context.stroke();
}
