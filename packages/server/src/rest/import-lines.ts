/**
 * Many things in one request, one per line (NDJSON). Lines are read, checked and created while the rest of the body comes in, some at a
 * time, so that a request needs little memory however long it is (I68). A line that is refused does not stop the others.
 */
import type { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import {
  type Imported,
  MAX_IMPORT_BYTES,
  MAX_IMPORT_LINE_BYTES,
  MAX_IMPORT_LINES,
  SignalboxError,
} from '@signalbox/protocol';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { parseJson } from './body.ts';

export const NDJSON = 'application/x-ndjson';
/** Created together. */
const PER_GROUP = 1_000;
/** A turn takes two: so many are being committed, so many decided, and so many wait, and none of the three waits for another. */
const GROUPS_UNDER_WAY = 6;
const MOST_ERRORS = 100;
const OVERLOADED_MS = 100;
const NEWLINE = 0x0a;

export interface Line<Item> {
  /** From 1. */
  readonly no: number;
  readonly item: Item;
}

/** Some lines that were refused, for one reason. */
export interface Refused<Item> {
  readonly lines: readonly Line<Item>[];
  readonly error: SignalboxError;
}

export interface Import<Item> {
  /** Throws a refusal. */
  parse(value: unknown): Item;
  /** What it could not create. Groups are numbered from 0 and begin in that order; lines that wait for their turn come again, alone. */
  create(lines: readonly Line<Item>[], group: number): Promise<readonly Refused<Item>[]>;
  leftMs(): number;
}

/** The routes in `room` take lines, and nothing else does. */
export function takeLines(room: FastifyInstance): void {
  room.addContentTypeParser(NDJSON, (_request, body, done) => done(null, body));
}

export async function importLines<Item>(request: FastifyRequest, work: Import<Item>): Promise<Imported> {
  const report = new Report();
  const underWay = new Set<Promise<void>>();
  let groups = 0;
  const begin = async (lines: readonly Line<Item>[]) => {
    while (underWay.size >= GROUPS_UNDER_WAY) await Promise.race(underWay);
    const made = createGroup(work, lines, groups++, report).finally(() => underWay.delete(made));
    underWay.add(made);
    // Whoever waits for it below is told. Until then the body is read, and a rejection that nobody hears would end the process.
    made.catch(() => undefined);
  };
  try {
    let group: Line<Item>[] = [];
    for await (const [no, text] of linesOf(bodyOf(request))) {
      const item = text === null ? lineTooLong() : parsed(work, text);
      if (item instanceof SignalboxError) report.refuse(no, 1, item);
      else group.push({ no, item });
      if (group.length < PER_GROUP) continue;
      await begin(group);
      group = [];
    }
    if (group.length > 0) await begin(group);
  } finally {
    // Also when the body is cut off: what has begun goes on, and nobody else waits for it.
    await Promise.all(underWay);
  }
  return report.told();
}

class Report {
  #created = 0;
  #refused = 0;
  readonly #errors: Imported['errors'] = [];

  create(count: number): void {
    this.#created += count;
  }

  refuse(line: number, lines: number, error: SignalboxError): void {
    this.#refused += lines;
    if (this.#errors.length < MOST_ERRORS) this.#errors.push({ line, lines, error: error.body() as never });
  }

  told(): Imported {
    return { created: this.#created, refused: this.#refused, errors: this.#errors.sort((a, b) => a.line - b.line) };
  }
}

async function createGroup<Item>(
  work: Import<Item>,
  lines: readonly Line<Item>[],
  group: number,
  report: Report,
): Promise<void> {
  let left = lines;
  while (left.length > 0) {
    const refused = await work.create(left, group);
    const again: Line<Item>[] = [];
    let count = left.length;
    for (const { lines: some, error } of refused) {
      count -= some.length;
      // Too much at once for the server: these lines wait for their turn, for as long as the request may take.
      if ((error.code === 'OVERLOADED' || error.code === 'LOAD_SHED') && work.leftMs() > 10 * OVERLOADED_MS)
        again.push(...some);
      else report.refuse(some[0]!.no, some.length, error);
    }
    report.create(count);
    left = again;
    if (again.length > 0) await pause(OVERLOADED_MS);
  }
}

function parsed<Item>(work: Import<Item>, text: Buffer): Item | SignalboxError {
  try {
    return work.parse(parseJson(text));
  } catch (error) {
    if (error instanceof SignalboxError) return error;
    throw error;
  }
}

function bodyOf({ body, headers }: FastifyRequest): Readable {
  if (typeof (body as Readable | undefined)?.pipe !== 'function') {
    const message = `must be lines of JSON: send content-type ${NDJSON}`;
    throw new SignalboxError('BAD_REQUEST', { problems: [{ path: '', message }] });
  }
  if (Number(headers['content-length'] ?? 0) > MAX_IMPORT_BYTES) throw tooLarge();
  return body as Readable;
}

/**
 * With their numbers; empty ones are passed over. Null for one that is too long: no more than a line is ever kept, so the time it takes
 * grows with the body, not with its square.
 */
async function* linesOf(body: Readable): AsyncGenerator<[number, Buffer | null]> {
  let [no, bytes] = [0, 0];
  let rest: Buffer = Buffer.alloc(0);
  let isTooLong = false;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_IMPORT_BYTES) throw tooLarge();
    const data = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let from = 0;
    for (let to = data.indexOf(NEWLINE); to >= 0; to = data.indexOf(NEWLINE, from)) {
      no += 1;
      if (no > MAX_IMPORT_LINES) throw tooManyLines();
      if (isTooLong || to - from > MAX_IMPORT_LINE_BYTES) yield [no, null];
      else if (hasText(data, from, to)) yield [no, data.subarray(from, to)];
      isTooLong = false;
      from = to + 1;
    }
    isTooLong ||= data.length - from > MAX_IMPORT_LINE_BYTES;
    rest = isTooLong ? Buffer.alloc(0) : data.subarray(from);
  }
  if (!isTooLong && !hasText(rest, 0, rest.length)) return;
  if (no + 1 > MAX_IMPORT_LINES) throw tooManyLines();
  yield [no + 1, isTooLong ? null : rest];
}

function hasText(data: Buffer, from: number, to: number): boolean {
  for (let at = from; at < to; at++) if (data[at]! > 0x20) return true;
  return false;
}

function tooLarge(): SignalboxError {
  return new SignalboxError('TOO_LARGE', { what: 'The body', limit: `${MAX_IMPORT_BYTES} bytes` });
}

function lineTooLong(): SignalboxError {
  return new SignalboxError('TOO_LARGE', { what: 'The line', limit: `${MAX_IMPORT_LINE_BYTES} bytes` });
}

function tooManyLines(): SignalboxError {
  return new SignalboxError('TOO_LARGE', { what: 'The number of lines', limit: `${MAX_IMPORT_LINES}` });
}
