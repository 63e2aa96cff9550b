/**
 * Which REST operation each gRPC call uses. It is found by making the call: a call makes a request, and a request belongs to
 * one operation.
 */
import { OPERATIONS, type Operation } from '../../rest/operations/index.ts';
import type { Message } from './message.ts';
import { API_METHODS } from './methods.ts';

/** Calls that are not made of one request: they read as it comes. */
const STREAMS: Readonly<Record<string, string>> = { GetTaskLogs: 'readLog', FollowEvents: 'listEvents' };

/** Every field has some value, so that each call can make its request. */
const anything = (more: Readonly<Record<string, unknown>> = {}): Message =>
  new Proxy(
    { ...more },
    {
      get: (given, field) => {
        if (typeof field !== 'string') return undefined;
        if (field in given) return given[field];
        if (field === 'tasks' || field === 'states') return ['x'];
        return field.endsWith('Json') ? '{"name":"x"}' : field.endsWith('Key') ? '' : 'x';
      },
    },
  );

/** By the id of the operation: the calls that make it. */
export function grpcCalls(): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  const add = (id: string, call: string) => found.set(id, [...new Set([...(found.get(id) ?? []), call])]);
  for (const [call, { ask }] of Object.entries(API_METHODS)) {
    // With an id and without one a call may be two operations.
    for (const message of [anything(), anything({ id: '' })]) {
      const { method, path } = ask(message);
      const operation = OPERATIONS.find((one) => one.method === method && isAt(one, path));
      if (operation === undefined) throw new Error(`${call} asks for ${method} ${path}, which is no operation.`);
      add(operation.id, call);
    }
  }
  for (const [call, id] of Object.entries(STREAMS)) add(id, call);
  return found;
}

/** A fixed word goes before a parameter: `/v1/dead-letters/replay` is no dead letter. */
function isAt({ path }: Operation, asked: string): boolean {
  const [parts, given] = [path.split('/'), asked.split('/')];
  return (
    parts.length === given.length &&
    parts.every((part, i) => (part.startsWith(':') ? given[i] === 'x' : part === given[i]))
  );
}
