/** One ordeal from beginning to verdict. */
import { verdict } from './checker.ts';
import { Cluster } from './cluster.ts';
import { Load } from './load.ts';
import type { Ordeal } from './scenarios.ts';

export interface OrdealResult {
  readonly name: string;
  readonly dispatchMs: number;
  readonly acceptedRuns: number;
  readonly faults: readonly string[];
}

export async function undergo(ordeal: Ordeal, options: { readonly running: number }): Promise<OrdealResult> {
  const slots = Math.ceil(options.running / 2) + 100;
  const cluster = await Cluster.start({ servers: 2, workers: 2, slots });
  try {
    const load = new Load(cluster, { dags: 8, live: options.running, minMs: 2_000, maxMs: 6_000 });
    await load.start();
    const { dispatchMs, lostWorkers } = await ordeal.inflict(cluster, load);
    await load.finish(120_000);
    const faults = await verdict(cluster, { accepted: load.accepted, lostWorkers });
    return { name: ordeal.name, dispatchMs, acceptedRuns: load.accepted.length, faults };
  } catch (error) {
    console.error(cluster.logs());
    throw error;
  } finally {
    await cluster.stop();
  }
}
