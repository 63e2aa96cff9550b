/**
 * Conditions of tasks: `${{ params.mode == 'full' && length(tasks.find.output.files) > 0 }}`. Read once, when a dag is deployed,
 * into a tree of JSON that the engine walks; nothing is ever evaluated as code.
 *
 *   or := and ('||' and)*        and := test ('&&' test)*        test := unary [('==' | '!=' | '<' | '<=' | '>' | '>=') unary | 'in' list]
 *   unary := '!' unary | value   value := '(' or ')' | literal | reference | function '(' or (',' or)* ')'   list := '[' or (',' or)* ']'
 */
import { type Path, readSteps } from './references.ts';

export type Comparison = 'eq' | 'ne' | 'lt' | 'le' | 'gt' | 'ge';
export type FunctionName = 'length' | 'contains' | 'starts_with' | 'ends_with' | 'defined';

export type ExpressionShape =
  | { readonly op: 'value'; readonly value: string | number | boolean | null }
  | { readonly op: 'task'; readonly task: number; readonly fact: number }
  | { readonly op: 'error'; readonly task: number; readonly of: 'class' | 'code' }
  | { readonly op: 'params'; readonly fact: number }
  | { readonly op: 'not'; readonly of: ExpressionShape }
  | { readonly op: 'and' | 'or'; readonly of: readonly ExpressionShape[] }
  | { readonly op: Comparison; readonly left: ExpressionShape; readonly right: ExpressionShape }
  | { readonly op: 'in'; readonly left: ExpressionShape; readonly list: readonly ExpressionShape[] }
  | { readonly op: 'call'; readonly name: FunctionName; readonly args: readonly ExpressionShape[] };

/** Makes nodes of references; a text says what is wrong with one. */
export interface References {
  task(name: string, path: Path): ExpressionShape | string;
  /** Why a task failed. */
  error(name: string, of: 'class' | 'code'): ExpressionShape | string;
  params(path: Path): ExpressionShape | string;
  /** In conditions over events; no other condition may look at one. */
  event?(path: Path): ExpressionShape | string;
}

type ReadExpression =
  | { readonly ok: true; readonly expression: ExpressionShape }
  | { readonly ok: false; readonly message: string };

export const MAX_EXPRESSION_CHARS = 2_000;
const MAX_DEPTH = 32;
const MAX_NODES = 200;

const COMPARISONS: Readonly<Record<string, Comparison>> = {
  '==': 'eq',
  '!=': 'ne',
  '<': 'lt',
  '<=': 'le',
  '>': 'gt',
  '>=': 'ge',
};
const FUNCTIONS: Readonly<Record<FunctionName, number>> = {
  length: 1,
  contains: 2,
  starts_with: 2,
  ends_with: 2,
  defined: 1,
};
const NAMES = Object.keys(FUNCTIONS).join(', ');
const LITERALS: Readonly<Record<string, boolean | null>> = { true: true, false: false, null: null };

class Fault extends Error {}

/** With or without `${{ }}` around it. Columns in messages count from the first character of the text. */
export function readExpression(text: string, references: References): ReadExpression {
  const open = /^\s*\$\{\{/.exec(text);
  const close = /\}\}\s*$/.exec(text);
  if ((open === null) !== (close === null)) {
    return { ok: false, message: 'write the whole condition between ${{ and }}, or leave both out' };
  }
  try {
    const end = close === null ? text.length : close.index;
    return { ok: true, expression: new Parser(text.slice(0, end), open?.[0].length ?? 0, references).read() };
  } catch (error) {
    if (error instanceof Fault) return { ok: false, message: error.message };
    throw error;
  }
}

class Parser {
  readonly #text: string;
  readonly #references: References;
  #at: number;
  #nodes = 0;

  constructor(text: string, from: number, references: References) {
    this.#text = text;
    this.#at = from;
    this.#references = references;
  }

  read(): ExpressionShape {
    const expression = this.#or(0);
    if (this.#peek() !== '') throw this.#fault('the end, or an operator such as && or ==');
    return expression;
  }

  #or(depth: number): ExpressionShape {
    return this.#row('||', 'or', () => this.#row('&&', 'and', () => this.#test(depth)));
  }

  #row(sign: string, op: 'and' | 'or', next: () => ExpressionShape): ExpressionShape {
    const parts = [next()];
    while (this.#take(sign)) parts.push(next());
    const [only] = parts;
    return parts.length === 1 && only !== undefined ? only : this.#node({ op, of: parts });
  }

  #test(depth: number): ExpressionShape {
    const left = this.#unary(depth);
    const sign = /^(==|!=|<=|>=|<|>)/.exec(this.#rest())?.[1];
    const op = sign === undefined ? undefined : COMPARISONS[sign];
    if (sign !== undefined && op !== undefined) {
      this.#at += sign.length;
      return this.#node({ op, left, right: this.#unary(depth) });
    }
    if (!/^in(?![A-Za-z0-9_])/.test(this.#rest())) return left;
    this.#at += 2;
    if (!this.#take('[')) throw this.#fault('a list such as ["a", "b"] after in');
    return this.#node({ op: 'in', left, list: this.#listTo(']', depth) });
  }

  #unary(depth: number): ExpressionShape {
    if (depth >= MAX_DEPTH) throw new Fault(`is nested more than ${MAX_DEPTH} deep`);
    if (/^!(?!=)/.test(this.#rest())) {
      this.#at += 1;
      return this.#node({ op: 'not', of: this.#unary(depth + 1) });
    }
    return this.#value(depth);
  }

  #value(depth: number): ExpressionShape {
    if (this.#take('(')) {
      const inner = this.#or(depth + 1);
      if (!this.#take(')')) throw this.#fault(')');
      return inner;
    }
    const rest = this.#rest();
    const quote = rest[0];
    if (quote === "'" || quote === '"') return this.#string(quote);
    const number = /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?(?![A-Za-z0-9_.])/.exec(rest)?.[0];
    if (number !== undefined) {
      if (!Number.isFinite(Number(number))) throw this.#fault('a number that is not too large');
      this.#at += number.length;
      return this.#node({ op: 'value', value: Number(number) });
    }
    const word = /^[A-Za-z_][A-Za-z0-9_]*/.exec(rest)?.[0];
    if (word === undefined) throw this.#fault('a value');
    return this.#word(word, depth);
  }

  #word(word: string, depth: number): ExpressionShape {
    if (Object.hasOwn(LITERALS, word)) {
      this.#at += word.length;
      return this.#node({ op: 'value', value: LITERALS[word] ?? null });
    }
    if (word === 'secrets') throw this.#fault('no secret: a condition is stored and shown');
    if (word === 'tasks' || word === 'params') return this.#reference(word);
    if (word === 'event' && this.#references.event !== undefined) return this.#event();
    const count = Object.hasOwn(FUNCTIONS, word) ? FUNCTIONS[word as FunctionName] : undefined;
    if (count === undefined) {
      const references =
        this.#references.event === undefined
          ? 'tasks.<name>.output, tasks.<name>.error.class, params.<name>'
          : 'event.<name>, event.data.<name>';
      throw this.#fault(`${references}, a literal (texts stand in quotes) or a function (${NAMES})`);
    }
    const name = word as FunctionName;
    this.#at += word.length;
    if (!this.#take('(')) throw this.#fault(`( after ${name}`);
    const args = this.#listTo(')', depth);
    if (args.length !== count)
      throw new Fault(`${name} takes ${count === 1 ? 'one value' : `${count} values`}, not ${args.length}`);
    return this.#node({ op: 'call', name, args });
  }

  #event(): ExpressionShape {
    this.#at += 'event'.length;
    const { steps, length } = readSteps(this.#text.slice(this.#at));
    this.#at += length;
    const found = this.#references.event?.(steps) ?? 'is no event';
    if (typeof found === 'string') throw new Fault(found);
    return this.#node(found);
  }

  #reference(root: 'tasks' | 'params'): ExpressionShape {
    const from = this.#at;
    this.#at += root.length;
    const { steps, length } = readSteps(this.#text.slice(this.#at));
    this.#at += length;
    const shown = this.#text.slice(from, this.#at);
    const [name, output, ...path] = steps;
    if (root === 'tasks' && typeof name === 'string' && output === 'error') return this.#error(shown, name, path);
    const isOutput = typeof name === 'string' && output === 'output';
    if (root === 'tasks' && !isOutput)
      throw new Fault(`${shown} is no reference: a task has an output, error.class and error.code`);
    const found = root === 'params' ? this.#references.params(steps) : this.#references.task(String(name), path);
    if (typeof found === 'string') throw new Fault(found);
    return this.#node(found);
  }

  #error(shown: string, name: string, [of, ...rest]: Path): ExpressionShape {
    if ((of !== 'class' && of !== 'code') || rest.length > 0)
      throw new Fault(`${shown} is no reference: an error has class and code`);
    const found = this.#references.error(name, of);
    if (typeof found === 'string') throw new Fault(found);
    return this.#node(found);
  }

  #string(quote: string): ExpressionShape {
    const found = (quote === "'" ? /^'((?:[^'\\]|\\['"\\])*)'/ : /^"((?:[^"\\]|\\['"\\])*)"/).exec(this.#rest());
    if (found === null) throw this.#fault(`a text that ends with ${quote}, with \\ only before a quote or another \\`);
    this.#at += found[0].length;
    return this.#node({ op: 'value', value: (found[1] ?? '').replace(/\\(.)/g, '$1') });
  }

  /** Values up to the closing sign; at least one. */
  #listTo(close: string, depth: number): ExpressionShape[] {
    const items = [this.#or(depth + 1)];
    while (this.#take(',')) items.push(this.#or(depth + 1));
    if (!this.#take(close)) throw this.#fault(`, or ${close}`);
    return items;
  }

  #node(node: ExpressionShape): ExpressionShape {
    this.#nodes += 1;
    if (this.#nodes > MAX_NODES) throw new Fault(`has more than ${MAX_NODES} parts`);
    return node;
  }

  #take(sign: string): boolean {
    if (!this.#rest().startsWith(sign)) return false;
    this.#at += sign.length;
    return true;
  }

  #rest(): string {
    while (/\s/.test(this.#text[this.#at] ?? '')) this.#at += 1;
    return this.#text.slice(this.#at);
  }

  #peek(): string {
    return this.#rest().slice(0, 20);
  }

  #fault(wanted: string): Fault {
    const found = this.#peek();
    return new Fault(
      `at column ${this.#at + 1}: expected ${wanted}, found ${found === '' ? 'the end' : JSON.stringify(found)}`,
    );
  }
}
