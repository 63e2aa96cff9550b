/** What is done to a cluster under load, and how long it takes until work goes on. */
import type { Cluster, ServerProcess } from './cluster.ts';
import type { Load } from './load.ts';
import { pause, until } from './processes.ts';
import { firstBeganAfter } from './witness.ts';

export interface Ordeal {
  readonly name: string;
  /** What is promised, and room for a busy machine. */
  readonly withinMs: number;
  /** Does it, and answers how long no task of the hit shards began; and which workers were lost on the way. */
  readonly inflict: (cluster: Cluster, load: Load) => Promise<{ dispatchMs: number; lostWorkers: readonly string[] }>;
}

const NONE: readonly string[] = [];

/** Until a task of this dag begins again. */
export async function nextDispatch(cluster: Cluster, dag: string, since: number, timeoutMs: number): Promise<number> {
  const { rows } = await cluster.sql.query<{ shard: number }>('select shard from dag where name = $1', [dag]);
  const suffix = Number(rows[0]?.shard).toString(16).padStart(2, '0');
  let found: number | null = null;
  await until(`a task of ${dag} begins`, timeoutMs, () => {
    const ofShard = cluster.sightings().filter((sighting) => sighting.run.endsWith(suffix));
    found = firstBeganAfter(ofShard, since)?.at ?? null;
    return found !== null;
  });
  return (found ?? Number.NaN) - since;
}

export const killOwner: Ordeal = {
  name: 'owner killed (kill -9)',
  withinMs: 8_000,
  inflict: async (cluster, load) => {
    const victim = cluster.runningServers()[0] as ServerProcess;
    const dag = await load.dagOwnedBy(victim);
    const at = Date.now();
    victim.signal('SIGKILL');
    const dispatchMs = await nextDispatch(cluster, dag, at + 50, 30_000);
    await cluster.addServer();
    return { dispatchMs, lostWorkers: NONE };
  },
};

const freezeOwner: Ordeal = {
  name: 'owner frozen for 8 s (SIGSTOP), then woken',
  withinMs: 8_000,
  inflict: async (cluster, load) => {
    const victim = cluster.runningServers()[0] as ServerProcess;
    const dag = await load.dagOwnedBy(victim);
    const at = Date.now();
    victim.signal('SIGSTOP');
    const dispatchMs = await nextDispatch(cluster, dag, at + 50, 30_000);
    await pause(Math.max(0, 8_000 - (Date.now() - at)));
    victim.signal('SIGCONT');
    return { dispatchMs, lostWorkers: NONE };
  },
};

const stopDatabase: Ordeal = {
  name: 'database stopped for 20 s',
  withinMs: 8_000,
  inflict: async (cluster, load) => {
    const [dag] = load.dagNames();
    await cluster.postgres.killHard();
    await pause(20_000);
    await cluster.postgres.restart();
    const back = Date.now();
    return { dispatchMs: await nextDispatch(cluster, dag as string, back, 60_000), lostWorkers: NONE };
  },
};

const killWorker: Ordeal = {
  name: 'worker killed (kill -9)',
  withinMs: 8_000,
  inflict: async (cluster, load) => {
    const [victim] = cluster.workers.filter((worker) => worker.isRunning());
    const [dag] = load.dagNames();
    const at = Date.now();
    victim?.signal('SIGKILL');
    await cluster.addWorker(600);
    return { dispatchMs: await nextDispatch(cluster, dag as string, at, 30_000), lostWorkers: [victim?.name ?? ''] };
  },
};

const freezeWorker: Ordeal = {
  name: 'worker frozen for 20 s (SIGSTOP), then woken',
  withinMs: 8_000,
  inflict: async (cluster, load) => {
    const [victim] = cluster.workers.filter((worker) => worker.isRunning());
    const [dag] = load.dagNames();
    const at = Date.now();
    victim?.signal('SIGSTOP');
    const dispatchMs = await nextDispatch(cluster, dag as string, at, 30_000);
    await pause(Math.max(0, 20_000 - (Date.now() - at)));
    victim?.signal('SIGCONT');
    return { dispatchMs, lostWorkers: [victim?.name ?? ''] };
  },
};

const pauseDatabase: Ordeal = {
  name: 'database frozen for 20 s (SIGSTOP), then woken',
  withinMs: 8_000,
  inflict: async (cluster, load) => {
    await cluster.postgres.freeze();
    await pause(20_000);
    cluster.postgres.thaw();
    const back = Date.now();
    const waits = await Promise.all(load.dagNames().map((dag) => nextDispatch(cluster, dag, back, 60_000)));
    return { dispatchMs: Math.max(...waits), lostWorkers: NONE };
  },
};

const killEverything: Ordeal = {
  name: 'servers, workers and database killed at once (kill -9), then started again',
  withinMs: 8_000,
  inflict: async (cluster, load) => {
    const servers = cluster.runningServers();
    const workers = cluster.workers.filter((worker) => worker.isRunning());
    for (const each of [...servers, ...workers]) each.signal('SIGKILL');
    await cluster.postgres.killHard();
    await Promise.all([...servers, ...workers].map((each) => each.exited));
    await cluster.postgres.restart();
    const back = Date.now();
    const ready = Promise.all(servers.map((server) => cluster.addServer(server)));
    for (const _ of workers) await cluster.addWorker(600);
    const waits = Promise.all(load.dagNames().map((dag) => nextDispatch(cluster, dag, back, 120_000)));
    await cluster.whenUp(cluster.runningServers());
    const upMs = Date.now() - back;
    await ready;
    const first = Math.min(...(await waits));
    console.log(
      `all servers are up ${upMs} ms after the database, and dags dispatch after ${(await waits).join(', ')} ms`,
    );
    // Counted from when all processes are up: how long they take to start says nothing about how long they wait for each other.
    return { dispatchMs: Math.max(0, first - upMs), lostWorkers: workers.map(({ name }) => name) };
  },
};

export const ORDEALS: readonly Ordeal[] = [
  killOwner,
  freezeOwner,
  stopDatabase,
  pauseDatabase,
  killWorker,
  freezeWorker,
  killEverything,
];
