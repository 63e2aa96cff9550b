/**
 * The params of a child run: the inputs of the calling task, resolved like those of any task and checked like submitted
 * params.
 */
import type { ChildParams } from '@signalbox/host';
import {
  CheckBudget,
  type ChildWork,
  checkParams,
  describeInput,
  findInput,
  jsonFault,
  MAX_PARAMS_BYTES,
  missingIn,
  type ParamsSchema,
} from '@signalbox/protocol';

export const childParams: ChildParams = (work, visible, schema) => {
  const { inputs } = (work ?? { kind: 'child' }) as ChildWork;
  const upstream: Record<string, unknown> = Object.create(null);
  for (const [name, text] of visible.upstream) upstream[name] = JSON.parse(text);
  const params: unknown = visible.params === null ? null : JSON.parse(visible.params);
  const { id, dag, createdAt, priority, window, windowStart } = visible.run;
  const run = {
    'run.id': id,
    'run.dag': dag,
    'run.createdAt': createdAt,
    'run.priority': priority,
    'window.at': window,
    'window.start': windowStart,
    'window.end': window,
  };
  const map = visible.map.map(({ group, index, item }) => ({ group, index, item: JSON.parse(item) as unknown }));
  const roots = { params, upstream, absent: visible.absent, map, run };
  const given: Record<string, unknown> = Object.create(null);
  for (const [name, source] of Object.entries(inputs ?? {})) {
    const found = findInput(source, roots);
    const missing = found === undefined ? missingIn(source, roots) : null;
    if (missing !== null) {
      const { reference, cause } = describeInput(missing);
      return { ok: false, error: `Input ${name} is ${reference}, which does not exist. ${cause}` };
    }
    given[name] = found;
  }
  return checked(inputs === undefined ? null : given, schema as ParamsSchema | null);
};

/**
 * About 40 ms at most: this runs on the scheduling loop. Enough for a hundred thousand values; a schema that needs more for what a
 * task gives fails that task.
 */
const MAX_LOOKS = 100_000;

function checked(given: unknown, schema: ParamsSchema | null): ReturnType<ChildParams> {
  const read =
    schema === null ? { ok: true as const, params: given } : checkParams(schema, given, new CheckBudget(MAX_LOOKS));
  if (!read.ok) {
    const faults = read.problems.slice(0, 5).map(({ path, message }) => `${path} ${message}`);
    return { ok: false, error: `The dag does not take these params: ${faults.join('; ')}.` };
  }
  if (read.params === null) return { ok: true, params: null };
  const fault = jsonFault(read.params, { bytes: MAX_PARAMS_BYTES });
  if (fault !== null) return { ok: false, error: `The params of the run ${fault}.` };
  return { ok: true, params: JSON.stringify(read.params) };
}
