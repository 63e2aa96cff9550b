/**
 * Sits between one store and PostgreSQL and stops bytes where the suite wants it: after a statement of a commit, or before
 * its answer. Stopped bytes can be released later, even when the client is long gone, as in a real network.
 */
import { createConnection, createServer, type Server, type Socket } from 'node:net';
import type { Held, HoldPoint } from './subject.ts';
import { BatchReader, FLUSH, type Message, MessageReader, type Unit } from './wire.ts';

export interface Upstream {
  readonly path: string;
}

interface Trap {
  readonly point: HoldPoint;
  spring(link: Link): void;
}

export class PostgresProxy {
  readonly #server: Server;
  readonly #links = new Set<Link>();
  readonly #traps: Trap[] = [];

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(upstream: Upstream): Promise<PostgresProxy> {
    const server = createServer();
    const proxy = new PostgresProxy(server);
    server.on('connection', (client) => {
      const link = new Link(client, createConnection(upstream.path), proxy.#traps);
      proxy.#links.add(link);
      link.onEnd = () => proxy.#links.delete(link);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  get port(): number {
    const address = this.#server.address();
    return typeof address === 'object' && address !== null ? address.port : 0;
  }

  hold(point: HoldPoint): Held {
    let sprung: Link | null = null;
    const reached = new Promise<void>((resolve) => {
      const spring = (link: Link) => {
        sprung = link;
        resolve();
      };
      this.#traps.push({ point, spring });
    });
    return { reached: () => reached, release: () => sprung?.release(), cut: () => sprung?.cut() };
  }

  async stop(): Promise<void> {
    for (const link of this.#links) link.cut();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

const isFence = ({ sql }: Unit): boolean => /\bcommit_fence\s*\(/.test(sql);
const isCommit = ({ sql }: Unit): boolean => /^\s*commit\b/i.test(sql);

/** How many statements of a commit pass before it is stopped. */
function unitsBefore(point: HoldPoint, units: readonly Unit[]): number {
  const fence = units.findIndex(isFence);
  switch (point) {
    case 'before begin':
      return 0;
    case 'after fence':
      return fence + 1;
    case 'between writes':
      return fence + 2;
    case 'before commit':
      return units.findIndex(isCommit);
    case 'after commit before the answer':
      return units.length;
  }
}

/** One connection. */
class Link {
  onEnd: () => void = () => {};
  readonly #client: Socket;
  readonly #server: Socket;
  readonly #traps: Trap[];
  readonly #batches = new BatchReader();
  /** Bytes that wait, per direction; null when they flow. */
  #toServer: Buffer[] | null = null;
  #toClient: Buffer[] | null = null;
  #clientGone = false;
  #serverGone = false;
  /** Told of each message of the server while a trap is about to spring. */
  #watch: ((message: Message) => void) | null = null;

  constructor(client: Socket, server: Socket, traps: Trap[]) {
    this.#client = client;
    this.#server = server;
    this.#traps = traps;
    // Answers leave in many small pieces, and must not wait for each other's receipt.
    client.setNoDelay(true);
    const fromClient = new MessageReader('client');
    const fromServer = new MessageReader('server');
    client.on('data', (chunk) => {
      for (const message of fromClient.read(chunk)) this.#sent(message);
    });
    server.on('data', (chunk) => {
      for (const message of fromServer.read(chunk)) this.#answered(message);
    });
    for (const socket of [client, server]) socket.on('error', () => {});
    client.on('close', () => {
      this.#clientGone = true;
      if (this.#toServer === null) server.end();
    });
    server.on('close', () => {
      this.#serverGone = true;
      if (this.#toClient === null) client.end();
      this.onEnd();
    });
  }

  release(): void {
    const { toServer, toClient } = { toServer: this.#toServer ?? [], toClient: this.#toClient ?? [] };
    this.#toServer = null;
    this.#toClient = null;
    for (const bytes of toServer) this.#server.write(bytes);
    for (const bytes of toClient) this.#client.write(bytes);
    if (this.#clientGone) this.#server.end();
    if (this.#serverGone) this.#client.end();
  }

  cut(): void {
    this.#server.destroy();
    this.#client.destroy();
  }

  #sent(message: Message): void {
    const batch = this.#batches.add(message);
    if (batch === null) return;
    const trap =
      batch.some(isFence) && this.#toServer === null && this.#toClient === null ? this.#traps.shift() : undefined;
    if (trap === undefined) return this.#pass(batch);
    if (trap.point === 'after commit before the answer') {
      // The answer to this commit, and to what follows it, stays here; those before it have gone.
      this.#toClient = [];
      this.#watch = ({ bytes, type }) => {
        if (type !== 'C' || !bytes.includes('COMMIT')) return;
        this.#watch = null;
        trap.spring(this);
      };
      return this.#pass(batch);
    }
    const count = unitsBefore(trap.point, batch);
    this.#pass(batch.slice(0, count));
    this.#toServer = [];
    this.#pass(batch.slice(count));
    if (count === 0) return trap.spring(this);
    // Sent is not done: the server is asked to tell, and the trap springs when the last of them has ended.
    let open = count;
    this.#watch = ({ type }) => {
      if (type !== 'C' && type !== 'E') return;
      open = type === 'E' ? 0 : open - 1;
      if (open > 0) return;
      this.#watch = null;
      trap.spring(this);
    };
    this.#server.write(FLUSH);
  }

  #pass(units: readonly Unit[]): void {
    for (const { bytes } of units.flatMap(({ messages }) => messages)) {
      if (this.#toServer === null) this.#server.write(bytes);
      else this.#toServer.push(bytes);
    }
  }

  #answered(message: Message): void {
    this.#watch?.(message);
    if (this.#toClient === null) this.#client.write(message.bytes);
    else this.#toClient.push(message.bytes);
  }
}
