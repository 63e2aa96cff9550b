/** Counts what some work allocates on the heap, garbage included. Unlike time, it hardly depends on what else the machine does. */
import { Session } from 'node:inspector';

interface Node {
  readonly selfSize: number;
  readonly children: readonly Node[];
}

/** One allocation is looked at for each of these, so a megabyte is counted to about three percent. */
const SAMPLING_BYTES = 1_024;

export function allocatedBytes(work: () => void): number {
  const session = new Session();
  session.connect();
  session.post('HeapProfiler.startSampling', {
    samplingInterval: SAMPLING_BYTES,
    includeObjectsCollectedByMajorGC: true,
    includeObjectsCollectedByMinorGC: true,
  });
  work();
  let bytes = 0;
  session.post('HeapProfiler.stopSampling', (_, { profile }) => {
    bytes = sizeOf(profile.head);
  });
  session.disconnect();
  return bytes;
}

function sizeOf({ selfSize, children }: Node): number {
  return children.reduce((sum, child) => sum + sizeOf(child), selfSize);
}
