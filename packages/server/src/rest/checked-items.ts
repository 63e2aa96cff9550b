/** Params against the schema of their dag, before they are sent: the engine takes them only as checked for its own version. */
import type { SubmitRuns, VersionNo } from '@signalbox/engine';
import { checkParams, MAX_PARAMS_BYTES, MAX_PROBLEMS, type Problem, SignalboxError } from '@signalbox/protocol';
import type { DagPlace } from './dag-lookup.ts';

type Items = SubmitRuns['items'];

export interface CheckedItems {
  readonly items: Items;
  readonly checkedFor?: VersionNo;
}

/** With defaults filled in. Throws PARAMS_INVALID with the place of each fault; of a batch nothing is submitted then (I13). */
export function checkItems(dag: string, { params: wanted }: DagPlace, items: Items): CheckedItems {
  if (wanted === undefined || wanted === null) return { items };
  const problems: Problem[] = [];
  const filled = items.map((item, no) => {
    const checked = checkParams(wanted.schema, item.params === null ? null : (JSON.parse(item.params) as unknown));
    if (checked.ok) return { ...item, params: textOf(checked.params) };
    for (const { path, message } of checked.problems) {
      problems.push({ path: items.length === 1 ? path : `runs[${no}].${path}`, message });
    }
    return item;
  });
  if (problems.length > 0) {
    throw new SignalboxError('PARAMS_INVALID', { dag, problems: problems.slice(0, MAX_PROBLEMS) });
  }
  return { items: filled, checkedFor: wanted.versionNo };
}

function textOf(params: unknown): string | null {
  if (params === null) return null;
  const text = JSON.stringify(params);
  if (Buffer.byteLength(text) <= MAX_PARAMS_BYTES) return text;
  const limit = `${MAX_PARAMS_BYTES} bytes`;
  throw new SignalboxError('TOO_LARGE', { what: 'What the params are with their defaults', limit });
}
