/** The lines of an attempt as a stream. REST decides who may read it, when the first line is read. */
import type { ServerWritableStream } from '@grpc/grpc-js';
import { SignalboxError } from '@signalbox/protocol';
import { toIso } from '../../iso-instants.ts';
import type { AttemptLogPage, AttemptName, LogReader } from '../../logs/log-reader.ts';
import { badRequest } from '../../rest/errors.ts';
import { OpenStreams } from '../../rest/open-streams.ts';
import { READERS } from '../../rest/operations/operation.ts';
import { type CallGuard, callerIn } from '../caller.ts';
import { isDrained } from './drained.ts';
import { isPathPart, type Message, refuseMalformed, text } from './message.ts';
import { callRest, type RestPorts, statusOf } from './rest-call.ts';

export interface TaskLogsPorts extends RestPorts, CallGuard {
  readonly logs: LogReader;
}

type LineStream = ServerWritableStream<Message, object>;

const MAY_READ = { may: READERS, action: 'read logs' } as const;
const PAGE_LINES = 1_000;
const RECHECK_MS = 5_000;

const streams = new OpenStreams();

export async function getTaskLogs(stream: LineStream, ports: TaskLogsPorts): Promise<void> {
  const gone = new AbortController();
  stream.on('error', () => gone.abort());
  stream.on('cancelled', () => gone.abort());
  stream.on('close', () => gone.abort());
  const recheck = setInterval(() => void endWithCredential(stream, gone, ports), RECHECK_MS);
  try {
    const { tenantId, credential } = await callerIn(stream.metadata, ports, MAY_READ);
    const place = streams.begin(credential);
    gone.signal.addEventListener('abort', () => place.abort(), { once: true });
    const { run, task, attempt, from, follow } = requestOf(stream.request);
    const path = `/v1/runs/${encodeURIComponent(run)}/tasks/${encodeURIComponent(task)}/attempts/${attempt}/log`;
    await callRest(ports, stream, { method: 'GET', path, query: { limit: 1 } });
    const name: AttemptName = { tenantId, uid: run.toLowerCase(), task, attempt };
    const pages = follow ? ports.logs.followAttempt(name, from, gone.signal) : whole(ports.logs, name, from);
    for await (const { lines } of pages) {
      for (const { no, at, stream: source, text } of lines) {
        if (gone.signal.aborted) return;
        const isTaken = stream.write({ no, at: toIso(at), stream: source, text });
        if (!isTaken && !(await isDrained(stream, gone.signal)))
          throw new SignalboxError('OVERLOADED', { retryAfterMs: 5_000 });
      }
    }
    stream.end();
  } catch (error) {
    if (!gone.signal.aborted) stream.emit('error', statusOf(error, ports.logger));
  } finally {
    clearInterval(recheck);
    gone.abort(); // Gives its place to the next.
  }
}

/** A stream ends with the credential that opened it (I66); a database that is away ends none. */
async function endWithCredential(stream: LineStream, gone: AbortController, ports: TaskLogsPorts): Promise<void> {
  try {
    await callerIn(stream.metadata, ports, MAY_READ);
  } catch (error) {
    if (!(error instanceof SignalboxError) || error.retryable || gone.signal.aborted) return;
    stream.emit('error', statusOf(error, ports.logger));
    gone.abort();
  }
}

async function* whole(logs: LogReader, name: AttemptName, first: number): AsyncGenerator<AttemptLogPage, void> {
  for (let from = first; ; ) {
    const page = await logs.attemptPage(name, { from, limit: PAGE_LINES });
    if (page.lines.length === 0) return;
    yield page;
    from = page.next;
  }
}

function requestOf(message: Message) {
  refuseMalformed(message);
  const [run, task] = [text(message, 'runId'), text(message, 'task')];
  for (const [field, value] of [
    ['run_id', run],
    ['task', task],
  ] as const) {
    if (!isPathPart(value)) throw badRequest(field, 'must be given, and be neither . nor ..');
  }
  const no = Number(message.attempt ?? 0);
  const attempt: number | 'last' = no === 0 ? 'last' : no;
  return { run, task, attempt, from: Number(message.from ?? 0), follow: message.follow === true };
}
