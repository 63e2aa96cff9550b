import { ERRORS } from '@signalbox/protocol';
import { expect, test } from 'vitest';
import { openApi, openPath } from './openapi.ts';
import { errorsOf, GROUPS, isChange, OPERATIONS } from './operations/index.ts';

interface Described {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly security: readonly object[];
  readonly parameters: readonly {
    readonly name: string;
    readonly in: string;
    readonly required: boolean;
    readonly schema: object;
  }[];
  readonly requestBody?: { readonly content: Record<string, { readonly schema: object }> };
  readonly responses: Record<
    string,
    { readonly description: string; readonly content: Record<string, object>; readonly 'x-codes'?: string[] }
  >;
}
const document = JSON.parse(JSON.stringify(openApi())) as {
  openapi: string;
  paths: Record<string, Record<string, Described>>;
  components: { schemas: Record<string, object>; securitySchemes: Record<string, object> };
};
const all = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, described]) => ({ path, method, described })),
);

test('every operation is in the document, once', () => {
  expect(document.openapi).toBe('3.1.0');
  expect(all.map(({ path, method }) => `${method.toUpperCase()} ${path}`).sort()).toEqual(
    OPERATIONS.map(({ method, path }) => `${method} ${openPath(path)}`).sort(),
  );
  const ids = all.map(({ described }) => described.operationId);
  expect(new Set(ids).size).toBe(ids.length);
});

test.each(all)('$method $path is described as the format asks', ({ path, described }) => {
  const inPath = described.parameters.filter((parameter) => parameter.in === 'path');
  expect(inPath.map(({ name }) => name).sort()).toEqual(
    [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? '').sort(),
  );
  expect(inPath.every(({ required }) => required)).toBe(true);
  for (const { schema } of described.parameters) expect(schema).toBeTypeOf('object');
  expect(Object.keys(GROUPS)).toContain(described.tags[0]);
  expect(described.summary).toMatch(/\.$/);
  const operation = OPERATIONS.find(({ id }) => id === described.operationId);
  if (operation === undefined) throw new Error('no operation');
  expect(described.security.length > 0).toBe(operation.roles !== 'anyone');
  expect(described.parameters.some(({ name }) => name === 'Idempotency-Key')).toBe(isChange(operation));
  expect(described.responses[operation.status]).toBeDefined();
  const codes = Object.entries(described.responses).flatMap(([status, response]) =>
    (response['x-codes'] ?? []).map((code) => {
      expect(ERRORS[code as keyof typeof ERRORS].http).toBe(Number(status));
      return code;
    }),
  );
  expect(codes.sort()).toEqual([...errorsOf(operation)].sort());
});

test('every reference leads somewhere', () => {
  const refs = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map(([, ref]) => ref ?? '');
  expect(refs.length).toBeGreaterThan(50);
  for (const ref of new Set(refs)) {
    let found: unknown = document;
    for (const step of ref.slice(2).split('/')) found = (found as Record<string, unknown> | undefined)?.[step];
    expect([ref, typeof found]).toEqual([ref, 'object']);
  }
});
