/** The params of a dag, from its JSON Schema: one line each, or the schema itself if it is not a plain object. */
import type { DagDetails } from '@signalbox/protocol';
import { plain, plainLines, short, table } from '../output.ts';

type Schema = Readonly<Record<string, unknown>>;

export function paramsText(schema: DagDetails['params']): string {
  if (schema === null || schema === true) return 'params: any JSON';
  if (schema === false) return 'params: none';
  const properties = schema.properties as Readonly<Record<string, unknown>> | undefined;
  if (properties === undefined || Object.keys(properties).length === 0) {
    return `params: ${plainLines(JSON.stringify(schema))}`;
  }
  const required = Array.isArray(schema.required) ? schema.required : [];
  const rows = Object.entries(properties).map(([name, property]) => {
    const shape = (typeof property === 'object' && property !== null ? property : {}) as Schema;
    const need =
      shape.default !== undefined
        ? short(JSON.stringify(shape.default), 40)
        : required.includes(name)
          ? 'required'
          : '';
    return [
      plain(name),
      typeOf(shape),
      need,
      short(typeof shape.description === 'string' ? shape.description : '', 80),
    ];
  });
  const closed = schema.additionalProperties === false ? ' (only these)' : '';
  return table([`param${closed}`, 'type', 'default', 'description'], rows);
}

/** What may be given: `integer, from 1`, `"small" or "large"`, `array of string`. What has no short form is shown as JSON. */
function typeOf(schema: Schema): string {
  if (Array.isArray(schema.enum)) return short(schema.enum.map((value) => JSON.stringify(value)).join(' or '), 60);
  if (schema.const !== undefined) return short(JSON.stringify(schema.const), 60);
  const { description: _, default: __, title: ___, ...rest } = schema;
  if (rest.type === undefined) return Object.keys(rest).length === 0 ? 'any' : short(JSON.stringify(rest), 60);
  const types = (Array.isArray(rest.type) ? rest.type : [rest.type]).map(String).join(' or ');
  const items = rest.items as Schema | undefined;
  const inner = types === 'array' && typeof items === 'object' && items !== null ? ` of ${typeOf(items)}` : '';
  return [`${plain(types)}${inner}`, ...boundsOf(rest)].join(', ');
}

const BOUNDS: readonly (readonly [string, string])[] = [
  ['minimum', 'from'],
  ['exclusiveMinimum', 'above'],
  ['maximum', 'to'],
  ['exclusiveMaximum', 'below'],
  ['minLength', 'length from'],
  ['maxLength', 'length to'],
  ['minItems', 'items from'],
  ['maxItems', 'items to'],
  ['pattern', 'pattern'],
  ['format', 'format'],
];

const boundsOf = (schema: Schema): string[] =>
  BOUNDS.flatMap(([key, word]) => (schema[key] === undefined ? [] : [`${word} ${short(textOf(schema[key]), 40)}`]));

const textOf = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''));
