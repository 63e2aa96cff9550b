/**
 * Builds the function that writes the fields of one kind of change, from the engine's description of the kind.
 *
 * The function is generated as source text, such as `to.run(c.runId); to.uint(c.taskNo);`. Encoding is part of every commit,
 * and a loop that looks up fields by name took 1.5 times as long, because one place in the code would then read objects of
 * all shapes. Names come from our own descriptions, never from users.
 */
import type { Coding, Field, Fields } from '@signalbox/engine';
import { type Codes, codesOf } from './codes.ts';
import type { ByteWriter } from './journal-bytes.ts';

type WriteFields = (to: ByteWriter, change: object) => void;

export function writerOf(fields: Fields): WriteFields {
  const words: Codes<string>[] = [];
  const body = sourceOf(fields, 'c', words);
  // oxlint-disable-next-line typescript/no-implied-eval -- the source is made here, from the fields alone: see above.
  const make = new Function('words', `return (to, c) => {\n${body}\n};`) as (
    words: readonly Codes<string>[],
  ) => WriteFields;
  return make(words);
}

function sourceOf(fields: Fields, of: string, words: Codes<string>[]): string {
  const lines: string[] = [];
  const all = Object.entries(fields).map(([name, field]) => ({ field, value: `${of}.${name}` }));
  const withBit = all.filter(({ field }) => field.bit > 0);
  for (const one of all) {
    if (one === withBit[0]) {
      lines.push(
        `to.uint(${withBit.map(({ field, value }) => `(${isThere(field, value)} ? ${field.bit} : 0)`).join(' + ')});`,
      );
    }
    const line = lineOf(one.field, one.value, words);
    const { onlyWith } = one.field;
    lines.push(onlyWith === null ? line : `if (${of}.${onlyWith} !== null) { ${line} }`);
  }
  return lines.join('\n');
}

function lineOf({ coding, isNullable, bit }: Field<unknown>, value: string, words: Codes<string>[]): string {
  const write = valueLine(coding, value, words);
  // A bit says all there is to say of a flag, a mark or a trace.
  if (bit > 0) return isNullable ? `if (${value} != null) { ${write} }` : '';
  return isNullable ? `if (${value} == null) to.flag(false); else { to.flag(true); ${write} }` : write;
}

function isThere({ coding, isNullable }: Field<unknown>, value: string): string {
  return isNullable || coding.as === 'trace' ? `${value} != null` : `${value} === true`;
}

function valueLine(coding: Coding, value: string, words: Codes<string>[]): string {
  switch (coding.as) {
    case 'uint':
    case 'run':
    case 'instant':
    case 'text':
    case 'uuid':
    case 'flag':
      return `to.${coding.as}(${value});`;
    case 'json':
      return `to.text(JSON.stringify(${value}));`;
    case 'word':
      return `to.uint(words[${words.push(codesOf(coding.list)) - 1}].code(${value}));`;
    case 'uintOrNull':
      return `to.uint(${value} ?? 0);`;
    case 'trace':
      return `to.flag(${value} !== null);`;
    case 'mark':
      return `to.flag(${value} === true);`;
    case 'omitted':
      return '';
    case 'record':
      return sourceOf(coding.fields, value, words);
    case 'list': {
      const element = `of${words.length}_${value.length}`;
      const body = valueLine(coding.of, element, words);
      return `to.uint(${value}.length);\nfor (const ${element} of ${value}) {\n${body}\n}`;
    }
  }
}
