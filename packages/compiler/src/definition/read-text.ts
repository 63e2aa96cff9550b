/**
 * Reads YAML and JSON from untrusted authors as a value with the place of each part. YAML can do more than a dag needs, and
 * some of it is harmful: tags, duplicate keys, several documents, aliases that expand to gigabytes. These are refused.
 */

import { isExactNumber } from '@signalbox/protocol';
import {
  type Document,
  isAlias,
  isCollection,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
  type YAMLMap,
} from 'yaml';
import { NOWHERE, type Spot } from '../compiled.ts';

export const MAX_TEXT_BYTES = 4 * 1024 * 1024;
const MAX_DEPTH = 64;
/** Values in all, those that aliases stand for counted each time. */
const MAX_VALUES = 1_000_000;

interface TextFault extends Spot {
  readonly message: string;
  readonly remedy: string | null;
}

export interface ReadText {
  readonly value: unknown;
  /** Of `tasks[3].needs[0]`, or of the nearest thing around it that is there; `key` names a field of what the path leads to. */
  spotOf(path: string, key?: string): Spot;
}

type TextOutcome =
  | { readonly ok: true; readonly read: ReadText }
  | { readonly ok: false; readonly faults: TextFault[] };

export function readText(written: string, format: 'yaml' | 'json'): TextOutcome {
  const text = written.replace(/^\ufeff/, '');
  if (Buffer.byteLength(text) > MAX_TEXT_BYTES) {
    return refuse({ ...NOWHERE, message: `the file is larger than ${MAX_TEXT_BYTES} bytes`, remedy: 'Split it up.' });
  }
  if (format === 'json') {
    const fault = jsonFaultOf(text);
    if (fault !== null) return refuse(fault);
  }
  const lines = new LineCounter();
  let document: Document.Parsed;
  try {
    // Keys are compared below: the parser compares each with each, which a long list of them turns into hours.
    document = parseDocument(text, {
      uniqueKeys: false,
      lineCounter: lines,
      prettyErrors: false,
      stringKeys: true,
      logLevel: 'error',
    });
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return refuse({ ...NOWHERE, message: TOO_DEEP, remedy: null });
  }
  const spotAt = (offset: number | undefined): Spot => {
    if (offset === undefined) return NOWHERE;
    const { line, col } = lines.linePos(offset);
    return { line, column: col };
  };
  const [error] = document.errors;
  if (error !== undefined) return refuse({ ...spotAt(error.pos[0]), ...explain(error) });
  try {
    const value = new Unfolding().valueOf(document.contents, 1);
    return { ok: true, read: { value, spotOf: (path, key) => spotAt(offsetOf(document, path, key)) } };
  } catch (thrown) {
    if (!(thrown instanceof Refused)) throw thrown;
    return refuse({ ...spotAt(thrown.offset), message: thrown.message, remedy: thrown.remedy });
  }
}

const refuse = (fault: TextFault): TextOutcome => ({ ok: false, faults: [fault] });

const TOO_DEEP = `the file is nested deeper than ${MAX_DEPTH} levels`;

const EXPLAINED: Readonly<Record<string, { readonly message: string; readonly remedy: string }>> = {
  MULTIPLE_DOCS: { message: 'the file holds several documents', remedy: 'Give each dag a file of its own.' },
  NON_STRING_KEY: { message: 'a key is not a text', remedy: 'Put it in quotes.' },
  TAB_AS_INDENT: { message: 'a tab is used to indent', remedy: 'Indent with spaces.' },
};

function explain({ code, message }: { readonly code: string; readonly message: string }) {
  if (message.startsWith('Maximum call stack')) return { message: TOO_DEEP, remedy: null };
  return EXPLAINED[code] ?? { message: `this is not YAML: ${message}`, remedy: null };
}

class Refused extends Error {
  readonly offset: number | undefined;
  readonly remedy: string | null;

  constructor(node: Node, message: string, remedy: string | null) {
    super(message);
    this.offset = node.range?.[0];
    this.remedy = remedy;
  }
}

/** Makes plain values of nodes, and counts them: what aliases stand for costs as much as if it were written out. */
class Unfolding {
  /** Those before the place that it has come to; a later one of the same name takes the place of an earlier one. */
  readonly #anchors = new Map<string, Node>();
  #values = 0;

  valueOf(node: unknown, depth: number): unknown {
    if (node === null || node === undefined) return null;
    const here = node as Node;
    if (++this.#values > MAX_VALUES) throw new Refused(here, `there are more than ${MAX_VALUES} values`, UNFOLDED);
    if (depth > MAX_DEPTH) throw new Refused(here, TOO_DEEP, null);
    if (isAlias(here)) {
      const target = this.#anchors.get(here.source);
      if (target === undefined) throw new Refused(here, `there is no anchor &${here.source} before this`, null);
      return this.valueOf(target, depth + 1);
    }
    this.#note(here);
    if (isSeq(here)) return here.items.map((item) => this.valueOf(item, depth + 1));
    if (isMap(here)) return this.#fieldsOf(here, depth);
    if (!isScalar(here)) return null;
    if (typeof here.value === 'number' && !Number.isFinite(here.value)) {
      throw new Refused(here, `${String(here.value)} is not a JSON number`, 'Put it in quotes, or give a number.');
    }
    if (typeof here.value === 'number' && !isKept(here.source)) {
      const message = `the number ${here.source} cannot be stored exactly: it would become ${here.value}`;
      throw new Refused(here, message, 'Put it in quotes.');
    }
    return here.value;
  }

  #note(node: Node): void {
    if (!isScalar(node) && !isCollection(node)) return;
    // A scalar that only looks like a number has no tag; one that has is the author's.
    if (node.tag !== undefined) throw new Refused(node, `the tag ${node.tag} is not supported`, 'Remove it.');
    if (node.anchor !== undefined) this.#anchors.set(node.anchor, node);
  }

  #fieldsOf(map: YAMLMap, depth: number): Record<string, unknown> {
    const fields = new Map<string, unknown>();
    for (const { key, value } of map.items) {
      this.#note(key as Node);
      const name = isScalar(key) ? String(key.value) : '';
      // A merge would be one more way to unfold; nobody needs it in a dag.
      if (name === '<<') throw new Refused(key as Node, 'merge keys are not read', 'Write the fields out.');
      if (fields.has(name)) throw new Refused(key as Node, `the key ${name} is duplicated`, 'Keep one of the two.');
      fields.set(name, this.valueOf(value, depth + 1));
    }
    return Object.fromEntries(fields);
  }
}

/** Whether a number is still itself as a double. YAML has more ways to write one than JSON has: hexadecimal, `+1`, `.5`. */
function isKept(source: string | undefined): boolean {
  if (source === undefined) return true;
  const plain = source
    .replace(/^\+/, '')
    .replace(/^(-?)\./, '$10.')
    .replace(/\.(?=$|[eE])/, '');
  if (/^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(plain)) return isExactNumber(plain);
  // 0x and 0o.
  return Number.isSafeInteger(Number(source));
}

const UNFOLDED = 'Aliases count with their full size. Write the values out.';

/** The way there, as far as the file goes it. */
function offsetOf(document: Document, path: string, key: string | undefined): number | undefined {
  let node: unknown = document.contents;
  let offset = document.contents?.range?.[0];
  const steps = Array.from(path.matchAll(/[^.[\]]+/g), ([step]) => step);
  for (const step of key === undefined ? steps : [...steps, key]) {
    if (isAlias(node)) node = node.resolve(document);
    if (isSeq(node)) node = node.items[Number(step)];
    else if (isMap(node)) {
      const pair = node.items.find((item) => isScalar(item.key) && String(item.key.value) === step);
      if (pair === undefined) break;
      offset = (pair.key as Node).range?.[0];
      node = step === key ? null : pair.value;
    } else break;
    offset = (node as Node | null | undefined)?.range?.[0] ?? offset;
  }
  return offset;
}

/** The parser of YAML would take what no parser of JSON does. */
function jsonFaultOf(text: string): TextFault | null {
  try {
    JSON.parse(text);
    return null;
  } catch (error) {
    const { message } = error as Error;
    const position = Number(/at position (\d+)/.exec(message)?.[1] ?? firstNonToken(text));
    const before = text.slice(0, position).split('\n');
    const at = { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
    return { ...at, message: `this is not JSON: ${message.replace(/\s+/g, ' ')}`, remedy: null };
  }
}

const JSON_TOKEN = /\s+|[{}[\],:]|"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|true|false|null/y;

/** Some messages of the runtime quote what is wrong and do not say where it is. */
function firstNonToken(text: string): number {
  JSON_TOKEN.lastIndex = 0;
  let end = 0;
  while (JSON_TOKEN.test(text)) end = JSON_TOKEN.lastIndex;
  return end;
}
