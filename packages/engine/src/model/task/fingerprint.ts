/**
 * What failures of one cause have in common: a number computed from class, code and the text of the error without its
 * varying parts. Two tasks that hit the same dead database have the same fingerprint, whatever rows they worked on.
 *
 * Pure and linear in the text, because errors come from user code. It uses only the first line and the first frame.
 */
import type { AttemptOutcome } from './outcome.ts';

/** 48 bits, never 0: fits a number, a bigint column, and twelve hex digits. */
export type Fingerprint = number & { readonly brand: 'Fingerprint' };

export interface Failure {
  readonly outcome: AttemptOutcome;
  readonly code: string | null;
  readonly error: string | null;
}

/** With a scope: failures of one text are one only within it. */
export function fingerprintOf({ outcome, code, error }: Failure, scope: string | null = null): Fingerprint {
  const cause = `${outcome}\n${(code ?? '').slice(0, MAX_LINE)}\n${normalizeError(error ?? '')}`;
  return hash48(scope === null ? cause : `${cause}\n${scope}`);
}

/** As people see it. */
export function fingerprintText(fingerprint: number): string {
  return fingerprint.toString(16).padStart(12, '0');
}

/** Null when the text is none. */
export function parseFingerprint(text: string): Fingerprint | null {
  return /^[0-9a-f]{12}$/.test(text) ? (Number.parseInt(text, 16) as Fingerprint) : null;
}

const MAX_LINE = 1_000;
/** Where the first frame is looked for. */
const MAX_LOOK = 8_000;

/** The first line and, if there is one, the first frame, with a placeholder for all that varies. */
export function normalizeError(error: string): string {
  const text = error.slice(0, MAX_LOOK);
  const end = text.indexOf('\n');
  const first = normalizeLine(end < 0 ? text : text.slice(0, end));
  const frame = end < 0 ? null : firstFrame(text, end + 1);
  return frame === null ? first : `${first}\n${normalizeLine(frame)}`;
}

/** The first line of an error, as lists show it. */
export function firstLineOf(error: string | null, most = 300): string | null {
  if (error === null) return null;
  const end = error.slice(0, most + 1).search(/[\r\n]/);
  return end < 0 ? error.slice(0, most) : error.slice(0, end);
}

function firstFrame(text: string, from: number): string | null {
  for (let start = from; start < text.length; ) {
    const end = text.indexOf('\n', start);
    const line = text.slice(start, end < 0 ? text.length : end).trimStart();
    if (line.startsWith('at ') || line.startsWith('File "')) return line;
    if (end < 0) return null;
    start = end + 1;
  }
  return null;
}

function normalizeLine(whole: string): string {
  const line = whole.slice(0, MAX_LINE);
  const closers = closingQuotes(line);
  let out = '';
  for (let at = 0; at < line.length; ) {
    const char = line[at]!;
    const closer = closers[at]!;
    if (closer > 0) {
      // What is quoted is a value, but for the path of a frame: that says where it happened.
      out += line.startsWith('File "') && at === 5 ? normalizeWord(line.slice(at + 1, closer)) : '"…"';
      at = closer + 1;
    } else if (isBreak(char)) {
      if (!isSpace(char)) out += char;
      else if (!out.endsWith(' ')) out += ' ';
      at += 1;
    } else {
      let end = at + 1;
      while (end < line.length && !isBreak(line[end]!) && closers[end] === 0) end += 1;
      out += normalizeWord(line.slice(at, end));
      at = end;
    }
  }
  return out.trim();
}

/** For each opening quote the place of its closing one, else 0. An apostrophe within a word is no quote. */
function closingQuotes(line: string): Int32Array {
  const closers = new Int32Array(line.length);
  const next: Record<string, number> = { '"': 0, "'": 0, '`': 0 };
  for (let at = line.length - 1; at >= 0; at--) {
    const char = line[at]!;
    const known = next[char];
    if (known === undefined) continue;
    if (known > at + 1 && !isWordChar(line[at - 1])) closers[at] = known;
    if (!isWordChar(line[at + 1])) next[char] = at;
  }
  return closers;
}

/** A word, a path, an id, a time: what has no meaning of its own becomes a placeholder. */
function normalizeWord(word: string): string {
  if (!/[/\\]/.test(word)) return normalizePlain(word);
  const scheme = /^[a-z][a-z0-9+.-]{0,20}:\/\//i.exec(word)?.[0] ?? '';
  const segments = word.slice(scheme.length).split(/[/\\]+/);
  const [host, last] = [segments[0]!, segments.at(-1)!];
  // Of a path only its end tells what it is about; of an address, where it leads.
  if (scheme !== '' && scheme !== 'file://') return `${scheme}${normalizePlain(host)}/…`;
  return `…/${normalizePlain(last)}`;
}

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi;
const SEPARATORS = /([-_.:@+%&?#*!=])/;

function normalizePlain(word: string): string {
  let out = '';
  for (const piece of word.replace(UUID, '0').split(SEPARATORS)) out += normalizePiece(piece);
  // An id, an address or a time of many parts is one placeholder.
  return /^[0#TZ:.+_-]*0[0#TZ:.+_-]*$/.test(out) ? '0' : out;
}

/** `0` stands for what was a number, or a piece of an id. */
function normalizePiece(piece: string): string {
  if (piece.length === 0 || !/[0-9]/.test(piece)) return /^[0-9a-f]{8,}$/.test(piece) ? '0' : piece;
  if (/^(0x)?[0-9a-f]+$/i.test(piece)) return '0';
  const plain = piece.replace(/[0-9]+/g, '0');
  // Letters and digits in turns: an id, not a word.
  return plain.length > 6 && plain.split('0').length > 3 ? '0' : plain;
}

function isSpace(char: string): boolean {
  return char === ' ' || char === '\t' || char === '\r';
}

function isBreak(char: string): boolean {
  return isSpace(char) || '()[]{}<>,;|"\'`'.includes(char);
}

function isWordChar(char: string | undefined): boolean {
  return char !== undefined && /[\p{L}\p{N}_]/u.test(char);
}

/** Two rounds of 32 bits each, mixed; no library, and the same everywhere. */
function hash48(text: string): Fingerprint {
  let [a, b] = [0xdeadbeef, 0x41c6ce57];
  for (let i = 0; i < text.length; i++) {
    const char = text.charCodeAt(i);
    a = Math.imul(a ^ char, 2_654_435_761);
    b = Math.imul(b ^ char, 1_597_334_677);
  }
  a = Math.imul(a ^ (a >>> 16), 2_246_822_507) ^ Math.imul(b ^ (b >>> 13), 3_266_489_909);
  b = Math.imul(b ^ (b >>> 16), 2_246_822_507) ^ Math.imul(a ^ (a >>> 13), 3_266_489_909);
  return ((a >>> 16) * 2 ** 32 + (b >>> 0) || 1) as Fingerprint;
}
