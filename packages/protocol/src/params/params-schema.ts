/** The JSON Schema of a dag's params as a value, and how a `$ref` in it is resolved. */

export type ParamsSchema = boolean | { readonly [keyword: string]: unknown };

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** `#`, `#/$defs/name` or `#/definitions/name`. */
export function findDefinition(root: unknown, reference: string): ParamsSchema | undefined {
  if (reference === '#') return root as ParamsSchema;
  const [, group, name] = /^#\/(\$defs|definitions)\/([^/~]+)$/.exec(reference) ?? [];
  if (group === undefined || name === undefined || !isObject(root)) return undefined;
  const definitions = Object.hasOwn(root, group) ? root[group] : undefined;
  return isObject(definitions) && Object.hasOwn(definitions, name) ? (definitions[name] as ParamsSchema) : undefined;
}
