/** Logs of an attempt and of a whole run: a page, everything as text, or lines as they arrive. */
import { Readable } from 'node:stream';
import { parseOr, readLogSchema, readRunLogSchema, SignalboxError } from '@signalbox/protocol';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { toIso } from '../iso-instants.ts';
import type { NumberedLine } from '../logs/frame.ts';
import type { AttemptName, LogReader, RunLine, RunName } from '../logs/log-reader.ts';
import { type RunCursor, readCursor, START, writeCursor } from '../logs/run-cursor.ts';
import { badRequest, fromDatabase } from './errors.ts';
import { callerOf } from './guards.ts';
import type { RestParts } from './rest-parts.ts';
import { idOf, type RunRequest } from './runs.ts';
import { sseFrame, streamEvents } from './sse.ts';

type AttemptRequest = FastifyRequest<{ Params: { id: string; task: string; n: string } }>;

const TEXT_PAGE = 1_000;
const STILL_THERE = sseFrame({ comment: '' });

export function logRoutes(app: FastifyInstance, parts: RestParts): void {
  const { logs } = parts;

  app.get('/v1/runs/:id/tasks/:task/attempts/:n/log', async (request: AttemptRequest, reply) => {
    const name = attemptOf(request);
    const query = parseOr(readLogSchema, request.query, 'BAD_REQUEST');
    const ask = (from: number, limit: number) =>
      fromDatabase(() => logs.attemptPage(name, { from, limit }), request.log);
    if (query.follow === 'true' || wants(request, 'text/event-stream')) {
      const from = Math.max(query.from, lastLine(request) + 1);
      // Before the first byte: what is not there is still a refusal with a status.
      await ask(from, 1);
      return streamEvents(request, reply, parts, (signal) => lineEvents(logs, name, from, signal));
    }
    const isFile = query.format === 'text';
    if (!isFile && !wants(request, 'text/plain')) {
      const { lines, ...page } = await ask(query.from, query.limit);
      return { lines: lines.map(lineAnswer), ...page };
    }
    const isWhole = (request.query as { limit?: unknown }).limit === undefined;
    const first = await ask(query.from, query.limit);
    if (isFile) reply.header('content-disposition', `attachment; filename="${fileName(name)}"`);
    if (first.missing.length > 0) reply.header('signalbox-missing', first.missing.join(','));
    return reply.type('text/plain; charset=utf-8').send(Readable.from(wholeText(first, isWhole, ask)));
  });

  app.get('/v1/runs/:id/log', async (request: RunRequest, reply) => {
    const name = runOf(request);
    const query = parseOr(readRunLogSchema, request.query, 'BAD_REQUEST');
    const given = query.cursor ?? (lastId(request) === '' ? undefined : lastId(request));
    const cursor = given === undefined ? START : readCursor(given);
    const ask = (limit: number) => fromDatabase(() => logs.runPage(name, { cursor, limit }), request.log);
    if (query.follow === 'true' || wants(request, 'text/event-stream')) {
      await ask(1);
      return streamEvents(request, reply, parts, (signal) => runEvents(logs, name, cursor, signal));
    }
    if (query.format === 'text') {
      const file = `attachment; filename="${name.uid}.log"`;
      const first = await ask(TEXT_PAGE);
      if (first.missing.length > 0) reply.header('signalbox-missing', first.missing.join(','));
      const next = (from: RunCursor) =>
        fromDatabase(() => logs.runPage(name, { cursor: from, limit: TEXT_PAGE }), request.log);
      reply.header('content-disposition', file).type('text/plain; charset=utf-8');
      return reply.send(Readable.from(wholeRunText(first, next)));
    }
    const { next, lines, isOver, missing } = await ask(query.limit);
    return { lines: lines.map(runLineAnswer), next: writeCursor(next), isOver, missing };
  });
}

/** Of characters that no header and no file system minds. */
const fileName = ({ uid, task, attempt }: AttemptName): string =>
  `${uid}-${task.replace(/[^A-Za-z0-9_.-]/g, '_')}-${attempt}.log`;

async function* lineEvents(
  logs: LogReader,
  name: AttemptName,
  from: number,
  signal: AbortSignal,
): AsyncGenerator<string, void> {
  yield STILL_THERE;
  for await (const { lines, isOver, missing } of logs.followAttempt(name, from, signal)) {
    const frames = lines.map((line) => sseFrame({ id: String(line.no), data: JSON.stringify(lineAnswer(line)) }));
    yield frames.join('') + ending(isOver, missing);
  }
}

/** Says that nothing more will come, or, where there was nothing to say, that somebody is there. */
function ending(isOver: boolean, missing: readonly string[]): string {
  return isOver ? sseFrame({ event: 'end', data: JSON.stringify({ missing }) }) : STILL_THERE;
}

async function* runEvents(
  logs: LogReader,
  name: RunName,
  from: Parameters<LogReader['followRun']>[1],
  signal: AbortSignal,
): AsyncGenerator<string, void> {
  yield STILL_THERE;
  for await (const { lines, next, isOver, missing } of logs.followRun(name, from, signal)) {
    // Only the end of a page is a place to go on from.
    const id = (i: number) => (i === lines.length - 1 ? { id: writeCursor(next) } : {});
    const frames = lines.map((line, i) => sseFrame({ ...id(i), data: JSON.stringify(runLineAnswer(line)) }));
    yield frames.join('') + ending(isOver, missing);
  }
}

type TextPage = Awaited<ReturnType<LogReader['attemptPage']>>;

async function* wholeText(
  first: TextPage,
  isWhole: boolean,
  ask: (from: number, limit: number) => Promise<TextPage>,
): AsyncGenerator<string, void> {
  for (let page = first; page.lines.length > 0; page = await ask(page.next, TEXT_PAGE)) {
    yield page.lines.map((line) => `${plain(line)}\n`).join('');
    if (!isWhole) return;
  }
}

type RunTextPage = Awaited<ReturnType<LogReader['runPage']>>;

/** What has been written so far, with the time and the task of each line. */
async function* wholeRunText(
  first: RunTextPage,
  ask: (from: RunCursor) => Promise<RunTextPage>,
): AsyncGenerator<string, void> {
  for (let page = first; page.lines.length > 0; page = await ask(page.next)) {
    yield page.lines.map((line) => `${toIso(line.at)} ${line.task} ${plain(line)}\n`).join('');
  }
}

/** What user code said through its context is JSON; people want its words. */
function plain({ stream, text }: NumberedLine): string {
  if (stream !== 'log') return text;
  try {
    const { level, message, fields } = JSON.parse(text) as { level: unknown; message: unknown; fields?: object };
    const more = fields === undefined || Object.keys(fields).length === 0 ? '' : ` ${JSON.stringify(fields)}`;
    return `${String(level)}: ${String(message)}${more}`;
  } catch {
    return text;
  }
}

function lineAnswer({ no, at, stream, text }: NumberedLine) {
  return { no, at: toIso(at), stream, text };
}

function runLineAnswer(line: RunLine) {
  return { task: line.task, attempt: line.attempt, ...lineAnswer(line) };
}

function runOf(request: RunRequest): RunName {
  const { tenantId } = callerOf(request);
  return { tenantId, uid: idOf(request) };
}

function attemptOf(request: AttemptRequest): AttemptName {
  const { task, n } = request.params;
  const run = runOf(request);
  if (n === 'last') return { ...run, task, attempt: 'last' };
  if (!/^[1-9]\d{0,8}$/.test(n)) throw new SignalboxError('ATTEMPT_NOT_FOUND', { task, attempt: n });
  return { ...run, task, attempt: Number(n) };
}

function wants(request: FastifyRequest, type: string): boolean {
  return (request.headers.accept ?? '').split(',').some((part) => part.trim().startsWith(type));
}

function lastId(request: FastifyRequest): string {
  return String(request.headers['last-event-id'] ?? '');
}

function lastLine(request: FastifyRequest): number {
  const id = lastId(request);
  if (id === '') return -1;
  if (!/^\d{1,10}$/.test(id)) throw badRequest('last-event-id', 'is not the number of a line');
  return Number(id);
}
