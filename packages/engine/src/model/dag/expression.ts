/**
 * Conditions as they are stored: a tree of JSON, built by the parser at the edge. Evaluation is total and linear in the size
 * of the tree: no loops, no patterns, nothing that throws. An error during evaluation is a *fault*, with a sentence for
 * people.
 */
import { type Fact, isTruthy, type Json, NOTHING } from '../task/fact.ts';

export type Comparison = 'eq' | 'ne' | 'lt' | 'le' | 'gt' | 'ge';
export type FunctionName = 'length' | 'contains' | 'starts_with' | 'ends_with' | 'defined';

export type Expression =
  | { readonly op: 'value'; readonly value: string | number | boolean | null }
  /** `fact` is the number of the path among the facts of that task. */
  | { readonly op: 'task'; readonly task: number; readonly fact: number }
  /** Why a task failed; null for one that did not. */
  | { readonly op: 'error'; readonly task: number; readonly of: 'class' | 'code' }
  | { readonly op: 'params'; readonly fact: number }
  | { readonly op: 'not'; readonly of: Expression }
  | { readonly op: 'and' | 'or'; readonly of: readonly Expression[] }
  | { readonly op: Comparison; readonly left: Expression; readonly right: Expression }
  | { readonly op: 'in'; readonly left: Expression; readonly list: readonly Expression[] }
  | { readonly op: 'call'; readonly name: FunctionName; readonly args: readonly Expression[] };

export type Evaluated = { readonly ok: true; readonly fact: Fact } | { readonly ok: false; readonly fault: string };

interface FactSource {
  /** Nothing for a task that did not succeed. */
  ofTask(task: number, fact: number): Fact;
  /** Nothing for a task that did not fail by itself. */
  ofError(task: number, of: 'class' | 'code'): Fact;
  ofParams(fact: number): Fact;
}

export function evaluate(expression: Expression, source: FactSource): Evaluated {
  switch (expression.op) {
    case 'value':
      return known(expression.value);
    case 'task':
      return { ok: true, fact: source.ofTask(expression.task, expression.fact) };
    case 'error':
      return { ok: true, fact: source.ofError(expression.task, expression.of) };
    case 'params':
      return { ok: true, fact: source.ofParams(expression.fact) };
    case 'not': {
      const inner = evaluate(expression.of, source);
      return inner.ok ? known(!isTruthy(inner.fact)) : inner;
    }
    case 'and':
    case 'or': {
      // What decides is found from the left; what stands behind it is not looked at, nor can it be at fault.
      const deciding = expression.op === 'or';
      for (const part of expression.of) {
        const inner = evaluate(part, source);
        if (!inner.ok) return inner;
        if (isTruthy(inner.fact) === deciding) return known(deciding);
      }
      return known(!deciding);
    }
    case 'in': {
      const left = evaluate(expression.left, source);
      if (!left.ok) return left;
      for (const item of expression.list) {
        const right = evaluate(item, source);
        if (!right.ok) return right;
        const same = areEqual(left.fact, right.fact);
        if (same === null) return tooLarge();
        if (same) return known(true);
      }
      return known(false);
    }
    case 'call':
      return call(expression.name, expression.args, source);
    default:
      return compare(expression, source);
  }
}

/** The tasks whose outputs a condition looks at. */
export function tasksIn(expression: Expression, into: Set<number> = new Set()): Set<number> {
  switch (expression.op) {
    case 'value':
    case 'params':
      break;
    case 'task':
    case 'error':
      into.add(expression.task);
      break;
    case 'not':
      tasksIn(expression.of, into);
      break;
    case 'and':
    case 'or':
      for (const part of expression.of) tasksIn(part, into);
      break;
    case 'in':
      tasksIn(expression.left, into);
      for (const item of expression.list) tasksIn(item, into);
      break;
    case 'call':
      for (const arg of expression.args) tasksIn(arg, into);
      break;
    default:
      tasksIn(expression.left, into);
      tasksIn(expression.right, into);
  }
  return into;
}

const SIGNS = { eq: '==', ne: '!=', lt: '<', le: '<=', gt: '>', ge: '>=' } as const;

function compare(
  { op, left, right }: { readonly op: Comparison; readonly left: Expression; readonly right: Expression },
  source: FactSource,
): Evaluated {
  const a = evaluate(left, source);
  if (!a.ok) return a;
  const b = evaluate(right, source);
  if (!b.ok) return b;
  if (op === 'eq' || op === 'ne') {
    const same = areEqual(a.fact, b.fact);
    return same === null ? tooLarge() : known(same === (op === 'eq'));
  }
  const [x, y] = [plain(a.fact), plain(b.fact)];
  if (typeof x === 'number' && typeof y === 'number') return known(inOrder(op, x, y));
  if (typeof x === 'string' && typeof y === 'string') return known(inOrder(op, x, y));
  return {
    ok: false,
    fault: `${kindOf(a.fact)} ${SIGNS[op]} ${kindOf(b.fact)} has no answer: only two numbers or two texts have an order`,
  };
}

function inOrder<T extends string | number>(op: Comparison, x: T, y: T): boolean {
  if (op === 'lt') return x < y;
  if (op === 'le') return x <= y;
  return op === 'gt' ? x > y : x >= y;
}

function call(name: FunctionName, args: readonly Expression[], source: FactSource): Evaluated {
  const facts: Fact[] = [];
  for (const arg of args) {
    const inner = evaluate(arg, source);
    if (!inner.ok) return inner;
    facts.push(inner.fact);
  }
  const [first = NOTHING, second = NOTHING] = facts;
  if (name === 'defined') return known(plain(first) !== null);
  if (name === 'length') {
    const length = lengthOf(first);
    return length === null ? unfit(name, first, 'a text, a list or an object') : known(length);
  }
  if ('of' in first) return tooLarge();
  const [whole, part] = [first.v, plain(second)];
  if (name === 'contains' && Array.isArray(whole)) {
    return known(whole.some((item) => areEqual({ v: item as Json }, second) === true));
  }
  if (typeof whole !== 'string') return unfit(name, first, name === 'contains' ? 'a text or a list' : 'a text');
  if (typeof part !== 'string') return unfit(name, second, 'a text');
  if (name === 'contains') return known(whole.includes(part));
  return known(name === 'starts_with' ? whole.startsWith(part) : whole.endsWith(part));
}

/** Null when that can't be told: both are too large to be kept. */
function areEqual(a: Fact, b: Fact): boolean | null {
  if ('of' in a && 'of' in b) return a.of === b.of && a.length === b.length ? null : false;
  return 'v' in a && 'v' in b && JSON.stringify(ordered(a.v)) === JSON.stringify(ordered(b.v));
}

function ordered(value: Json): unknown {
  if (Array.isArray(value)) return value.map(ordered);
  if (typeof value !== 'object' || value === null) return value;
  return Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, inner]) => [key, ordered(inner)]);
}

function lengthOf(fact: Fact): number | null {
  if ('of' in fact) return fact.length;
  if (typeof fact.v === 'string' || Array.isArray(fact.v)) return fact.v.length;
  return typeof fact.v === 'object' && fact.v !== null ? Object.keys(fact.v).length : null;
}

/** Undefined for what is too large to be kept: equal to nothing, not even to null. */
function plain(fact: Fact): Json | undefined {
  return 'v' in fact ? fact.v : undefined;
}

export function kindOf(fact: Fact): string {
  if ('of' in fact) return fact.of;
  if (fact.v === null) return 'null';
  if (Array.isArray(fact.v)) return 'list';
  return typeof fact.v === 'string' ? 'text' : typeof fact.v;
}

const known = (value: Json): Evaluated => ({ ok: true, fact: { v: value } });

const unfit = (name: FunctionName, fact: Fact, wanted: string): Evaluated => ({
  ok: false,
  fault: `${name} takes ${wanted}, not ${kindOf(fact)}`,
});

const tooLarge = (): Evaluated => ({ ok: false, fault: 'a value of more than 1 KiB can only be asked for its length' });
