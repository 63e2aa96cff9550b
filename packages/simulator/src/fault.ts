/** One thing that goes wrong in a history: when, what, and for how long. */

export interface Fault {
  readonly at: number;
  readonly what: string;
  /** Answers how it is undone; null for what is over at once. */
  readonly begin: () => (() => void) | null;
  readonly forMs: number;
}
