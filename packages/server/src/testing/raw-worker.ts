/** The stream of a worker without a worker, so tests can send what no honest worker would. */
import { randomUUID } from 'node:crypto';
import { Client, credentials, Metadata, type StatusObject } from '@grpc/grpc-js';
import type { TenantId, WorkerId } from '@signalbox/engine';
import {
  type Assignment,
  type Claim,
  type GatewayMessage,
  openLogStream,
  openWorkerStream,
  parseGatewayMessage,
  parseLogStored,
  type Report,
  type WorkerStream,
} from '@signalbox/protocol/grpc';
import { hashOf } from '../auth/bearer.ts';
import { workerIdOf } from '../auth/worker-identity.ts';
import type { RunningServer } from '../start.ts';
import { eventually } from './rig.ts';

export interface RawWorkerOptions {
  readonly token: string;
  readonly workerId?: string;
  readonly queues?: readonly string[];
  readonly queueWeights?: readonly number[];
  readonly slots?: number;
  /** What it says it holds from before. */
  readonly holds?: readonly Held[];
}

export type Held = Pick<Assignment, 'claim' | 'token'>;

export function bearer(token: string, workerId?: string): Metadata {
  const metadata = new Metadata();
  metadata.set('authorization', `Bearer ${token}`);
  if (workerId !== undefined) metadata.set('signalbox-worker', workerId);
  return metadata;
}

/** The worker that a test speaks for on the services port, and how the server knows it. */
export const TEST_WORKER = '0190a000-0000-7000-8000-00000000abcd';

export function testWorkerId(token: string, tenantId = 1): WorkerId {
  return workerIdOf({ tenantId: tenantId as TenantId, credential: hashOf(token).toString('base64') }, TEST_WORKER);
}

export class RawWorker {
  readonly messages: GatewayMessage[] = [];
  readonly stream: WorkerStream;
  readonly ended: Promise<StatusObject>;
  readonly workerId: string;
  readonly #token: string;
  readonly #client: Client;
  #askCount = 0;
  #beatCount = 0;

  constructor(server: RunningServer, options: RawWorkerOptions) {
    const { token, workerId = randomUUID(), queues = ['default'], slots = 1, holds = [], queueWeights } = options;
    this.workerId = workerId;
    this.#token = token;
    this.#client = new Client(server.grpcAddress, credentials.createInsecure());
    this.stream = openWorkerStream(this.#client, bearer(token));
    this.stream.on('data', (input: unknown) => this.messages.push(parseGatewayMessage(input)));
    this.stream.on('error', () => undefined);
    this.ended = new Promise((resolve) => this.stream.once('status', resolve));
    const hello = { workerId, name: 'raw', queues, slots, draining: false };
    const said = { holds: holds.map(({ claim }) => claim), holdTokens: holds.map((held) => held.token) };
    this.stream.write({ hello: { ...hello, ...said, ...(queueWeights === undefined ? {} : { queueWeights }) } });
  }

  async welcomed(): Promise<this> {
    await eventually(() => this.messages.some(({ welcome }) => welcome !== null));
    return this;
  }

  /** The first assignment that comes. */
  async assigned(): Promise<Assignment> {
    const all = () => this.messages.flatMap(({ assignments }) => assignments);
    await eventually(() => all().length > 0);
    return all()[0] as Assignment;
  }

  /** What a report is answered. */
  async report({ claim, token }: Held, more: Partial<Report> = {}): Promise<string> {
    const before = this.#answersTo(claim).length;
    const usual = {
      output: '"done"',
      error: '',
      startedAt: 1,
      endedAt: 2,
      code: '',
      retryAfterMs: 0,
      memoryBytes: 0,
      cpuMicros: 0,
      peakBytes: 0,
    };
    this.stream.write({ reports: [{ claim, token, outcome: 'succeeded', ...usual, ...more }] });
    await eventually(() => this.#answersTo(claim).length > before);
    return this.#answersTo(claim).at(-1) as string;
  }

  #answersTo(claim: Claim): string[] {
    const answers = this.messages.flatMap((message) => message.answers);
    return answers.filter((answer) => answer.claim.runId === claim.runId).map(({ verdict }) => verdict);
  }

  /** What an ask is answered: `ok`, or the code of an error. */
  async ask({ claim, token }: Held, request: object): Promise<string> {
    this.#askCount += 1;
    const no = this.#askCount;
    const usual = { extendMs: 0, checkpoint: '', assertOwned: false, addedTasks: '' };
    this.stream.write({ requests: [{ no, claim, token, ...usual, ...request }] });
    const answer = () => this.messages.flatMap(({ requestAnswers }) => requestAnswers).find((one) => one.no === no);
    await eventually(() => answer() !== undefined);
    return answer()?.ok === true ? 'ok' : (answer()?.code ?? '');
  }

  refuse({ claim, token }: Held): void {
    this.stream.write({ refusals: [{ claim, token, reason: 'no room' }] });
  }

  /** Resolves when the heartbeat is answered, or the stream has ended. */
  async beat(holds: readonly Claim[], progress: readonly Claim[] = []): Promise<void> {
    this.#beatCount += 1;
    const no = this.#beatCount;
    let isOver = false;
    void this.ended.then(() => {
      isOver = true;
    });
    const told = progress.map((claim) => ({ claim, agoMs: 1, fraction: 0.5, note: 'told' }));
    this.stream.write({ heartbeat: { no, holds, progress: told } });
    await eventually(() => isOver || this.messages.some(({ heartbeatAnswered }) => heartbeatAnswered >= no));
  }

  /** Sends a line of the claim's log; resolves when it is stored or dropped. */
  async log(server: RunningServer, { claim, token }: Held, text: string): Promise<void> {
    const client = new Client(server.servicesAddress, credentials.createInsecure());
    const stream = openLogStream(client, bearer(this.#token, this.workerId));
    const lines = [{ at: Date.now(), stream: 'stdout' as const, text }];
    await new Promise<void>((resolve, reject) => {
      stream.on('data', (input: unknown) => {
        if (parseLogStored(input) === 1) resolve();
      });
      stream.on('error', reject);
      stream.write({ no: 1, pieces: [{ claim, token, firstLine: 0, lines }] });
    });
    stream.end();
    client.close();
  }

  close(): void {
    this.stream.cancel();
    this.#client.close();
  }
}
