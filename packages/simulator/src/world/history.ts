/** What has happened so far: handed to whoever watches, kept for people, and summed up in a number that two runs of one seed share. */
import type { Events } from './events.ts';
import { describe, type Happening } from './happening.ts';

export interface Broken {
  readonly invariant: string;
  readonly message: string;
  readonly at: number;
}

export class History {
  /** What is wrong, once something is. The first thing counts. */
  broken: Broken | null = null;
  readonly #events: Events;
  readonly #watchers: ((happening: Happening) => void)[] = [];
  readonly #seen: { readonly at: number; readonly happening: Happening }[] = [];
  /** How many happenings are kept for printing. */
  readonly #kept: number;

  constructor(events: Events, kept = Number.POSITIVE_INFINITY) {
    this.#events = events;
    this.#kept = kept;
  }

  watch(watcher: (happening: Happening) => void): void {
    this.#watchers.push(watcher);
  }

  add(happening: Happening): void {
    if (this.#seen.length < this.#kept) this.#seen.push({ at: this.#events.now(), happening });
    for (const watcher of this.#watchers) watcher(happening);
  }

  breaks(invariant: string, message: string): void {
    this.broken ??= { invariant, message, at: this.#events.now() };
  }

  get length(): number {
    return this.#seen.length;
  }

  *lines(): Generator<string> {
    for (const { at, happening } of this.#seen) yield `${(at / 1000).toFixed(6).padStart(12)}  ${describe(happening)}`;
  }

  /** Two histories are the same if these are. */
  hash(): string {
    let [a, b] = [0x811c9dc5, 0x9e3779b9];
    for (const line of this.lines()) {
      for (let i = 0; i < line.length; i++) {
        const code = line.charCodeAt(i);
        a = Math.imul(a ^ code, 0x01000193);
        b = Math.imul(b ^ code, 0x85ebca6b) + a;
      }
    }
    return (a >>> 0).toString(16).padStart(8, '0') + (b >>> 0).toString(16).padStart(8, '0');
  }
}
