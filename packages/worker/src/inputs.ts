/** Resolves the references of a task, once the tasks that it needs have ended. */
import { describeInput, findInput, type InputRoots, type InputSource, missingIn } from '@signalbox/protocol';
import { PermanentError } from '@signalbox/sdk';

export type { InputRoots } from '@signalbox/protocol';

/** Throws a `PermanentError` for a path that leads nowhere: another attempt would find the same. */
export function resolveInputs(
  sources: Readonly<Record<string, InputSource>> | undefined,
  roots: InputRoots,
): Readonly<Record<string, unknown>> {
  // Without a prototype: an input may have the name of anything that objects inherit.
  const inputs: Record<string, unknown> = Object.create(null);
  for (const [name, source] of Object.entries(sources ?? {})) inputs[name] = resolve(name, source, roots);
  return inputs;
}

function resolve(name: string, source: InputSource, roots: InputRoots): unknown {
  const found = findInput(source, roots);
  const missing = found === undefined ? missingIn(source, roots) : null;
  if (missing === null) return found;
  const { reference, cause } = describeInput(missing);
  const is = source.from === 'template' ? 'has' : 'is';
  throw new PermanentError(`Input ${name} ${is} ${reference}, which does not exist. ${cause}`);
}
