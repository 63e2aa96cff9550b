/** What a task's references point to, once the tasks that it needs have ended. */
import { follow, type InputSource, showPath, taskReference } from '@signalbox/protocol';
import { PermanentError } from '@signalbox/sdk';

export interface InputRoots {
  readonly params: unknown;
  readonly upstream: Readonly<Record<string, unknown>>;
  /** Names of tasks that it needs and that did not succeed: what comes from them is null. */
  readonly absent: readonly string[];
}

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

function resolve(name: string, source: InputSource, { params, upstream, absent }: InputRoots): unknown {
  if (source.from === 'value') return source.value;
  if (source.from === 'task' && absent.includes(source.task)) return null;
  const root = source.from === 'params' ? params : upstream[source.task];
  const found = follow(root, source.path);
  if (found !== undefined) return found;
  const reference =
    source.from === 'params' ? `\${{ params${showPath(source.path)} }}` : taskReference(source.task, source.path);
  const cause =
    source.from === 'params'
      ? 'The run was submitted without it.'
      : `What task ${source.task} returned does not have it.`;
  throw new PermanentError(`Input ${name} is ${reference}, and there is nothing. ${cause}`);
}
