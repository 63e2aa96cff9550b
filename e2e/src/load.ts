/** A steady flow of work through a cluster: dags on shards of every owner, runs that take seconds, submitted all the time. */
import type { Client } from '@signalbox/sdk';
import type { Cluster, ServerProcess } from './cluster.ts';
import { pause, until } from './processes.ts';

export interface LoadOptions {
  readonly dags: number;
  /** Runs that are kept in the system at any time. */
  readonly live: number;
  readonly minMs: number;
  readonly maxMs: number;
}

const DAG_PREFIX = 'chaos';

export class Load {
  readonly accepted: string[] = [];
  private readonly cluster: Cluster;
  private readonly options: LoadOptions;
  private isOn = true;
  private feeder: Promise<void> = Promise.resolve();

  constructor(cluster: Cluster, options: LoadOptions) {
    this.cluster = cluster;
    this.options = options;
  }

  dagNames(): string[] {
    return Array.from({ length: this.options.dags }, (_, i) => `${DAG_PREFIX}-${i}`);
  }

  /** Deploys the dags, fills the system, and keeps it full. */
  async start(running = this.options.live * 0.9): Promise<void> {
    const client = this.cluster.client();
    for (const name of this.dagNames()) await client.deployDag(definition(name));
    await this.top(client, this.options.live);
    this.feeder = this.feed();
    await until(`${running} tasks have begun`, 60_000, async () => (await this.running()) >= running);
  }

  async running(): Promise<number> {
    const { rows } = await this.cluster.sql.query<{ count: string }>(
      'select count(*) from task where ended_at is null',
    );
    return Number(rows[0]?.count);
  }

  /** No new runs; all that were accepted end. */
  async finish(timeoutMs: number): Promise<void> {
    this.isOn = false;
    await this.feeder;
    // Windows would keep coming: from here on they are recorded as skipped.
    for (const name of this.dagNames()) await this.cluster.client().pauseSchedule(name);
    await until('all runs have ended', timeoutMs, async () => (await this.liveRuns()) === 0);
  }

  /** A dag whose shard this server owns. */
  async dagOwnedBy(server: ServerProcess): Promise<string> {
    for (const name of this.dagNames()) if ((await this.cluster.ownerOfDag(name)) === server) return name;
    throw new Error(`${server.name} owns the shard of none of the dags.`);
  }

  private async liveRuns(): Promise<number> {
    try {
      const { rows } = await this.cluster.sql.query<{ count: string }>('select count(*) from live_run');
      return Number(rows[0]?.count);
    } catch {
      return Number.POSITIVE_INFINITY;
    }
  }

  /** Submissions go on through every fault: what is refused or unknown is not counted as accepted, and tried again. */
  private async feed(): Promise<void> {
    while (this.isOn) {
      const missing = this.options.live + 200 - (await this.liveRuns());
      const server = this.cluster.runningServers().at(-1);
      if (missing > 0 && Number.isFinite(missing) && server !== undefined) {
        await this.top(this.cluster.client(server), missing).catch(() => undefined);
      }
      await pause(100);
    }
  }

  private async top(client: Client, count: number): Promise<void> {
    const names = this.dagNames();
    const share = Math.ceil(count / names.length);
    const { minMs, maxMs } = this.options;
    for (const name of names) {
      const runs = Array.from({ length: Math.min(share, 1_000) }, () => ({ params: { minMs, maxMs } }));
      const { ids } = await client.submitMany(name, runs);
      this.accepted.push(...ids);
    }
  }
}

function definition(name: string) {
  return {
    name,
    tasks: [{ name: 'work', handler: 'takeTime', retries: { maxAttempts: 3, baseMs: 100, maxMs: 500, maxLost: 10 } }],
    schedule: { cron: '* * * * * *' },
  };
}
