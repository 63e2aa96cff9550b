/**
 * One queue in a process of its own: `measure.mjs PEER SETTINGS`, with the address of its database in PEER_URL. `flow.mjs` says what is measured.
 */
import { handled, measure } from './flow.mjs';

const [peer, settings] = process.argv.slice(2);
const url = process.env.PEER_URL;

const peers = {
  /** Defaults: one job at a time. Best, by its docs on performance: many at a time, and a pool of as many connections as help. */
  async 'graphile-worker'() {
    const { run, makeWorkerUtils, runMigrations } = await import('graphile-worker');
    const { default: pg } = await import('pg');
    await runMigrations({ connectionString: url });
    const best = settings === 'best';
    const pgPool = new pg.Pool({ connectionString: url, max: best ? 20 : 10 });
    const utils = await makeWorkerUtils({ pgPool });
    const quiet = { logger: new (await import('graphile-worker')).Logger(() => () => {}) };
    const start = () =>
      run({
        pgPool,
        taskList: { noop: async () => handled() },
        noHandleSignals: true,
        ...quiet,
        ...(best ? { concurrency: 50 } : {}),
      });
    return {
      start,
      stop: async (runner) => {
        await runner.stop();
        await utils.release();
        await pgPool.end();
      },
      one: () => utils.addJob('noop', {}),
      many: (count) =>
        pgPool.query(
          `select count(*) from graphile_worker.add_jobs((select array_agg(('noop', '{}'::json, null, null, null, null, null, null)::graphile_worker.job_spec) from generate_series(1, $1::int)))`,
          [count],
        ),
    };
  },
  /** Defaults: one job every two seconds. Best: large batches, polls every half second (the least it takes), several workers. */
  async 'pg-boss'() {
    const { default: PgBoss } = await import('pg-boss');
    const best = settings === 'best';
    const boss = new PgBoss({ connectionString: url, max: best ? 20 : 10 });
    boss.on('error', () => {});
    await boss.start();
    await boss.createQueue('noop');
    return {
      start: async () => {
        const options = best ? { batchSize: 1_000, pollingIntervalSeconds: 0.5 } : {};
        for (let i = 0; i < (best ? 4 : 1); i++) await boss.work('noop', options, async (list) => handled(list.length));
      },
      stop: () => boss.stop({ graceful: false }),
      one: () => boss.send('noop', {}),
      many: (count) => boss.insert(Array.from({ length: count }, () => ({ name: 'noop', data: {} }))),
    };
  },
  /** Defaults: one job at a time. Best: many at a time, ended jobs removed, which its docs advise for production. */
  async bullmq() {
    const { Queue, Worker } = await import('bullmq');
    const best = settings === 'best';
    const connection = { host: '127.0.0.1', port: Number(new URL(url).port), maxRetriesPerRequest: null };
    const kept = best ? { defaultJobOptions: { removeOnComplete: true, removeOnFail: true } } : {};
    const queue = new Queue('noop', { connection, ...kept });
    return {
      start: async () => {
        const worker = new Worker('noop', async () => handled(), { connection, ...(best ? { concurrency: 200 } : {}) });
        await worker.waitUntilReady();
        return worker;
      },
      stop: async (worker) => {
        await worker.close();
        await queue.close();
      },
      one: () => queue.add('noop', {}),
      many: (count) => queue.addBulk(Array.from({ length: count }, () => ({ name: 'noop', data: {} }))),
    };
  },
};

await measure(await peers[peer]());
