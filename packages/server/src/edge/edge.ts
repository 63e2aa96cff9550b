/**
 * The edge as the main thread sees it: a thread that serves HTTP, services and logs, and asks for decisions (D12). If it
 * fails, it is started again on the same ports; scheduling continues.
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
import type {
  EdgeAsks,
  EdgeData,
  EdgePorts,
  FromEdge,
  MainAnswers,
  Readiness,
  ServingWorker,
  ToEdge,
} from './messages.ts';

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
    if (ask.kind === 'command') return this.#route(thread, ask);
    this.#answerTo(ask).then(
      (answer) => this.#answer(thread, answer),
      (error: unknown) => {
        this.#tell('warn', 'A question of the edge could not be answered.', { asked: ask.kind, error: String(error) });
        // Answered all the same: otherwise the caller would wait until its deadline.
        this.#answer(thread, { kind: 'unanswered', no: ask.no });
      },
    );
  }

  #route(thread: Worker, { no, command, deadlineMs }: Extract<EdgeAsks, { kind: 'command' }>): void {
    const host = this.#host();
    if (host === null) {
      this.#answer(thread, { kind: 'routed', no, routed: { status: 'unavailable' } });
      return;
    }
    host.ask(command, deadlineMs).then(
      (routed) => this.#answer(thread, { kind: 'routed', no, routed }),
      (error: unknown) => {
        this.#tell('error', 'A command could not be sent to its owner.', { error: String(error) });
        this.#answer(thread, { kind: 'routed', no, routed: { status: 'unknown' } });
      },
    );
  }

  async #answerTo(ask: Exclude<EdgeAsks, { kind: 'command' }>): Promise<MainAnswers> {
    const { no } = ask;
    const host = this.#host();
    switch (ask.kind) {
      case 'workers': {
        const seen = (await host?.listWorkers()) ?? { workers: [], missing: [] };
        const own = seen.workers.filter((worker) => worker.tenantId === ask.tenantId);
        const holds = new Map(own.map((worker) => [worker.workerId as string, worker.holds ?? []]));
        const serving = seen.workers
          .filter((worker) => serves(worker, ask.tenantId))
          .map((worker) => servingWorker(worker, ask.tenantId));
        const { missing } = seen;
        return { kind: 'workers', no, seen: { workers: own.map(workerAnswer), serving, holds, missing } };
      }
      case 'queues': {
        const { queues, missing } = (await host?.listQueues()) ?? { queues: [], missing: [] };
        const own = queues.filter(({ tenantId }) => tenantId === ask.tenantId);
        return { kind: 'queues', no, seen: { queues: own, missing } };
      }
      case 'drain':
        return {
          kind: 'drained',
          no,
          isKnown: (await host?.drainWorker(ask.workerId, ask.tenantId, ask.evictMs)) ?? false,
        };
      case 'progress':
        return { kind: 'progress', no, told: (await host?.progressOf(ask.runId)) ?? [] };
      case 'slots': {
        const none = { holders: [], used: 0, waiting: 0, missing: [] };
        return { kind: 'slots', no, seen: (await host?.slotsOf(ask.limit)) ?? none };
      }
      case 'blockers':
        return { kind: 'blockers', no, seen: (await host?.blockersOf(ask.tenantId)) ?? { blockers: [], missing: [] } };
      case 'wait':
        return { kind: 'wait', no, seen: (await host?.waitOf(ask.task)) ?? { blockers: null, ahead: 0, missing: [] } };
      case 'metrics': {
        const metrics = { host: host?.metrics() ?? null, loop: this.#loop.seen(), clock: this.#clock() };
        return { kind: 'metrics', no, metrics };
      }
      case 'dropExpired':
        return { kind: 'dropped', no, dropped: await this.#upkeep.dropExpired() };
      case 'readiness':
        return { kind: 'readiness', no, readiness: this.#readiness() };
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
    ...(worker.weights === undefined ? {} : { queueWeights: worker.weights }),
    slots: worker.slots,
    ...offersOf(worker),
    running: worker.running,
    draining: worker.draining,
    cordoned: worker.cordoned === true,
    ...(worker.reserved === undefined ? {} : { reserved: true }),
    version: worker.version ?? null,
    silentMs: Math.round(worker.silentMs),
  };
}

/** A node of an older version does not say whom its workers serve: the tenant that they are of. */
function serves({ tenantId, tenants = [tenantId] }: WorkerSeen, wanted: TenantId): boolean {
  return tenants === null || tenants.includes(wanted);
}

function servingWorker(worker: WorkerSeen, tenantId: TenantId): ServingWorker {
  const { queues, slots, running, draining, cordoned = false, reserved } = worker;
  const own = { queues: [...queues], slots, running, draining, cordoned, ...offersOf(worker) };
  if (reserved === undefined) return own;
  const reservedFor = reserved.tenantId === tenantId ? { queue: reserved.queue, key: reserved.requestKey } : null;
  return { ...own, reservedFor };
}

function offersOf({ traits, free = {} }: WorkerSeen): Pick<WorkerView, 'resources' | 'free' | 'labels'> {
  return traits === undefined ? {} : { resources: traits.resources, labels: traits.labels, free };
}
