/** Which of the large outputs an attempt is given: those that its inputs name, or all of them where it has no inputs. */
import type { OutputRef } from '@signalbox/protocol/grpc';
import type { Work } from '../work.ts';

export function wantedOf(references: readonly OutputRef[], work: Work | null): readonly OutputRef[] {
  const sources = Object.values(work?.shape.inputs ?? {});
  if (sources.length === 0) return references;
  const named = new Set(sources.flatMap((source) => (source.from === 'task' ? [source.task] : [])));
  return references.filter(({ taskName }) => named.has(taskName));
}
