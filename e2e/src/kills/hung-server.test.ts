import { expect, test } from 'vitest';
import { verdict } from '../checker.ts';
import { Cluster, type ServerProcess } from '../cluster.ts';
import { Load } from '../load.ts';
import { nextDispatch } from '../scenarios.ts';

/** Shards of a hung server move within 4 s; the bound leaves room for a busy machine. */
const WITHIN_MS = 8_000;

test('all workers are on a server that hangs: every dag dispatches again about as soon as its shards move (I18, I29)', {
  timeout: 180_000,
}, async () => {
  const cluster = await Cluster.start({ servers: 3, workers: 0, slots: 0 });
  try {
    const victim = cluster.servers[0] as ServerProcess;
    for (let i = 0; i < 2; i++) await cluster.addWorker(100, undefined, victim);
    const load = new Load(cluster, { dags: 6, live: 60, minMs: 200, maxMs: 800 });
    await load.start();
    const at = Date.now();
    victim.signal('SIGSTOP');
    // What was on its way to the workers may still begin just after the freeze.
    const waits = await Promise.all(
      load.dagNames().map((dag) => nextDispatch(cluster, dag, at + 500, 30_000).then((ms) => ms + 500)),
    );
    console.log(`hung server: each dag dispatches again after ${waits.map(Math.round).join(', ')} ms`);
    victim.signal('SIGCONT');
    await load.finish(60_000);
    const faults = await verdict(cluster, { accepted: load.accepted, lostWorkers: [] });
    expect(faults).toEqual([]);
    expect(Math.max(...waits)).toBeLessThan(WITHIN_MS);
  } catch (error) {
    console.error(cluster.logs());
    throw error;
  } finally {
    await cluster.stop();
  }
});
