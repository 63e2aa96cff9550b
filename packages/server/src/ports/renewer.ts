/**
 * Renews the heartbeat of the node from its own thread and connection (D5), so a busy main loop is not taken for a dead
 * node. It does so only while the main loop ticks, so a dead loop is not taken for a busy one.
 */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { NodeId } from '@signalbox/engine';
import type { LeaseRenewer } from '@signalbox/host';
import type { LogLevel } from '../config.ts';
import type { Tell } from '../log.ts';

export interface RenewalData {
  readonly url: string;
  readonly preparedStatements: boolean;
  readonly nodeId: NodeId;
  readonly logLevel: LogLevel;
  /** Beats further apart than this leave a break in service. */
  readonly windowGraceMs: number;
  /** Counted up by the main loop. */
  readonly ticks: SharedArrayBuffer;
}

const THREAD = new URL('../../dist/ports/renewal-thread.js', import.meta.url);
const RESTART_MS = 250;

export class ThreadRenewer implements LeaseRenewer {
  readonly #options: Omit<RenewalData, 'nodeId' | 'ticks'>;
  readonly #tell: Tell;
  readonly #ticks = new Int32Array(new SharedArrayBuffer(4));
  #thread: Worker | null = null;
  #isStopped = false;

  constructor(options: Omit<RenewalData, 'nodeId' | 'ticks'>, tell: Tell) {
    this.#options = options;
    this.#tell = tell;
  }

  start(nodeId: NodeId): void {
    if (this.#isStopped) return;
    const workerData: RenewalData = {
      ...this.#options,
      nodeId,
      ticks: this.#ticks.buffer,
    };
    const thread = new Worker(THREAD, { workerData, execArgv: [], name: 'signalbox-renewal' });
    this.#thread = thread;
    thread.on('error', (error) => this.#tell('error', 'The renewal thread failed.', { error: error.message }));
    thread.on('exit', () => {
      this.#thread = null;
      if (!this.#isStopped) setTimeout(() => this.start(nodeId), RESTART_MS);
    });
  }

  tick(): void {
    Atomics.add(this.#ticks, 0, 1);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    const thread = this.#thread;
    if (thread === null) return;
    thread.postMessage('stop');
    const timer = setTimeout(() => void thread.terminate(), 500);
    await once(thread, 'exit');
    clearTimeout(timer);
  }
}
