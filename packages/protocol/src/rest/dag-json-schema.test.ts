import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { dagJsonSchema } from './dag-json-schema.ts';

interface Field {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Field>>;
  readonly items?: Field;
  readonly anyOf?: readonly Field[];
}

function* undescribed(field: Field, path: string): Generator<string> {
  if (field.description === undefined) yield path;
  const inner = [field, ...(field.anyOf ?? [])].flatMap((each) => Object.entries(each.properties ?? {}));
  for (const [name, each] of inner) yield* undescribed(each, `${path}.${name}`);
  if (field.items?.properties !== undefined) yield* undescribed(field.items, `${path}[]`);
}

test('every field that a person may write is described', () => {
  expect([...undescribed(dagJsonSchema() as Field, '')]).toEqual([]);
});

test('it has what people write, and not what the compiler makes', () => {
  const { properties } = dagJsonSchema() as Field;
  expect(properties).not.toHaveProperty('bundle');
  expect(properties?.tasks?.items?.properties).toHaveProperty('call');
  expect(properties?.tasks?.items?.properties).not.toHaveProperty('function');
});

test('docs/reference/dag.schema.json is the one of today: make it with "npm run schema"', async () => {
  const page = await readFile(new URL('../../../../docs/reference/dag.schema.json', import.meta.url), 'utf8');
  expect(JSON.parse(page)).toEqual(dagJsonSchema());
});
