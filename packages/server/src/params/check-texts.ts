/** Checks the params of one request, all of its runs, and fills in defaults. Used on the edge's thread and on the checker's. */
import {
  type CheckBudget,
  checkParams,
  MAX_PARAMS_BYTES,
  MAX_PROBLEMS,
  type ParamsSchema,
  type Problem,
} from '@signalbox/protocol';

/** JSON texts; null for none. */
export type ParamsTexts = readonly (string | null)[];

export type CheckedTexts =
  | { readonly kind: 'fit'; readonly texts: ParamsTexts }
  | { readonly kind: 'wrong'; readonly problems: readonly Problem[] }
  /** The budget was spent at this place. */
  | { readonly kind: 'tooCostly'; readonly problem: Problem }
  | { readonly kind: 'tooLarge'; readonly limit: number };

/** With their defaults, all runs of a batch. A default of 60 KB in a thousand runs would be 60 MB, out of a request of a few kilobytes. */
const MAX_BATCH_PARAMS_BYTES = 8 * 1024 * 1024;

export function checkTexts(schema: ParamsSchema, texts: ParamsTexts, budget: CheckBudget): CheckedTexts {
  const problems: Problem[] = [];
  const filled: (string | null)[] = [];
  let bytes = 0;
  for (const [no, text] of texts.entries()) {
    const place = (path: string) => (texts.length === 1 ? path : `runs[${no}].${path}`);
    const checked = checkParams(schema, text === null ? null : (JSON.parse(text) as unknown), budget);
    if (!checked.ok) {
      const found = checked.problems.map(({ path, message }) => ({ path: place(path), message }));
      if (checked.isTooCostly)
        return { kind: 'tooCostly', problem: found[0] ?? { path: place('params'), message: '' } };
      problems.push(...found);
      if (problems.length >= MAX_PROBLEMS) break;
      continue;
    }
    const whole = checked.params === null ? null : JSON.stringify(checked.params);
    const size = whole === null ? 0 : Buffer.byteLength(whole);
    bytes += size;
    if (size > MAX_PARAMS_BYTES) return { kind: 'tooLarge', limit: MAX_PARAMS_BYTES };
    if (bytes > MAX_BATCH_PARAMS_BYTES) return { kind: 'tooLarge', limit: MAX_BATCH_PARAMS_BYTES };
    filled.push(whole);
  }
  if (problems.length > 0) return { kind: 'wrong', problems: problems.slice(0, MAX_PROBLEMS) };
  return { kind: 'fit', texts: filled };
}
