/** Text with ANSI colours, as pieces with a style each. Everything else that a terminal would obey is left out or shown. */
import { SEQUENCE, uncoloured, visible } from '../parts/visible.ts';

export interface Piece {
  readonly text: string;
  /** 0 to 15, or `#rrggbb`. */
  readonly colour: number | string | null;
  readonly background: number | string | null;
  readonly isBold: boolean;
  readonly isDim: boolean;
}

type Style = Omit<Piece, 'text'>;
const PLAIN: Style = { colour: null, background: null, isBold: false, isDim: false };

export function readAnsi(line: string): Piece[] {
  const pieces: Piece[] = [];
  let style = PLAIN;
  let at = 0;
  const text = afterReturns(line);
  for (const match of text.matchAll(SEQUENCE)) {
    push(pieces, text.slice(at, match.index), style);
    at = match.index + match[0].length;
    if (match[1] !== undefined) style = restyle(style, match[1]);
  }
  push(pieces, text.slice(at), style);
  return pieces;
}

/** A progress line that was drawn over itself shows as it was at the end. */
function afterReturns(line: string): string {
  const trimmed = line.replace(/\r+$/, '');
  return trimmed.slice(trimmed.lastIndexOf('\r') + 1);
}

function push(pieces: Piece[], raw: string, style: Style): void {
  const text = visible(raw);
  if (text !== '') pieces.push({ text, ...style });
}

/** As plain text, for searching. */
export function plainOf(line: string): string {
  return uncoloured(afterReturns(line));
}

function restyle(before: Style, codes: string): Style {
  const numbers = codes === '' ? [0] : codes.split(/[;:]/).map(Number);
  let style = before;
  for (let at = 0; at < numbers.length; at++) {
    const code = numbers[at] ?? 0;
    if (code === 38 || code === 48) {
      const [colour, used] = longColour(numbers.slice(at + 1));
      style = code === 38 ? { ...style, colour } : { ...style, background: colour };
      at += used;
    } else style = simple(style, code);
  }
  return style;
}

function simple(style: Style, code: number): Style {
  if (code === 0) return PLAIN;
  if (code === 1) return { ...style, isBold: true };
  if (code === 2) return { ...style, isDim: true };
  if (code === 22) return { ...style, isBold: false, isDim: false };
  if (code >= 30 && code <= 37) return { ...style, colour: code - 30 };
  if (code === 39) return { ...style, colour: null };
  if (code >= 40 && code <= 47) return { ...style, background: code - 40 };
  if (code === 49) return { ...style, background: null };
  if (code >= 90 && code <= 97) return { ...style, colour: code - 82 };
  if (code >= 100 && code <= 107) return { ...style, background: code - 92 };
  return style;
}

/** `5;n` of 256 colours, or `2;r;g;b`; and how many numbers it takes. */
function longColour([kind, ...rest]: readonly number[]): [colour: number | string | null, used: number] {
  if (kind === 2) return [hex(rest[0] ?? 0, rest[1] ?? 0, rest[2] ?? 0), 4];
  if (kind !== 5) return [null, 1];
  const no = Math.min(255, Math.max(0, rest[0] ?? 0));
  if (no < 16) return [no, 2];
  if (no >= 232) return [hex(8 + (no - 232) * 10, 8 + (no - 232) * 10, 8 + (no - 232) * 10), 2];
  const level = (value: number) => (value === 0 ? 0 : 55 + value * 40);
  const cube = no - 16;
  return [hex(level(Math.floor(cube / 36)), level(Math.floor(cube / 6) % 6), level(cube % 6)), 2];
}

function hex(...parts: readonly number[]): string {
  return `#${parts
    .map((part) =>
      Math.min(255, Math.max(0, Math.round(part) || 0))
        .toString(16)
        .padStart(2, '0'),
    )
    .join('')}`;
}
