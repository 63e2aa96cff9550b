/**
 * JSON that means the same after it was read. `JSON.parse` silently changes three things: numbers that a double can't hold
 * (`9007199254740993`, `1e400`), keys that stand twice in one object (the last one wins), and nothing tells the caller.
 * Everything that takes JSON from outside reads it here; what would not survive is refused, with the path to it.
 *
 *   parseExactJson('{"id": 9007199254740993}')
 *   // InexactJson: id: the number 9007199254740993 can't be kept exactly (it would become 9007199254740992). Send it as a text: "9007199254740993"
 *
 * The cost is one more look at each character and each key. The exact place is looked for only when something is wrong.
 */

/** Longer paths are cut; they are for people. */
const MAX_PATH_CHARS = 200;
const MAX_SHOWN_CHARS = 40;
/** All integers of so many digits are exact, and all decimals of so many come back as they were. */
const SAFE_DIGITS = 15;
/** `toPrecision` takes no more. */
const MAX_DIGITS = 100;

export interface JsonProblem {
  /** As a person would write it: `items[3].id`; empty for the whole. */
  readonly path: string;
  /** A sentence without its subject's path. */
  readonly message: string;
}

export class InexactJson extends Error implements JsonProblem {
  override name = 'InexactJson';
  readonly path: string;
  readonly problem: string;

  constructor({ path, message }: JsonProblem) {
    super(path === '' ? message : `${path}: ${message}`);
    this.path = path;
    this.problem = message;
  }
}

/** Throws `SyntaxError` for what is no JSON, `InexactJson` for what would be changed by reading it. */
export function parseExactJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  const problem = inexactIn(text, value);
  if (problem !== null) throw new InexactJson(problem);
  return value;
}

/** What reading this text has changed; null when nothing. `value` is what `JSON.parse` made of it. */
export function inexactIn(text: string, value: unknown): JsonProblem | null {
  const colons = countColons(text);
  // Each key of an object has one colon. When fewer keys arrived than were written, some stood twice.
  if (colons >= 0 && (colons < 2 || colons === countKeys(value))) return null;
  return findProblem(text);
}

/** Numbers that JSON has no word for become `null` in `JSON.stringify`. The path to the first of them; null when there is none. */
export function lostNumberIn(value: unknown, text: string): JsonProblem | null {
  if (!text.includes('null')) return null;
  const stack: { readonly value: unknown; readonly path: Path | null }[] = [{ value, path: null }];
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    const { path } = next;
    if (typeof next.value === 'number' && !Number.isFinite(next.value)) {
      return { path: show(path), message: `${next.value} is not a JSON number. Use a text, or null.` };
    }
    if (typeof next.value !== 'object' || next.value === null) continue;
    // What has a way of its own to become JSON is not looked into.
    if (typeof (next.value as { toJSON?: unknown }).toJSON === 'function') continue;
    if (Array.isArray(next.value)) {
      for (const [step, inner] of next.value.entries()) stack.push({ value: inner, path: { step, before: path } });
    } else {
      for (const [step, inner] of Object.entries(next.value))
        stack.push({ value: inner, path: { step, before: path } });
    }
  }
  return null;
}

/** Whether the double that is nearest to this number, written with as many digits, is this number. */
export function isExactNumber(token: string): boolean {
  // The usual case: a program wrote it from a double.
  if (String(Number(token)) === token) return true;
  const parts = /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(token);
  if (parts === null) return false;
  const [, whole = '', fraction = '', exponent = '0'] = parts;
  const all = `${whole}${fraction}`;
  let from = 0;
  while (all.charCodeAt(from) === ZERO) from += 1;
  if (from === all.length) return true;
  let end = all.length;
  while (all.charCodeAt(end - 1) === ZERO) end -= 1;
  const digits = all.slice(from, end);
  const value = Math.abs(Number(token));
  if (!Number.isFinite(value) || value === 0 || digits.length > MAX_DIGITS) return false;
  // 0.d₁d₂… times ten to this.
  const magnitude = whole.length + Number(exponent) - from;
  const [mantissa = '', power = '0'] = value.toExponential(Math.max(0, digits.length - 1)).split('e');
  return mantissa.replace('.', '') === digits && Number(power) === magnitude - 1;
}

const QUOTE = 0x22;
const COLON = 0x3a;
const MINUS = 0x2d;
const ZERO = 0x30;
const NINE = 0x39;
const BACKSLASH = 0x5c;

/** Colons outside of texts; -1 when a number can't be kept. The text is JSON. */
function countColons(text: string): number {
  let colons = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === QUOTE) i = endOfText(text, i);
    else if (code === COLON) colons += 1;
    else if (code === MINUS || (code >= ZERO && code <= NINE)) {
      const end = endOfNumber(text, i);
      if (mayBeInexact(text, i, end) && !isExactNumber(text.slice(i, end))) return -1;
      i = end - 1;
    }
  }
  return colons;
}

/** The place of the quote that ends the text which begins here. */
function endOfText(text: string, from: number): number {
  for (let end = text.indexOf('"', from + 1); ; end = text.indexOf('"', end + 1)) {
    if (end < 0) return text.length;
    let slashes = 0;
    while (text.charCodeAt(end - 1 - slashes) === BACKSLASH) slashes += 1;
    if (slashes % 2 === 0) return end;
  }
}

function endOfNumber(text: string, from: number): number {
  let end = from + 1;
  for (; end < text.length; end++) {
    const code = text.charCodeAt(end);
    const isPart = (code >= ZERO && code <= NINE) || code === 0x2e || (code | 0x20) === 0x65 || code === 0x2b;
    if (!isPart && code !== MINUS) break;
  }
  return end;
}

/** Short ones without an exponent never are. */
function mayBeInexact(text: string, from: number, end: number): boolean {
  if (end - from > SAFE_DIGITS) return true;
  for (let i = from; i < end; i++) if ((text.charCodeAt(i) | 0x20) === 0x65) return true;
  return false;
}

function countKeys(value: unknown): number {
  let keys = 0;
  const stack: unknown[] = [value];
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    if (typeof next !== 'object' || next === null) continue;
    if (Array.isArray(next)) {
      for (const inner of next) if (typeof inner === 'object' && inner !== null) stack.push(inner);
      continue;
    }
    for (const key of Object.keys(next)) {
      keys += 1;
      const inner = (next as Record<string, unknown>)[key];
      if (typeof inner === 'object' && inner !== null) stack.push(inner);
    }
  }
  return keys;
}

interface Path {
  readonly step: string | number;
  readonly before: Path | null;
}

interface Level {
  /** Of an object; null for a list. */
  readonly keys: Set<string> | null;
  readonly path: Path | null;
  step: string | number;
}

/** Walks the text, which is JSON, and stops at the first thing that reading it would change. */
function findProblem(text: string): JsonProblem | null {
  const levels: Level[] = [];
  let expectsKey = false;
  for (let i = 0; i < text.length; i++) {
    const char = text[i]!;
    const level = levels.at(-1);
    if (char === '{' || char === '[') {
      levels.push({ keys: char === '{' ? new Set() : null, path: pathTo(level), step: 0 });
      expectsKey = char === '{';
    } else if (char === '}' || char === ']') {
      levels.pop();
      expectsKey = false;
    } else if (char === ',') {
      if (level?.keys === null) level.step = Number(level.step) + 1;
      else expectsKey = true;
    } else if (char === '"') {
      const end = endOfText(text, i);
      if (expectsKey && level !== undefined && level.keys !== null) {
        const key = JSON.parse(text.slice(i, end + 1)) as string;
        level.step = key;
        if (level.keys.has(key))
          return { path: show(pathTo(level)), message: 'stands twice in one object. Keep one of the two.' };
        level.keys.add(key);
        expectsKey = false;
      }
      i = end;
    } else if (char === '-' || (char >= '0' && char <= '9')) {
      const end = endOfNumber(text, i);
      const token = text.slice(i, end);
      if (!isExactNumber(token)) return { path: show(pathTo(level)), message: inexact(token) };
      i = end - 1;
    }
  }
  return null;
}

function inexact(token: string): string {
  const shown = token.length > MAX_SHOWN_CHARS ? `${token.slice(0, MAX_SHOWN_CHARS)}…` : token;
  const value = Number(token);
  const kept = Number.isFinite(value) ? `it would become ${value}` : 'it is too large';
  return `the number ${shown} can't be kept exactly (${kept}). Send it as a text, in quotes.`;
}

const pathTo = (level: Level | undefined): Path | null =>
  level === undefined ? null : { step: level.step, before: level.path };

/** The last steps when there are very many. */
function show(path: Path | null): string {
  let shown = '';
  for (let at = path; at !== null; at = at.before) {
    const isFirst = at.before === null;
    const step = typeof at.step === 'number' ? `[${at.step}]` : `${isFirst ? '' : '.'}${at.step}`;
    shown = step + shown;
    if (shown.length > MAX_PATH_CHARS) return `…${shown.slice(-MAX_PATH_CHARS)}`;
  }
  return shown;
}
