/**
 * What comes from the bare streams of a child that runs several attempts at a time: from its own child processes and from native
 * code. (`console` and the streams of `process` are told apart in the child.) It belongs to the attempt that runs alone. While
 * several do, nobody knows whose it is, and another's log must not show it: it may hold a secret that is masked in only one of them.
 */
import type { AttemptLines } from '../logs/lazy-log.ts';
import type { HeldAttempt } from './held-attempt.ts';

export class SharedPrints implements AttemptLines {
  readonly #begun: () => readonly HeldAttempt[];
  readonly #told = new WeakSet<HeldAttempt>();

  constructor(begun: () => readonly HeldAttempt[]) {
    this.#begun = begun;
  }

  get isBehind(): boolean {
    return this.#begun().some(({ job }) => job.log.isBehind);
  }

  line(): void {}

  bytes(stream: 'stdout' | 'stderr', chunk: Buffer): void {
    const begun = this.#begun();
    if (begun.length === 1) return begun[0]?.job.log.bytes(stream, chunk);
    for (const held of begun) {
      if (this.#told.has(held)) continue;
      this.#told.add(held);
      held.job.log.line(
        'system',
        `Output of a subprocess or of native code was left out: ${begun.length} attempts run in this process, and nobody knows which one printed it. Capture the output in your code, or give the task isolation: process.`,
      );
    }
  }

  endStream(stream: 'stdout' | 'stderr'): void {
    const begun = this.#begun();
    if (begun.length === 1) begun[0]?.job.log.endStream(stream);
  }
}
