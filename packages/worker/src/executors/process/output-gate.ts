/**
 * Where the output of programs arrives that a starter has started: a socket in a private folder. A connection begins with the
 * token of its program; one that begins with anything else is closed.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { STDERR, STDOUT, TOKEN_CHARS } from '../../starter/words.ts';

const HEAD_BYTES = TOKEN_CHARS + 1;
/** The starter writes the token at once: whoever does not is none. */
const SILENT_MS = 10_000;
/** On all systems. Node.js cuts a longer one off, and the socket would be in another folder. */
const MOST_PATH_BYTES = 103;

export interface Output {
  readonly stdout: Promise<Readable>;
  readonly stderr: Promise<Readable>;
}

export class OutputGate {
  readonly #folder: string;
  readonly #server: Server;
  readonly #expected = new Map<string, (socket: Socket) => void>();

  private constructor(folder: string, server: Server) {
    this.#folder = folder;
    this.#server = server;
    server.on('connection', (socket: Socket) => this.#hear(socket));
  }

  /** Rejects where there are no such sockets. */
  static async open(): Promise<OutputGate> {
    // Nobody else enters it: mode 0700.
    const folder = await mkdtemp(join(tmpdir(), 'signalbox-start-'));
    const gate = new OutputGate(folder, createServer());
    try {
      if (Buffer.byteLength(gate.path) > MOST_PATH_BYTES) throw new Error(`${gate.path} is too long for a socket`);
      await new Promise<void>((resolve, reject) => {
        gate.#server.once('error', reject);
        gate.#server.listen({ path: gate.path, readableAll: false, writableAll: false }, () => resolve());
      });
    } catch (error) {
      await gate.close();
      throw error;
    }
    gate.#server.on('error', () => {});
    gate.#server.unref();
    return gate;
  }

  get path(): string {
    return join(this.#folder, 's');
  }

  expect(token: string): Output {
    const stream = (which: string): Promise<Readable> =>
      new Promise((resolve) => this.#expected.set(token + which, resolve));
    return { stdout: stream(STDOUT), stderr: stream(STDERR) };
  }

  /** What still comes with this token belongs to nobody. */
  forget(token: string): void {
    this.#expected.delete(token + STDOUT);
    this.#expected.delete(token + STDERR);
  }

  async close(): Promise<void> {
    this.#server.close();
    await rm(this.#folder, { recursive: true, force: true }).catch(() => {});
  }

  #hear(socket: Socket): void {
    let head: Buffer = Buffer.alloc(0);
    socket.on('error', () => {});
    socket.setTimeout(SILENT_MS, () => socket.destroy());
    const read = (): void => {
      const bytes = socket.read() as Buffer | null;
      if (bytes === null) return;
      head = head.length === 0 ? bytes : Buffer.concat([head, bytes]);
      if (head.length < HEAD_BYTES) return;
      socket.off('readable', read);
      const key = head.toString('latin1', 0, HEAD_BYTES);
      const take = this.#expected.get(key);
      if (take === undefined) {
        socket.destroy();
        return;
      }
      this.#expected.delete(key);
      socket.setTimeout(0);
      socket.removeAllListeners('timeout');
      if (head.length > HEAD_BYTES) socket.unshift(head.subarray(HEAD_BYTES));
      take(socket);
    };
    socket.on('readable', read);
  }
}
