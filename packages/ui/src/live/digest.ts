/** What the server says has changed, a few times a second: which dags and runs, and in which ways. */
import type { EVENT_KINDS } from '@signalbox/protocol/words';

export interface Digest {
  readonly count: number;
  readonly dags: readonly string[];
  readonly runs: readonly string[];
  readonly kinds: readonly string[];
  /** More has changed than is named here. */
  readonly more: boolean;
}

/** Everything may have changed. */
export const EVERYTHING: Digest = { count: 0, dags: [], runs: [], kinds: [], more: true };

/** Whether a view that shows this must be read again. */
export type Concern = (digest: Digest) => boolean;

export const ofRun =
  (id: string): Concern =>
  ({ runs, more }) =>
    more || runs.includes(id);

export const ofDag =
  (name: string): Concern =>
  ({ dags, more }) =>
    more || dags.includes(name);

type KindWord = (typeof EVENT_KINDS)[number] extends infer Kind
  ? Kind extends `${infer Word}.${string}`
    ? Word
    : never
  : never;

/** Kinds by their first word: `run`, `dead_letter`. */
export const ofKinds =
  (...words: readonly KindWord[]): Concern =>
  ({ kinds, more }) =>
    more || kinds.some((kind) => (words as readonly string[]).includes(kind.split('.')[0] ?? ''));

export function readDigest(text: string): Digest {
  try {
    const read = JSON.parse(text) as Partial<Digest>;
    const { count = 0, dags = [], runs = [], kinds = [], more = false } = read;
    return { count, dags, runs, kinds, more };
  } catch {
    return EVERYTHING;
  }
}
