/** A proxy that can hang: connections stay open, nothing passes, and nobody is notified. */
import { connect, createServer, type Server, type Socket } from 'node:net';

export class StuckProxy {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #target = 0;
  #isStuck = false;

  constructor() {
    this.#server = createServer((socket) => {
      const there = connect(this.#target, '127.0.0.1');
      for (const [from, to] of [
        [socket, there],
        [there, socket],
      ] as const) {
        this.#sockets.add(from);
        from.on('data', (chunk) => {
          // What comes while it is stuck is lost: such a connection is good for nothing any more.
          if (!this.#isStuck) to.write(chunk);
        });
        from.on('error', () => to.destroy());
        from.on('close', () => {
          this.#sockets.delete(from);
          if (!this.#isStuck) to.destroy();
        });
      }
    });
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    const address = this.#server.address();
    return `127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
  }

  leadTo(port: number): void {
    this.#target = port;
  }

  stick(): void {
    this.#isStuck = true;
  }

  /** New connections pass; those that were stuck stay dead. */
  unstick(): void {
    this.#isStuck = false;
  }

  get openSockets(): number {
    return this.#sockets.size;
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
  }
}
