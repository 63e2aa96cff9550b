/**
 * The edge as the main thread sees it: a thread that serves HTTP, services and logs, and asks for decisions (D12). If it fails it is
 * started again on the same ports; scheduling goes on meanwhile.
 */
import { Worker } from 'node:worker_threads';
import { SHARD_COUNT, type ShardNo, type TenantId } from '@signalbox/engine';
import type { Host, WorkerSeen } from '@signalbox/host';
import type { WorkerView } from '@signalbox/protocol';
import { ConfigError, explainBind } from '../config.ts';
import type { Tell } from '../log.ts';
import { LoopWatch } from '../metrics/loop-delay.ts';
import type { ClockSeen } from '../ports/database-clock.ts';
import type { Upkeep } from '../upkeep.ts';
import type { EdgeAsks, EdgeData, EdgePorts, FromEdge, MainAnswers, Readiness, ToEdge } from './messages.ts';

const THREAD = new URL('../../dist/edge/thread.js', import.meta.url);
const RESTART_MS = 200;
const CLOSE_MS = 3_000;

export class Edge {
  readonly #data: EdgeData;
  readonly #host: () => Host | null;
  readonly #upkeep: Upkeep;
  readonly #clock: () => ClockSeen | null;
  readonly #loop = new LoopWatch();
  readonly #tell: Tell;
  #thread: Worker | null = null;
  #answers: MainAnswers[] = [];
  #isStopped = false;
  #stopping: Promise<void> | null = null;
  #onClosed: () => void = () => undefined;
  ports: EdgePorts = { http: 0, services: 0 };

  /** The host may come later: until then nobody owns anything. */
  constructor(
    data: EdgeData,
    { host, upkeep, clock }: { host: () => Host | null; upkeep: Upkeep; clock: () => ClockSeen | null },
    tell: Tell,
  ) {
    this.#data = data;
    this.#host = host;
    this.#clock = clock;
    this.#upkeep = upkeep;
    this.#tell = tell;
  }

  /** Resolves when it listens. */
  async start(): Promise<void> {
    this.ports = await this.#spawn({ http: this.#data.bind.port, services: this.#data.services.port });
  }

  /** Requests under way may end; nothing new is taken. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  async #stop(): Promise<void> {
    this.#isStopped = true;
    this.#loop.stop();
    const thread = this.#thread;
    if (thread === null) return;
    const closed = new Promise<void>((resolve) => {
      this.#onClosed = resolve;
      setTimeout(resolve, CLOSE_MS).unref();
    });
    thread.postMessage({ kind: 'close' } satisfies ToEdge);
    await closed;
    await thread.terminate();
  }

  #spawn(ports: EdgePorts): Promise<EdgePorts> {
    return new Promise((resolve, reject) => {
      const { bind, services } = this.#data;
      const workerData: EdgeData = {
        ...this.#data,
        bind: { ...bind, port: ports.http },
        services: { ...services, port: ports.services },
      };
      const thread = new Worker(THREAD, { workerData, execArgv: [], name: 'signalbox-edge' });
      this.#thread = thread;
      thread.on('message', (message: FromEdge) => {
        if (message.kind === 'asks') for (const ask of message.asks) this.#take(thread, ask);
        else if (message.kind === 'listening') resolve(message.ports);
        else if (message.kind === 'failed') {
          reject(explain(message, workerData));
          void thread.terminate(); // It serves nothing, and would not end by itself.
        } else this.#onClosed();
      });
      thread.on('error', (error) => this.#tell('error', 'The edge failed.', { error: error.stack ?? String(error) }));
      thread.on('exit', () => {
        reject(new Error('The edge ended before it listened.'));
        this.#onClosed();
        if (!this.#isStopped && this.ports.http !== 0) setTimeout(() => this.#again(), RESTART_MS);
      });
    });
  }

  #again(): void {
    if (this.#isStopped) return;
    this.#tell('warn', 'The edge is started again.');
    this.#spawn(this.ports).catch((error) => this.#tell('error', 'The edge did not start.', { error: String(error) }));
  }

  #take(thread: Worker, ask: EdgeAsks): void {
    const { no } = ask;
    if (ask.kind === 'workers') this.#listWorkers(thread, no, ask.tenantId);
    else if (ask.kind === 'drain') this.#drain(thread, ask);
    else if (ask.kind === 'progress') this.#progress(thread, ask);
    else if (ask.kind === 'metrics') {
      const metrics = { host: this.#host()?.metrics() ?? null, loop: this.#loop.seen(), clock: this.#clock() };
      this.#answer(thread, { kind: 'metrics', no, metrics });
    } else if (ask.kind === 'dropExpired') this.#dropExpired(thread, no);
    else if (ask.kind === 'readiness') this.#answer(thread, { kind: 'readiness', no, readiness: this.#readiness() });
    else {
      const host = this.#host();
      if (host === null) {
        this.#answer(thread, { kind: 'routed', no, routed: { status: 'unavailable' } });
        return;
      }
      host.ask(ask.command, ask.deadlineMs).then(
        (routed) => this.#answer(thread, { kind: 'routed', no, routed }),
        (error: unknown) => {
          this.#tell('error', 'A command could not be sent to its owner.', { error: String(error) });
          this.#answer(thread, { kind: 'routed', no, routed: { status: 'unknown' } });
        },
      );
    }
  }

  /** The answers of one commit come in one go: they leave together. */
  #answer(thread: Worker, answer: MainAnswers): void {
    if (thread !== this.#thread) return;
    this.#answers.push(answer);
    if (this.#answers.length > 1) return;
    setImmediate(() => {
      const answers = this.#answers;
      this.#answers = [];
      thread.postMessage({ kind: 'answers', answers } satisfies ToEdge);
    });
  }

  #dropExpired(thread: Worker, no: number): void {
    this.#upkeep.dropExpired().then(
      (dropped) => this.#answer(thread, { kind: 'dropped', no, dropped }),
      (error: unknown) => {
        this.#tell('warn', 'Retention did not come to its end.', { error: String(error) });
        this.#answer(thread, { kind: 'dropped', no, dropped: null });
      },
    );
  }

  #listWorkers(thread: Worker, no: number, tenantId: TenantId): void {
    const asked = this.#host()?.listWorkers() ?? Promise.resolve({ workers: [], missing: [] });
    asked.then(
      ({ workers, missing }) => {
        const own = workers.filter((worker) => worker.tenantId === tenantId);
        const seen = { workers: own.map(workerAnswer), missing };
        this.#answer(thread, { kind: 'workers', no, seen });
      },
      (error: unknown) => this.#tell('warn', 'Workers could not be listed.', { error: String(error) }),
    );
  }

  #progress(thread: Worker, { no, runId }: Extract<EdgeAsks, { kind: 'progress' }>): void {
    const asked = this.#host()?.progressOf(runId) ?? Promise.resolve([]);
    asked.then(
      (told) => this.#answer(thread, { kind: 'progress', no, told }),
      (error: unknown) => this.#tell('warn', 'Progress could not be asked for.', { error: String(error) }),
    );
  }

  #drain(thread: Worker, { no, workerId, tenantId }: Extract<EdgeAsks, { kind: 'drain' }>): void {
    const asked = this.#host()?.drainWorker(workerId, tenantId) ?? Promise.resolve(false);
    asked.then(
      (isKnown) => this.#answer(thread, { kind: 'drained', no, isKnown }),
      (error: unknown) => this.#tell('warn', 'A worker could not be drained.', { error: String(error) }),
    );
  }

  #readiness(): Readiness {
    let shardsOwned = 0;
    for (let shard = 0; shard < SHARD_COUNT; shard++) {
      if ((this.#host()?.directory.ownerOf(shard as ShardNo) ?? null) !== null) shardsOwned += 1;
    }
    return { shardsOwned, shardCount: SHARD_COUNT };
  }
}

function explain({ at, error }: Extract<FromEdge, { kind: 'failed' }>, { bind }: EdgeData): Error {
  const cause = new Error(error);
  if (at === 'http') return explainBind('SIGNALBOX_HTTP', bind, cause);
  // Explained already by the door that could not be opened.
  return at === 'services' && error.startsWith('SIGNALBOX_SERVICES') ? new ConfigError(error) : cause;
}

function workerAnswer(worker: WorkerSeen): WorkerView {
  return {
    id: worker.workerId,
    name: worker.name,
    node: worker.nodeId,
    queues: [...worker.queues],
    slots: worker.slots,
    running: worker.running,
    draining: worker.draining,
    silentMs: Math.round(worker.silentMs),
  };
}
