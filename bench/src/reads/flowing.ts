/** Runs that keep coming while something else is measured. */
import { type Cluster, pause } from '@signalbox/e2e';

const EVERY_MS = 100;

interface Flowing {
  /** Returns how many runs a second were submitted. */
  stop(): Promise<number>;
}

export function keepFlowing(cluster: Cluster, dag: string, perSecond: number): Flowing {
  const client = cluster.client();
  const batch = Array.from({ length: (perSecond * EVERY_MS) / 1_000 }, () => ({}));
  const began = performance.now();
  let [isOn, submitted] = [true, 0];
  const flow = async () => {
    for (let no = 1; isOn; no++) {
      await client.submitMany(dag, batch);
      submitted += batch.length;
      // A late batch is made up for by the next ones.
      await pause(Math.max(0, began + no * EVERY_MS - performance.now()));
    }
  };
  const flowed = flow();
  return {
    stop: async () => {
      isOn = false;
      await flowed;
      return (submitted / (performance.now() - began)) * 1_000;
    },
  };
}
