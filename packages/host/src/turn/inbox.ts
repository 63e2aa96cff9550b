/** Commands on their way to a decision, in order of arrival. New submissions are refused first when it is full (I74). */
import type { Answer, Command } from '@signalbox/engine';

/** How a command came out. `unknown`: it may have been done (its commit failed, or the node lost the shard). */
export type Outcome =
  | { readonly status: 'answered'; readonly answer: Answer }
  | { readonly status: 'unknown'; readonly reason: string };

export interface Envelope {
  readonly command: Command;
  /** Told once, after the commit of the batch that decided it. */
  readonly reply: ((outcome: Outcome) => void) | null;
  /** The sender has begun anew: this command must not be done any more, it may come again as another. */
  readonly isVoid?: () => boolean;
}

const SHEDDABLE: ReadonlySet<Command['kind']> = new Set<Command['kind']>(['SubmitRuns', 'DeployDag']);

export class Inbox {
  private waiting: Envelope[] = [];
  private readonly limit: number;
  private readonly onArrival: () => void;

  constructor(limit: number, onArrival: () => void) {
    this.limit = limit;
    this.onArrival = onArrival;
  }

  get size(): number {
    return this.waiting.length;
  }

  /** False when the command is refused for want of room. Reports, heartbeats and cancels are always taken. */
  offer(envelope: Envelope): boolean {
    if (this.waiting.length >= this.limit && SHEDDABLE.has(envelope.command.kind)) return false;
    this.waiting.push(envelope);
    this.onArrival();
    return true;
  }

  /** The oldest, at most `limit` of them. */
  drain(limit: number): Envelope[] {
    const taken = this.waiting.length <= limit ? this.waiting : this.waiting.slice(0, limit);
    this.waiting = this.waiting.length <= limit ? [] : this.waiting.slice(limit);
    return taken.filter((envelope) => envelope.isVoid?.() !== true);
  }

  /** Drops what nobody waits for: it was news for an engine that is gone, and the next one asks for itself (I25). */
  forgetTold(): void {
    this.waiting = this.waiting.filter(({ reply }) => reply !== null);
  }

  /** Puts back what was drained and not decided. */
  restore(envelopes: readonly Envelope[]): void {
    this.waiting = [...envelopes, ...this.waiting];
  }
}
