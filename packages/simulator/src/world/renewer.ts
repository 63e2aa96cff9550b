/** Raises the node's beat from a thread of its own: it goes on while the main loop is blocked, and then must not beat. */
import type { NodeId } from '@signalbox/engine';
import type { LeaseRenewer } from '@signalbox/host';
import type { FakeStore } from '../fake-store/index.ts';
import type { Process } from './process.ts';

const BEAT_MS = 1_000;
/** A main loop that has not ticked for so long is not alive. */
const TICK_WITHIN_MS = 1_000;

export class SimRenewer implements LeaseRenewer {
  readonly #thread: Process;
  readonly #store: FakeStore;
  readonly #windowGraceMs: number;
  #tickedAt = Number.NEGATIVE_INFINITY;
  #isStopped = false;

  constructor(thread: Process, store: FakeStore, windowGraceMs: number) {
    this.#windowGraceMs = windowGraceMs;
    this.#thread = thread;
    this.#store = store;
  }

  start(nodeId: NodeId): void {
    const beat = () => {
      if (this.#isStopped) return;
      const isAlive = this.#thread.mono() - this.#tickedAt <= TICK_WITHIN_MS;
      if (isAlive) this.#store.beat(nodeId, this.#windowGraceMs).catch(() => undefined);
      this.#thread.after(BEAT_MS, beat);
    };
    this.#thread.after(BEAT_MS, beat);
  }

  tick(): void {
    this.#tickedAt = this.#thread.mono();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
  }
}
