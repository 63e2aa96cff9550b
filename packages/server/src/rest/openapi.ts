/** The API as an OpenAPI 3.1 document, made from the table of operations and the schemas that check requests. */
import { ERRORS, type ErrorCode, type ErrorEntry, problemBodySchema } from '@signalbox/protocol';
import { z } from 'zod';
import { VERSION } from '../version.ts';
import { errorsOf, GROUPS, isChange, OPERATIONS, type Operation, summaryOf } from './operations/index.ts';

export type Json = Readonly<Record<string, unknown>>;

const PROBLEM = { $ref: '#/components/schemas/Problem' };

export function openApi(): Json {
  const schemas: Record<string, Json> = { Problem: jsonSchemaOf(problemBodySchema, 'output') };
  const paths: Record<string, Record<string, Json>> = {};
  for (const operation of OPERATIONS) {
    const path = openPath(operation.path);
    paths[path] = { ...paths[path], [operation.method.toLowerCase()]: describe(operation, schemas) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Signalbox',
      version: VERSION,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      description:
        'Errors are application/problem+json with a code, a sentence and a remedy. Every change takes an Idempotency-Key: one key, one outcome, for a day. Lists take limit and cursor.',
    },
    tags: Object.entries(GROUPS).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      schemas,
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer', description: 'A token of the role that the operation needs.' },
        session: { type: 'apiKey', in: 'cookie', name: 'signalbox_session', description: 'Opened by a login link.' },
      },
    },
  };
}

/** `/v1/dags/:name` as `/v1/dags/{name}`. */
export function openPath(path: string): string {
  return path.replaceAll(/:(\w+)/g, '{$1}');
}

function describe(operation: Operation, schemas: Record<string, Json>): Json {
  const { id, group, roles, status, answer, also = [] } = operation;
  const content: Record<string, Json> = {};
  if (typeof answer === 'string') content[answer] = { schema: { type: 'string' } };
  else {
    const name = `${id[0]?.toUpperCase()}${id.slice(1)}Answer`;
    schemas[name] = jsonSchemaOf(answer, 'output');
    content['application/json'] = { schema: { $ref: `#/components/schemas/${name}` } };
  }
  for (const media of also) content[media] = { schema: { type: 'string' } };
  return {
    operationId: id,
    tags: [group],
    summary: summaryOf(operation),
    'x-roles': roles === 'anyone' ? [] : roles,
    security: roles === 'anyone' ? [] : [{ token: [] }, { session: [] }],
    parameters: parametersOf(operation),
    ...bodyOf(operation, schemas),
    responses: { [status]: { description: 'Done.', content }, ...refusalsOf(operation) },
  };
}

function parametersOf(operation: Operation): Json[] {
  const { params = {}, query, also } = operation;
  const inPath = Object.entries(params).map(([name, schema]) => parameter(name, 'path', schema, true));
  const shape = query?.shape ?? {};
  const inQuery = Object.entries(shape).map(([name, schema]) =>
    parameter(name, 'query', schema as z.ZodType, !(schema as z.ZodType).safeParse(undefined).success),
  );
  const headers = [
    ...(isChange(operation)
      ? [header('Idempotency-Key', 'One key, one outcome: a request that is sent again is not done again.')]
      : []),
    ...(also?.includes('text/event-stream') ? [header('Last-Event-ID', 'Goes on after this event.')] : []),
  ];
  return [...inPath, ...inQuery, ...headers];
}

function parameter(name: string, place: 'path' | 'query', schema: z.ZodType, required: boolean): Json {
  const { description, ...json } = jsonSchemaOf(schema, 'input');
  return { name, in: place, required, ...(description === undefined ? {} : { description }), schema: json };
}

function header(name: string, description: string): Json {
  return { name, in: 'header', required: false, description, schema: { type: 'string', maxLength: 1_200 } };
}

function bodyOf({ id, body, line, example }: Operation, schemas: Record<string, Json>): Json {
  if (body === undefined) return {};
  if (body === 'bytes') {
    return { requestBody: { required: true, content: { 'application/octet-stream': { schema: { type: 'string' } } } } };
  }
  const [of, type] = body === 'lines' ? [line, 'application/x-ndjson'] : [body, 'application/json'];
  if (of === undefined) return {};
  const name = `${id[0]?.toUpperCase()}${id.slice(1)}${body === 'lines' ? 'Line' : 'Body'}`;
  schemas[name] = relocated(jsonSchemaOf(of, 'input'), `#/components/schemas/${name}`) as Json;
  const content = { schema: { $ref: `#/components/schemas/${name}` }, ...(example === undefined ? {} : { example }) };
  return { requestBody: { required: true, content: { [type]: content } } };
}

/** References within a schema lead to the place that it has here. */
function relocated(value: unknown, place: string): unknown {
  if (Array.isArray(value)) return value.map((item) => relocated(item, place));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) =>
      key === '$ref' && typeof inner === 'string' && inner.startsWith('#')
        ? [key, `${place}${inner.slice(1)}`]
        : [key, relocated(inner, place)],
    ),
  );
}

function refusalsOf(operation: Operation): Json {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of errorsOf(operation)) {
    const { http } = ERRORS[code];
    byStatus.set(http, [...(byStatus.get(http) ?? []), code]);
  }
  const answers = [...byStatus]
    .sort(([a], [b]) => a - b)
    .map(([status, codes]) => {
      const description = codes.map((code) => `${code}: ${(ERRORS[code] as ErrorEntry).message}`).join(' ');
      return [status, { description, 'x-codes': codes, content: { 'application/problem+json': { schema: PROBLEM } } }];
    });
  return Object.fromEntries(answers) as Json;
}

function jsonSchemaOf(schema: z.ZodType, io: 'input' | 'output'): Json {
  const { $schema: _, ...json } = z.toJSONSchema(schema, { io, unrepresentable: 'any', reused: 'inline' });
  return json;
}
