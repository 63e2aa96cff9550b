/** Messages of the API as they came from the wire, and the REST requests that they become. */
import { SignalboxError } from '@signalbox/protocol';
import { MALFORMED } from '@signalbox/protocol/grpc';
import { parseJson } from '../../rest/body.ts';
import { badRequest } from '../../rest/errors.ts';
import { keyIn, type RestAnswer, type RestRequest } from './rest-call.ts';

/** A message as it came from the wire: text is never absent, numbers are 0. */
export type Message = Readonly<Record<string, unknown>>;

export interface ApiMethod {
  /** Asked first: when it is refused, so is the call. */
  readonly before?: (message: Message) => RestRequest;
  readonly ask: (message: Message) => RestRequest;
  readonly answer: (body: RestAnswer, message: Message) => object;
}

export const text = (message: Message, field: string): string => {
  const value = message[field];
  return typeof value === 'string' ? value : '';
};
export function refuseMalformed(message: unknown): void {
  if (message === MALFORMED)
    throw badRequest('', 'is not a message of this method: check the .proto that your client was made from');
}
/** An empty part would make another path of it, and so would these two. */
export const isPathPart = (value: string): boolean => value !== '' && value !== '.' && value !== '..';
export const part = (message: Message, field: string): string => {
  const value = text(message, field);
  if (!isPathPart(value)) throw badRequest(snake(field), 'must be given, and be neither . nor ..');
  return encodeURIComponent(value);
};
const snake = (field: string): string => field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
export const page = (message: Message) => ({ limit: Number(message.limit ?? 0), cursor: text(message, 'cursor') });
export const keyed = (message: Message) => ({ idempotencyKey: keyIn(text(message, 'idempotencyKey')) });

/** JSON text in a field; undefined when it is empty. */
export function json(message: Message, field: string): unknown {
  const value = text(message, field);
  if (value === '') return undefined;
  try {
    return parseJson(Buffer.from(value));
  } catch (error) {
    const [problem] = error instanceof SignalboxError ? (error.details.problems ?? []) : [];
    if (problem !== undefined && problem.path !== '') {
      throw badRequest(`${snake(field)}: ${problem.path}`, problem.message);
    }
    throw badRequest(snake(field), 'is not JSON, or is nested too deep');
  }
}

export const given = (message: Message, ...fields: readonly string[]): Record<string, string> =>
  Object.fromEntries(fields.map((field) => [field, text(message, field)]).filter(([, value]) => value !== ''));

export const items = (body: RestAnswer): readonly RestAnswer[] => (body.items ?? []) as readonly RestAnswer[];
export const asJson = (value: unknown): string => (value === null || value === undefined ? '' : JSON.stringify(value));
