/** The params of a child run: the inputs of the task that calls it, resolved as those of any task are. */
import type { ChildParams } from '@signalbox/host';
import { type ChildWork, describeInput, findInput, jsonFault, MAX_PARAMS_BYTES } from '@signalbox/protocol';

export const childParams: ChildParams = (work, visible) => {
  const { inputs } = (work ?? { kind: 'child' }) as ChildWork;
  if (inputs === undefined) return { ok: true, params: null };
  const upstream: Record<string, unknown> = Object.create(null);
  for (const [name, text] of visible.upstream) upstream[name] = JSON.parse(text);
  const params: unknown = visible.params === null ? null : JSON.parse(visible.params);
  const roots = { params, upstream, absent: visible.absent, map: [] };
  const given: Record<string, unknown> = Object.create(null);
  for (const [name, source] of Object.entries(inputs)) {
    const found = findInput(source, roots);
    if (found === undefined && source.from !== 'value') {
      const { reference, cause } = describeInput(source);
      return { ok: false, error: `Input ${name} is ${reference}, and there is nothing. ${cause}` };
    }
    given[name] = found;
  }
  const fault = jsonFault(given, { bytes: MAX_PARAMS_BYTES });
  return fault === null
    ? { ok: true, params: JSON.stringify(given) }
    : { ok: false, error: `The params of the run ${fault}.` };
};
