/** Which function does the work of each task in a test. */
import type { DagSpecShape } from '@signalbox/protocol';
import type { Handler } from '../handler.ts';
import type { Stub } from './stubs.ts';

export function handlersOf(
  spec: DagSpecShape,
  functions: Readonly<Record<string, Handler>>,
  stubs: Readonly<Record<string, Stub>>,
): ReadonlyMap<string, Stub> {
  const all = [...spec.tasks, ...(spec.templates ?? [])];
  const names = all.map(({ name }) => name);
  for (const name of Object.keys(stubs)) {
    // One instance of a mapped task may have a stub of its own, as load[3].
    // Names of tasks that are added are not known before.
    if (spec.templates === undefined && !names.includes(name.replace(/(?:\[\d+\])+$/, '')))
      throw new Error(`There is no task ${name} to stub; the tasks are ${names.join(', ')}.`);
  }
  return new Map(
    all.map(({ name, handler, work, child }) => {
      const run = (Object.hasOwn(stubs, name) ? stubs[name] : undefined) ?? functions[handler];
      if (run !== undefined) return [name, run as Stub];
      const what = {
        process: 'a process',
        http: 'an HTTP call',
        handler: 'a handler of a worker',
        function: 'a function',
        child: 'a run of another dag',
      };
      throw new Error(
        `Task ${name} is ${what[child === undefined ? (work?.kind ?? 'handler') : 'child']}, which a test does not run: give a stub for it, as stubs: { ${JSON.stringify(name)}: () => … }.`,
      );
    }),
  );
}
