/**
 * `concurrency` of a dag. A number is the default of its functions: how many attempts may run in one child process. An object limits the
 * active runs of the dag by key.
 */
import { z } from 'zod';
import type { Problem } from '../errors.ts';
import type { Path } from './references.ts';
import { readParts } from './template.ts';
import { concurrencySchema } from './work.ts';

export const ON_FULL = ['queue', 'cancel_running', 'skip', 'cancel_new'] as const;
const MAX_KEY_TEXT = 500;

export const runConcurrencySchema = z.strictObject({
  key: z.string().min(1).max(MAX_KEY_TEXT),
  limit: z.int().min(1).max(1_000_000).default(1),
  onFull: z.enum(ON_FULL).default('queue'),
});

export const dagConcurrencySchema = z.union([concurrencySchema, runConcurrencySchema]);
type DagConcurrency = z.output<typeof dagConcurrencySchema>;

export interface ConcurrencyShape {
  readonly text: string;
  readonly key: readonly (string | Path)[];
  readonly limit: number;
  readonly onFull: (typeof ON_FULL)[number];
}

/** As answers show it. */
export const concurrencyViewSchema = z.object({ key: z.string(), limit: z.int(), onFull: z.enum(ON_FULL) });
export type ConcurrencyView = z.infer<typeof concurrencyViewSchema>;

/** The default of functions. */
export function ofFunctions(concurrency: DagConcurrency | undefined): number | undefined {
  return typeof concurrency === 'number' ? concurrency : undefined;
}

export function readConcurrency(
  concurrency: DagConcurrency | undefined,
  problems: Problem[],
): { readonly concurrency?: ConcurrencyShape } {
  if (concurrency === undefined || typeof concurrency === 'number') return {};
  const { key: text, limit, onFull } = concurrency;
  const parts = readParts(text, (reference) => {
    if (reference.from === 'params') return reference;
    return 'a key is made of params, which are known before a run begins: write ${{ params.<name> }}';
  });
  if (typeof parts === 'string') {
    problems.push({ path: 'concurrency.key', message: parts });
    return {};
  }
  const key: (string | Path)[] = [];
  for (const part of parts) {
    if (typeof part === 'string') key.push(part);
    else if (part.from === 'params') key.push(part.path);
  }
  return { concurrency: { text, key, limit, onFull } };
}

/** What editors show. */
export const CONCURRENCY_WORDS = {
  concurrency: {
    description:
      'An object limits the active runs with the same key. A number is the default for all functions of the dag: see concurrency of a task.',
    examples: [{ key: '${{ params.customer }}', limit: 1, onFull: 'queue' }, 20],
  },
  'concurrency.key': {
    description: 'The runs for which it is the same text share the limit.',
    examples: ['${{ params.customer }}', '${{ params.region }}/${{ params.table }}'],
  },
  'concurrency.limit': { description: 'Maximum number of active runs with the same key. Default: 1.' },
  'concurrency.onFull': {
    description:
      'What a new run does when its key is full: wait (queue), cancel the oldest ones with the key (cancel_running), not be created (skip), or be created and cancelled at once (cancel_new). Default: queue.',
  },
} as const;
