/** A JSON Schema as a short type, as a person would write it. */
import type { Json } from '../openapi.ts';

const DEEPEST = 6;

export function shapeOf(schema: Json, named: Readonly<Record<string, Json>>, depth = 0): string {
  if (depth > DEEPEST) return '…';
  const same = (next: Json) => shapeOf(next, named, depth);
  const inner = (next: unknown) => shapeOf((next ?? {}) as Json, named, depth + 1);
  const { $ref, anyOf, oneOf, type } = schema;
  if (typeof $ref === 'string') {
    const found = resolve($ref, named);
    return found === null ? 'any' : inner(found);
  }
  const choices = (anyOf ?? oneOf) as readonly Json[] | undefined;
  if (choices !== undefined) return [...new Set(choices.map(same))].join(' | ');
  if (Array.isArray(schema.enum)) return schema.enum.map((word) => JSON.stringify(word)).join(' | ');
  if ('const' in schema) return JSON.stringify(schema.const);
  if (Array.isArray(type)) return type.join(' | ');
  if (type === 'array') return arrayOf(same((schema.items ?? {}) as Json));
  if (type === 'object') return objectOf(schema, inner, depth);
  return typeof type === 'string' ? type : 'any';
}

const arrayOf = (item: string): string => (item.includes(' | ') ? `(${item})[]` : `${item}[]`);

function objectOf(schema: Json, inner: (next: unknown) => string, depth: number): string {
  const properties = Object.entries((schema.properties ?? {}) as Record<string, Json>);
  const required = new Set((schema.required ?? []) as string[]);
  if (properties.length === 0) return schema.additionalProperties === undefined ? '{}' : '{ [name]: any }';
  const pad = '  '.repeat(depth + 1);
  const lines = properties.map(([name, value]) => `${pad}${name}${required.has(name) ? '' : '?'}: ${inner(value)}`);
  return `{\n${lines.join(',\n')}\n${'  '.repeat(depth)}}`;
}

function resolve(ref: string, named: Readonly<Record<string, Json>>): Json | null {
  const [, , , name, ...rest] = ref.split('/');
  let found: unknown = named[name ?? ''];
  for (const step of rest) found = (found as Json | undefined)?.[step];
  return (found as Json | undefined) ?? null;
}
