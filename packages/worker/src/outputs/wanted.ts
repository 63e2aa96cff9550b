/**
 * Which large outputs an attempt receives: those that its inputs and texts refer to. A function without inputs can look at
 * all outputs of earlier tasks, so it receives all of them.
 */
import { type InputSource, sourcesIn } from '@signalbox/protocol';
import type { OutputRef } from '@signalbox/protocol/grpc';
import type { Work } from '../work.ts';

export function wantedOf(references: readonly OutputRef[], work: Work | null): readonly OutputRef[] {
  const { kind = 'handler', inputs = {}, fill = {} } = work?.shape ?? {};
  const mayLook = kind === 'handler' || kind === 'function';
  if (mayLook && Object.keys(inputs).length === 0) return references;
  const named = new Set<string>();
  for (const source of Object.values(inputs)) for (const task of tasksIn(source)) named.add(task);
  for (const template of Object.values(fill)) {
    for (const task of tasksIn({ from: 'template', template })) named.add(task);
  }
  return references.filter(({ taskName }) => named.has(taskName));
}

function* tasksIn(source: InputSource): Generator<string> {
  if (source.from === 'task') yield source.task;
  if (source.from !== 'template') return;
  for (const inner of sourcesIn(source.template)) if (inner.from !== 'secret') yield* tasksIn(inner);
}
