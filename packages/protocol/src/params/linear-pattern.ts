/**
 * Patterns of user's schemas, matched in time that grows with the text and the pattern only: the built-in matcher may take
 * for ever on a pattern that somebody chose for that (I68). The usual notation, without what needs going back: no
 * look-around, no back-references, no word boundaries. As in JSON Schema a pattern may match anywhere unless it has ^ and $.
 */

type Test = (code: number) => boolean;

/** One state each: go on with `next` when the test holds; or, without reading, to all of `free`. */
interface State {
  test: Test | 'begin' | 'end' | null;
  next: number;
  free: number[];
}

export const MAX_PATTERN_CHARS = 500;
const MAX_STATES = 2_000;
const STATES_PER_LOOK = 8;

export class PatternFault extends Error {}

export class LinearPattern {
  readonly #states: readonly State[];
  readonly #start: number;
  readonly #goal: number;

  /** Throws a `PatternFault` that says what is not understood, and where. */
  constructor(source: string) {
    const parser = new Parser(source);
    const { start, end } = parser.parse();
    this.#states = parser.states;
    this.#start = start;
    this.#goal = end;
  }

  /** What is wrong with a pattern; null when nothing is. */
  static faultOf(source: string): string | null {
    try {
      new Parser(source).parse();
      return null;
    } catch (error) {
      if (error instanceof PatternFault) return error.message;
      throw error;
    }
  }

  /** `mayGoOn` hears of the states that were tried since it was asked last; false ends the test without a match. */
  test(text: string, mayGoOn: (steps: number) => boolean = () => true): boolean {
    const codes = Array.from(text, (char) => char.codePointAt(0)!);
    let current = new Set<number>();
    for (let at = 0; at <= codes.length; at++) {
      this.#enter(this.#start, at, codes.length, current);
      if (current.has(this.#goal)) return true;
      if (at === codes.length) return false;
      const following = new Set<number>();
      for (const no of current) {
        const { test, next } = this.#states[no]!;
        if (typeof test === 'function' && test(codes[at]!)) this.#enter(next, at + 1, codes.length, following);
      }
      // A state costs about a tenth of a look; each character costs something, even if no state is left.
      if (!mayGoOn((1 + current.size) / STATES_PER_LOOK)) return false;
      current = following;
    }
    return false;
  }

  /** With all that can be reached from it without reading on. */
  #enter(first: number, at: number, length: number, into: Set<number>): void {
    const stack = [first];
    for (let no = stack.pop(); no !== undefined; no = stack.pop()) {
      if (into.has(no)) continue;
      into.add(no);
      const { test, next, free } = this.#states[no]!;
      if ((test === 'begin' && at === 0) || (test === 'end' && at === length)) stack.push(next);
      for (const other of free) stack.push(other);
    }
  }
}

interface Part {
  readonly start: number;
  readonly end: number;
}

class Parser {
  readonly states: State[] = [];
  readonly #source: string;
  readonly #chars: string[];
  #at = 0;
  #depth = 0;

  constructor(source: string) {
    if (source.length > MAX_PATTERN_CHARS) throw new PatternFault(`has over ${MAX_PATTERN_CHARS} characters`);
    this.#source = source;
    this.#chars = Array.from(source);
  }

  parse(): Part {
    const whole = this.#choice();
    if (this.#at < this.#chars.length) throw this.#fault(`"${this.#chars[this.#at]}" closes nothing`);
    return whole;
  }

  #choice(): Part {
    if (++this.#depth > 50) throw this.#fault('groups are nested too deeply');
    const start = this.#state();
    const end = this.#state();
    do {
      const branch = this.#sequence();
      this.states[start]!.free.push(branch.start);
      this.states[branch.end]!.free.push(end);
    } while (this.#takes('|'));
    this.#depth -= 1;
    return { start, end };
  }

  #sequence(): Part {
    const start = this.#state();
    let end = start;
    while (this.#at < this.#chars.length && this.#peek() !== '|' && this.#peek() !== ')') {
      const part = this.#repeated();
      this.states[end]!.free.push(part.start);
      end = part.end;
    }
    return { start, end };
  }

  #repeated(): Part {
    const [from, depth] = [this.#at, this.#depth];
    const part = this.#atom();
    const count = this.#count();
    if (count === null) return part;
    this.#takes('?'); // Which of several ways it matches is of no interest here.
    if (this.#count() !== null) throw this.#fault('one count follows another');
    return this.#repeat(from, depth, count);
  }

  /** The atom is read again for each copy: states are cheap, and their number is limited. */
  #repeat(from: number, depth: number, { least, most }: { least: number; most: number }): Part {
    const resumeAt = this.#at;
    const copy = (): Part => {
      [this.#at, this.#depth] = [from, depth];
      return this.#atom();
    };
    const start = this.#state();
    let end = start;
    for (let i = 0; i < least; i++) {
      const part = copy();
      this.states[end]!.free.push(part.start);
      end = part.end;
    }
    if (most === Number.POSITIVE_INFINITY) {
      const part = copy();
      const after = this.#state();
      this.states[end]!.free.push(part.start, after);
      this.states[part.end]!.free.push(part.start, after);
      end = after;
    } else {
      const after = this.#state();
      for (let i = least; i < most; i++) {
        const part = copy();
        this.states[end]!.free.push(part.start, after);
        end = part.end;
      }
      this.states[end]!.free.push(after);
      end = after;
    }
    this.#at = resumeAt;
    return { start, end };
  }

  #count(): { least: number; most: number } | null {
    if (this.#takes('*')) return { least: 0, most: Number.POSITIVE_INFINITY };
    if (this.#takes('+')) return { least: 1, most: Number.POSITIVE_INFINITY };
    if (this.#takes('?')) return { least: 0, most: 1 };
    if (this.#peek() !== '{') return null;
    const found = /^\{(\d{1,4})(,(\d{1,4})?)?\}/.exec(this.#chars.slice(this.#at, this.#at + 12).join(''));
    if (found === null) throw this.#fault('{ begins no count: write {2}, {2,} or {2,5}, or \\{ for the character');
    this.#at += found[0].length;
    const least = Number(found[1]);
    const most = found[2] === undefined ? least : found[3] === undefined ? Number.POSITIVE_INFINITY : Number(found[3]);
    if (most < least) throw this.#fault('a count goes backwards');
    return { least, most };
  }

  #atom(): Part {
    const char = this.#chars[this.#at++]!;
    switch (char) {
      case '(': {
        if (this.#takes('?') && !this.#takes(':')) {
          throw this.#fault('(? is not understood here: look-around and names are not, (?: is');
        }
        const inner = this.#choice();
        if (!this.#takes(')')) throw this.#fault('( is not closed');
        return inner;
      }
      case '[':
        return this.#reading(this.#class());
      case '.':
        return this.#reading((code) => code !== 10 && code !== 13 && code !== 0x2028 && code !== 0x2029);
      case '^':
        return this.#reading('begin');
      case '$':
        return this.#reading('end');
      case '\\':
        return this.#reading(this.#escape());
      case '*':
      case '+':
      case '?':
        throw this.#fault(`${char} has nothing before it to count`);
      default:
        return this.#reading(is(char.codePointAt(0)!));
    }
  }

  #escape(): Test {
    const char = this.#chars[this.#at++];
    if (char === undefined) throw this.#fault('\\ ends the pattern');
    const known = SETS[char] ?? CONTROLS[char];
    if (known !== undefined) return known;
    if (/[A-Za-z0-9]/.test(char)) throw this.#fault(`\\${char} is not understood`);
    return is(char.codePointAt(0)!);
  }

  #class(): Test {
    const isNegated = this.#takes('^');
    const tests: Test[] = [];
    while (!this.#takes(']')) {
      const char = this.#chars[this.#at++];
      if (char === undefined) throw this.#fault('[ is not closed');
      if (char === '\\') tests.push(this.#escape());
      else tests.push(this.#rangeFrom(char) ?? is(char.codePointAt(0)!));
    }
    return (code) => tests.some((test) => test(code)) !== isNegated;
  }

  #rangeFrom(low: string): Test | null {
    const high = this.#chars[this.#at + 1];
    if (this.#peek() !== '-' || high === undefined || high === ']') return null;
    if (high === '\\') throw this.#fault('a range ends with an escape');
    this.#at += 2;
    const [from, to] = [low.codePointAt(0)!, high.codePointAt(0)!];
    if (to < from) throw this.#fault(`the range ${low}-${high} goes backwards`);
    return (code) => code >= from && code <= to;
  }

  #reading(test: NonNullable<State['test']>): Part {
    const start = this.#state();
    const end = this.#state();
    this.states[start]!.test = test;
    this.states[start]!.next = end;
    return { start, end };
  }

  #state(): number {
    if (this.states.length >= MAX_STATES) throw this.#fault('it is too large: use smaller counts');
    this.states.push({ test: null, next: -1, free: [] });
    return this.states.length - 1;
  }

  #peek(): string {
    return this.#chars[this.#at] ?? '';
  }

  #takes(char: string): boolean {
    if (this.#peek() !== char) return false;
    this.#at += 1;
    return true;
  }

  #fault(what: string): PatternFault {
    return new PatternFault(`${what} (at character ${Math.min(this.#at, this.#source.length)})`);
  }
}

const is =
  (wanted: number): Test =>
  (code) =>
    code === wanted;
const isDigit: Test = (code) => code >= 48 && code <= 57;
const isWord: Test = (code) =>
  isDigit(code) || code === 95 || (code >= 65 && code <= 90) || (code >= 97 && code <= 122);
const isSpace: Test = (code) => /\s/.test(String.fromCodePoint(code));
const not =
  (test: Test): Test =>
  (code) =>
    !test(code);
const SETS: Readonly<Record<string, Test | undefined>> = {
  d: isDigit,
  D: not(isDigit),
  w: isWord,
  W: not(isWord),
  s: isSpace,
  S: not(isSpace),
};
const CONTROLS: Readonly<Record<string, Test | undefined>> = { n: is(10), r: is(13), t: is(9) };
