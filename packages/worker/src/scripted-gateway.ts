/**
 * A gateway for tests and benches: a real gRPC server on loopback that follows a script and hands out what workers send. No
 * part of the wire is replaced.
 */
import { Server, ServerCredentials, status } from '@grpc/grpc-js';
import {
  type Assignment,
  addWorkerGateway,
  CHANNEL_OPTIONS,
  type Claim,
  type GatewayMessageParts,
  type GatewayStream,
  type Hello,
  parseWorkerMessage,
  type Welcome,
  type WorkerMessage,
} from '@signalbox/protocol/grpc';

/** Belongs to no task of any test. */
const TRIP_SHARD = 63;

/** One stream of one worker, seen from the gateway. */
export class Session {
  readonly hello: Hello;
  readonly authorization: string;
  readonly messages: WorkerMessage[] = [];
  readonly ended: Promise<void>;
  readonly #stream: GatewayStream;
  #woken: (() => void)[] = [];
  answersHeartbeats = true;
  answersPings = true;
  #trips = 0;

  constructor(stream: GatewayStream, hello: Hello, ended: Promise<void>) {
    this.#stream = stream;
    this.hello = hello;
    this.ended = ended;
    this.authorization = String(stream.metadata.get('authorization')[0]);
  }

  say(parts: GatewayMessageParts): void {
    this.#stream.write(parts);
  }

  take(message: WorkerMessage): void {
    this.messages.push(message);
    if (message.heartbeat !== null && this.answersHeartbeats) this.say({ heartbeatAnswered: message.heartbeat.no });
    if (message.ping > 0 && this.answersPings) this.say({ pingAnswered: message.ping });
    const woken = this.#woken;
    this.#woken = [];
    for (const wake of woken) wake();
  }

  /** The first message, past or to come, for which `pick` finds something. */
  async until<T>(pick: (message: WorkerMessage) => T | null | undefined): Promise<T> {
    for (let seen = 0; ; ) {
      for (; seen < this.messages.length; seen++) {
        const picked = pick(this.messages[seen] as WorkerMessage);
        if (picked !== null && picked !== undefined) return picked;
      }
      await new Promise<void>((resolve) => this.#woken.push(resolve));
    }
  }

  reportOf(claim: Claim) {
    return this.until(({ reports }) => reports.find((report) => report.claim.runId === claim.runId));
  }

  /** Resolves when the worker has taken all that was said to it before: it answers in order. */
  async roundTrip(): Promise<void> {
    const epoch = ++this.#trips;
    this.say({ epochs: [{ shard: TRIP_SHARD, epoch }] });
    await this.until(
      ({ holdings }) => holdings?.epochs.some((one) => one.shard === TRIP_SHARD && one.epoch === epoch) || null,
    );
  }

  end(): void {
    this.#stream.end();
  }

  /** Breaks the stream with an error, as a proxy on the way would. */
  cut(): void {
    this.#stream.emit('error', { code: status.UNAVAILABLE, details: 'cut' });
  }

  /** Takes nothing more off the wire. */
  freeze(): void {
    this.#stream.pause();
  }

  thaw(): void {
    this.#stream.resume();
  }
}

export class ScriptedGateway {
  readonly #server = new Server({ ...CHANNEL_OPTIONS });
  readonly sessions: Session[] = [];
  address = '';
  welcome: Welcome = {
    nodeId: 'node',
    heartbeatMs: 3_000,
    leaseMs: 15_000,
    gateways: [],
    dataAddress: '',
    pingMs: 0,
    workerId: '',
    shared: false,
  };
  /** Off: a hello is heard and not answered. */
  welcomes = true;
  onMessage: (session: Session, message: WorkerMessage) => void = (session, message) => session.take(message);
  #waiting: { readonly no: number; readonly resolve: (session: Session) => void }[] = [];

  static async start(port = 0): Promise<ScriptedGateway> {
    const gateway = new ScriptedGateway();
    addWorkerGateway(gateway.#server, (stream) => gateway.#accept(stream));
    const bound = await new Promise<number>((resolve, reject) => {
      gateway.#server.bindAsync(`127.0.0.1:${port}`, ServerCredentials.createInsecure(), (error, found) =>
        error === null ? resolve(found) : reject(error),
      );
    });
    gateway.address = `127.0.0.1:${bound}`;
    return gateway;
  }

  /** The stream with this number, counted from 0, past or to come. */
  session(no: number): Promise<Session> {
    const found = this.sessions[no];
    if (found !== undefined) return Promise.resolve(found);
    return new Promise((resolve) => this.#waiting.push({ no, resolve }));
  }

  stop(): void {
    this.#server.forceShutdown();
  }

  #accept(stream: GatewayStream): void {
    let session: Session | null = null;
    const ended = new Promise<void>((resolve) => {
      stream.on('end', () => {
        stream.end();
        resolve();
      });
      stream.on('cancelled', () => resolve());
      stream.on('close', () => resolve());
    });
    stream.on('error', () => {});
    stream.on('data', (input: unknown) => {
      const message = parseWorkerMessage(input);
      if (session !== null) this.onMessage(session, message);
      else if (message.hello !== null) session = this.#greet(new Session(stream, message.hello, ended));
    });
  }

  #greet(session: Session): Session {
    if (this.welcomes) session.say({ welcome: this.welcome });
    const no = this.sessions.push(session) - 1;
    for (const waiting of this.#waiting.filter((one) => one.no === no)) waiting.resolve(session);
    return session;
  }
}

/** An assignment of task 0 of run `runId`, with the given differences. */
export function assignmentOf(runId: number, different: Partial<Assignment> = {}): Assignment {
  return {
    claim: { shard: 0, runId, task: 0, attempt: 1, fence: 1 },
    token: Buffer.from(`token-${runId}`),
    epoch: 1,
    tenant: 'default',
    dag: 'd',
    version: 1,
    run: '0190b2f0-1234-7abc-8def-0123456789ab',
    taskName: 't',
    handler: 'noop',
    work: '',
    bundle: '',
    files: '',
    queue: 'default',
    timeoutMs: 0,
    effectKey: `effect-${runId}`,
    params: '',
    upstream: [],
    failedUpstream: [],
    missingUpstream: [],
    map: [],
    checkpoint: '',
    memoryBytes: 0,
    booking: '',
    softTimeoutMs: 0,
    stuckMs: 0,
    references: [],
    runInfo: '',
    ...different,
  };
}
