import { expect, test } from 'vitest';
import { verdict } from '../checker.ts';
import { Cluster, type ServerProcess } from '../cluster.ts';
import { Load } from '../load.ts';
import { pause } from '../processes.ts';

const ROUNDS = Number(process.env['SIGNALBOX_LEAVES'] ?? '4');

test('workers that are told to stop just after a server came back leave nothing that waits for a lease (I27)', {
  timeout: 60_000 + ROUNDS * 20_000,
}, async () => {
  const cluster = await Cluster.start({ servers: 2, workers: 2, slots: 40 });
  try {
    // More work than slots: whoever has a free slot is given something at once.
    const load = new Load(cluster, { dags: 8, live: 120, minMs: 50, maxMs: 300 });
    await load.start(60);
    const lost: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const server = cluster.runningServers()[round % 2] as ServerProcess;
      server.signal('SIGKILL');
      await server.exited;
      await cluster.addServer(server);
      await pause((round * 217) % 1_500);
      const leaving = cluster.workers.find((worker) => worker.isRunning());
      leaving?.signal('SIGTERM');
      expect(await leaving?.exited).toBe(0);
      await cluster.addWorker(40);
      lost.push(await lostAttempts(cluster));
    }
    await pause(17_000); // a lease, and a little more: what nobody gave back would be given up by now
    lost.push(await lostAttempts(cluster));
    console.log(
      `workers that leave: attempts lost so far after each of ${ROUNDS} rounds, and at the end: ${lost.join(', ')}`,
    );
    await load.finish(60_000);
    expect(await verdict(cluster, { accepted: load.accepted, lostWorkers: [] })).toEqual([]);
    expect(lost.at(-1)).toBe(0);
  } catch (error) {
    console.error(cluster.logs());
    throw error;
  } finally {
    await cluster.stop();
  }
});

/** Attempts that ended because nobody heard their worker, ended or to be tried again. */
async function lostAttempts(cluster: Cluster): Promise<number> {
  const { rows } = await cluster.sql.query<{ count: string }>(
    `select (select count(*) from attempt where code like 'lost:%') + (select count(*) from task where code like 'lost:%') as count`,
  );
  return Number(rows[0]?.count);
}
