/**
 * One peer in a process of its own: `measure.mjs PEER SETTINGS`, with the address of its database in PEER_URL. No-op jobs from the first
 * submission to the last end, bulk submission alone, and from submission to handler, idle. Prints one line of JSON.
 */
const [peer, settings] = process.argv.slice(2);
const url = process.env.PEER_URL;
const jobs = Number(process.env.PEER_JOBS);
const latencies = Number(process.env.PEER_LATENCIES);
const BATCH = 1_000;

let [done, wanted, reached] = [0, Number.POSITIVE_INFINITY, () => {}];
/** The handler of all peers: counts, and tells when it has been called often enough. */
const handled = (count = 1) => {
  done += count;
  if (done >= wanted) reached();
};
const whenDone = (count) =>
  new Promise((resolve) => {
    [done, wanted, reached] = [0, count, resolve];
  });

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

const box = await peers[peer]();
const submit = async (count) => {
  for (let left = count; left > 0; left -= BATCH) await box.many(Math.min(BATCH, left));
};
const began = performance.now();
await submit(jobs);
const submitMs = performance.now() - began;
const ended = whenDone(jobs);
const workedFrom = performance.now();
const worker = await box.start();
await ended;
const workMs = performance.now() - workedFrom;
// A second time with the worker running, as a flow.
const flowed = whenDone(jobs);
const flowFrom = performance.now();
await submit(jobs);
await flowed;
const flowMs = performance.now() - flowFrom;
const waits = [];
for (let i = 0; i < latencies; i++) {
  const one = whenDone(1);
  const sent = performance.now();
  await box.one();
  await one;
  waits.push(performance.now() - sent);
  await new Promise((resolve) => setTimeout(resolve, 10));
}
const { user, system } = process.cpuUsage();
console.log(JSON.stringify({ submitMs, workMs, flowMs, waits, cpuMs: (user + system) / 1_000 }));
await box.stop(worker);
process.exit(0);
