/**
 * How a process sends the requests that a function makes through its context: HTTP on a socket file in the private folder of
 * the attempt. Only the worker's own account can open it, nothing listens on a port, and it is removed with the attempt.
 */
import {
  createServer as createHttpServer,
  type Server as HttpServer,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import { createServer, type Server, type Socket } from 'node:net';
import { InexactJson, parseExactJson } from '@signalbox/protocol/exact-json';
import {
  MAX_ADDED_BYTES,
  MAX_CHECKPOINT_BYTES,
  MAX_OUTPUT_BYTES,
  MAX_PROGRESS_NOTE_CHARS,
  MAX_TIMEOUT_MS,
} from '@signalbox/protocol/limits';
import { AttemptStopped, isPermanent } from '@signalbox/sdk';
import type { AttemptRequester } from '@signalbox/sdk/attempt-requests';
import { readSaid, type SaidFailure } from './said-failure.ts';

/** A process has few of them open at a time; more is no use of it. */
const MOST_CONNECTIONS = 32;
const MOST_BODY_BYTES = Math.max(MAX_CHECKPOINT_BYTES, MAX_OUTPUT_BYTES);

interface DoorParts {
  readonly requester: AttemptRequester;
  /** JSON text of the newest checkpoint; empty for none. */
  readonly checkpoint: () => string;
  readonly onCheckpoint: (value: string) => Promise<void>;
  /** What `GET /attempt` answers. */
  readonly about: Readonly<Record<string, unknown>>;
}

interface Answer {
  readonly status: number;
  /** JSON text; nothing when it is left out. */
  readonly body?: string;
}

const DONE: Answer = { status: 204 };

export class AttemptDoor {
  readonly #parts: DoorParts;
  readonly #server: Server;
  #http: HttpServer | null = null;
  readonly #open = new Set<Socket>();
  #isClosed = false;
  /** JSON text that was given as the output; null when none was. */
  output: string | null = null;
  /** What an end that is no success means, as the process says. */
  failure: SaidFailure | null = null;

  constructor(parts: DoorParts) {
    this.#parts = parts;
    this.#server = createServer((socket) => this.#greet(socket));
    this.#server.maxConnections = MOST_CONNECTIONS;
  }

  /** Its folder is private, so that nobody reaches it before its own mode is set. */
  open(path: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen({ path, readableAll: false, writableAll: false }, () => resolve());
    });
  }

  close(): void {
    this.#isClosed = true;
    this.#server.close();
    for (const socket of this.#open) socket.destroy();
  }

  /** Most processes never come here, so what speaks HTTP is made for the first that does. */
  #greet(socket: Socket): void {
    if (this.#isClosed) {
      socket.destroy();
      return;
    }
    this.#open.add(socket);
    socket.once('close', () => this.#open.delete(socket));
    if (this.#http === null) {
      this.#http = createHttpServer((request, response) => void this.#serve(request, response));
      this.#http.keepAliveTimeout = 60_000;
      this.#http.on('clientError', (_, broken) => broken.destroy());
    }
    this.#http.emit('connection', socket);
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let answer: Answer;
    try {
      answer = await this.#answer(`${request.method} ${request.url?.replace(/\?.*$/, '')}`, await readBody(request));
    } catch (error) {
      answer = refusal(error);
    }
    const { status, body } = answer;
    response.writeHead(status, body === undefined ? {} : { 'content-type': 'application/json' });
    response.end(body === undefined ? undefined : `${body}\n`);
  }

  async #answer(what: string, body: string): Promise<Answer> {
    const { requester, checkpoint, onCheckpoint, about } = this.#parts;
    switch (what) {
      case 'GET /attempt':
        return { status: 200, body: JSON.stringify(about) };
      case 'POST /progress': {
        const { fraction = null, note = '' } = objectOf(body);
        if (fraction !== null && !(typeof fraction === 'number' && fraction >= 0 && fraction <= 1)) {
          throw new Fault(400, 'fraction is a number from 0 to 1');
        }
        requester.progress(fraction, String(note).slice(0, MAX_PROGRESS_NOTE_CHARS));
        return DONE;
      }
      case 'POST /extend': {
        const { ms } = objectOf(body);
        if (typeof ms !== 'number' || !(ms > 0)) throw new Fault(400, 'ms is a number above 0');
        const leftMs = await requester.extend(Math.min(Math.ceil(ms), MAX_TIMEOUT_MS));
        return { status: 200, body: JSON.stringify({ leftMs }) };
      }
      case 'GET /checkpoint':
        return checkpoint() === '' ? DONE : { status: 200, body: checkpoint() };
      case 'PUT /checkpoint':
      case 'POST /checkpoint':
        await onCheckpoint(jsonOf(body, MAX_CHECKPOINT_BYTES));
        return DONE;
      case 'POST /assert-owned':
        await requester.assertOwned();
        return DONE;
      case 'POST /tasks':
        await requester.addTasks(jsonOf(body, MAX_ADDED_BYTES));
        return DONE;
      case 'PUT /output':
      case 'POST /output':
        this.output = jsonOf(body, MAX_OUTPUT_BYTES);
        return DONE;
      case 'POST /failure': {
        const said = readSaid(objectOf(body));
        if (typeof said === 'string') throw new Fault(400, said);
        this.failure = said;
        return DONE;
      }
      default:
        throw new Fault(404, `there is no ${what.slice(0, 100)}`);
    }
  }
}

class Fault extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

function refusal(error: unknown): Answer {
  const message = error instanceof Error ? error.message : String(error);
  const say = (status: number, code: string): Answer => ({ status, body: JSON.stringify({ code, message }) });
  if (error instanceof AttemptStopped) return say(409, error.reason);
  if (error instanceof Fault) return say(error.status, 'bad_request');
  return say(isPermanent(error) ? 400 : 503, 'refused');
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= MOST_BODY_BYTES) chunks.push(chunk);
  }
  if (size > MOST_BODY_BYTES) throw new Fault(413, `it has ${size} bytes; the limit is ${MOST_BODY_BYTES}`);
  return Buffer.concat(chunks).toString();
}

function objectOf(body: string): Readonly<Record<string, unknown>> {
  const value: unknown = body.trim() === '' ? {} : parse(body);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Fault(400, 'give a JSON object');
  return value as Record<string, unknown>;
}

function jsonOf(body: string, most: number): string {
  const text = JSON.stringify(parse(body));
  const size = Buffer.byteLength(text);
  if (size > most) throw new Fault(413, `it has ${size} bytes of JSON; the limit is ${most}`);
  return text;
}

function parse(body: string): unknown {
  try {
    return parseExactJson(body);
  } catch (error) {
    if (error instanceof InexactJson) throw new Fault(400, `that can't be kept: ${error.message}`);
    throw new Fault(400, `that is not JSON: ${(error as Error).message}`);
  }
}
