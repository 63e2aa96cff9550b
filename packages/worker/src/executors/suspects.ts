/**
 * Tasks whose attempts ran in a process that one of them has ended, when nobody could tell which one it was. Their next attempt
 * here runs alone: then it is known, and a task that ends its process again and again does not go on for ever at no cost (I28).
 */
import type { Assignment } from '@signalbox/protocol/grpc';

const MOST = 10_000;

const keyOf = ({ claim }: Assignment): string => `${claim.runId}/${claim.task}`;

export class Suspects {
  readonly #keys = new Set<string>();

  has(assignment: Assignment): boolean {
    return this.#keys.size > 0 && this.#keys.has(keyOf(assignment));
  }

  add(assignment: Assignment): void {
    if (this.#keys.size >= MOST) {
      const [oldest] = this.#keys;
      this.#keys.delete(oldest as string);
    }
    this.#keys.add(keyOf(assignment));
  }

  /** It has run alone: whatever came of it is its own. */
  clear(assignment: Assignment): void {
    if (this.#keys.size > 0) this.#keys.delete(keyOf(assignment));
  }
}
