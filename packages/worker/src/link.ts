/**
 * The one stream to one gateway. It is opened again whenever it is lost.
 *
 * `opening` (hello is sent) → `up` (welcomed) → `waiting` (lost; the next one opens after a while) → `opening` …, until
 * `closed`. Running attempts do not depend on it.
 */
import { Client, credentials, Metadata } from '@grpc/grpc-js';
import {
  CHANNEL_OPTIONS,
  type GatewayMessage,
  type Hello,
  openWorkerStream,
  parseGatewayMessage,
  type Welcome,
  type WorkerMessageParts,
  type WorkerStream,
} from '@signalbox/protocol/grpc';
import { type GatewayAddress, Gateways } from './gateways.ts';
import type { WorkerConfig } from './options.ts';
import type { Line } from './outbox.ts';

interface LinkListener {
  hello(): Hello;
  onUp(welcome: Welcome, helloSentAt: number): void;
  onMessage(message: GatewayMessage): void;
  onDown(): void;
}

const LEAVE_MS = 1_000;

export class Link implements Line {
  readonly #config: WorkerConfig;
  readonly #listener: LinkListener;
  readonly #gateways: Gateways;
  #state: 'opening' | 'up' | 'waiting' | 'closed' = 'waiting';
  #client: Client | null = null;
  #stream: WorkerStream | null = null;
  #timer: NodeJS.Timeout | null = null;
  #failures = 0;
  /** Tries since the last welcome. */
  #tries = 0;
  #helloSentAt = 0;

  constructor(config: WorkerConfig, listener: LinkListener) {
    this.#config = config;
    this.#listener = listener;
    this.#gateways = new Gateways(config.gateways);
  }

  get isUp(): boolean {
    return this.#state === 'up';
  }

  /** The one that is spoken to, or tried next. */
  get gateway(): GatewayAddress {
    return this.#gateways.current;
  }

  start(): void {
    this.#open();
  }

  write(parts: WorkerMessageParts, written: () => void): void {
    this.#stream?.write(parts, (error: Error | null | undefined) => {
      if (error === null || error === undefined) written();
    });
  }

  /** Gives up a stream to a gateway that seems to hang. The next one has its turn: this one would only be waited for again. */
  leave(reason: string): void {
    if (this.#state === 'opening' || this.#state === 'up') this.#lose(reason, true);
  }

  /** Leaves in order: what was written arrives, then the stream ends. */
  async close(): Promise<void> {
    const stream = this.#stream;
    const client = this.#client;
    const wasUp = this.isUp;
    this.#closeDown();
    if (stream !== null && wasUp) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, LEAVE_MS);
        stream.once('status', () => {
          clearTimeout(timer);
          resolve();
        });
        stream.end();
        stream.resume();
      });
    }
    stream?.cancel();
    client?.close();
  }

  /** Stops like a process that died: nothing more is sent. */
  destroy(): void {
    const stream = this.#stream;
    const client = this.#client;
    this.#closeDown();
    stream?.cancel();
    client?.close();
  }

  #closeDown(): void {
    this.#state = 'closed';
    this.#stream = null;
    this.#client = null;
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  #open(): void {
    const { target, tls } = this.#gateways.current;
    const { token, rootCertificates, timing } = this.#config;
    this.#state = 'opening';
    // A channel of its own for each try: a shared one would wait by a schedule of its own before it connects again.
    const client = new Client(target, tls ? credentials.createSsl(rootCertificates) : credentials.createInsecure(), {
      ...CHANNEL_OPTIONS,
      'grpc.use_local_subchannel_pool': 1,
      'grpc.enable_retries': 0,
      'grpc.enable_channelz': 0,
    });
    const metadata = new Metadata();
    metadata.set('authorization', `Bearer ${token}`);
    const stream = openWorkerStream(client, metadata);
    this.#client = client;
    this.#stream = stream;
    const isCurrent = (): boolean => this.#stream === stream;
    stream.on('data', (input: unknown) => {
      if (isCurrent()) this.#receive(input);
    });
    stream.on('error', (error: Error) => {
      if (isCurrent()) this.#lose(error.message);
    });
    stream.on('end', () => {
      if (isCurrent()) this.#lose('the gateway has ended the stream');
    });
    this.#helloSentAt = timing.now();
    stream.write({ hello: this.#listener.hello() });
    this.#timer = setTimeout(() => this.#lose('the gateway did not answer'), this.#welcomeMs());
    this.#tries += 1;
  }

  /**
   * How long a gateway has to say welcome. Short while others have not been tried: one that hangs still takes
   * connections. Longer with each round over all of them, because they may all be slow.
   */
  #welcomeMs(): number {
    const { welcomeMs, firstWelcomeMs } = this.#config.timing;
    const { count } = this.#gateways;
    if (count === 1) return welcomeMs;
    return Math.min(welcomeMs, firstWelcomeMs * 2 ** Math.min(20, Math.floor(this.#tries / count)));
  }

  #receive(input: unknown): void {
    let message: GatewayMessage;
    try {
      message = parseGatewayMessage(input);
    } catch (error) {
      this.#lose(error instanceof Error ? error.message : String(error));
      return;
    }
    if (message.welcome !== null && this.#state === 'opening') this.#comeUp(message.welcome);
    else if (message.welcome !== null && this.#state === 'up') this.#gateways.learn(message.welcome.gateways);
    // What comes before the welcome is from a gateway that does not keep the protocol.
    if (this.#state === 'up') this.#listener.onMessage(message);
  }

  #comeUp(welcome: Welcome): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    const { target } = this.#gateways.current;
    this.#state = 'up';
    this.#tries = 0;
    this.#gateways.learn(welcome.gateways);
    this.#config.log.info('connected', { gateway: target, node: welcome.nodeId });
    this.#listener.onUp(welcome, this.#helloSentAt);
  }

  #lose(reason: string, isHung = false): void {
    const { timing, log } = this.#config;
    const { target } = this.#gateways.current;
    const wasUp = this.#state === 'up';
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#stream?.cancel();
    this.#client?.close();
    this.#stream = null;
    this.#client = null;
    this.#state = 'waiting';
    // One that was up may be back at once; one that did not come up, or hangs, gives its turn to the next.
    const heldFor = wasUp ? timing.now() - this.#helloSentAt : 0;
    this.#failures = heldFor >= timing.backoffMaxMs ? 0 : this.#failures + 1;
    if (!wasUp || isHung || this.#failures > 1) this.#gateways.moveOn();
    const waitMs = this.#backoffMs();
    log.warn('connection lost', { gateway: target, reason, againInMs: Math.round(waitMs) });
    if (wasUp) this.#listener.onDown();
    // The listener may have closed the link.
    if ((this.#state as string) !== 'closed') this.#timer = setTimeout(() => this.#open(), waitMs);
  }

  /**
   * The next gateway of the list is tried at once: the failure of one says nothing about another. After a round over all of
   * them the worker waits, longer each time, so that none is asked more often than if it were the only one.
   */
  #backoffMs(): number {
    const { backoffMinMs, backoffMaxMs, random } = this.#config.timing;
    const { count } = this.#gateways;
    const rounds = this.#failures % count === 0 ? this.#failures / count : 0;
    const most = Math.min(backoffMaxMs, backoffMinMs * 2 ** Math.min(rounds + 1, 20));
    return backoffMinMs + random() * (most - backoffMinMs);
  }
}
