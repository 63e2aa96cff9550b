/**
 * What all peers are measured by, in a process of their own: no-op jobs from the first submission to the last end, bulk submission alone, and
 * from submission to handler, idle. PEER_JOBS and PEER_LATENCIES say how many. Prints one line of JSON.
 */
const jobs = Number(process.env.PEER_JOBS);
const latencies = Number(process.env.PEER_LATENCIES);
const BATCH = 1_000;

let [done, wanted, reached] = [0, Number.POSITIVE_INFINITY, () => {}];
/** The handler of all peers: counts, and tells when it has been called often enough. */
export const handled = (count = 1) => {
  done += count;
  if (done >= wanted) reached();
};
const whenDone = (count) =>
  new Promise((resolve) => {
    [done, wanted, reached] = [0, count, resolve];
  });

/** `one` and `many` submit, `start` begins to work on what was submitted. */
export async function measure({ one, many, start, stop }) {
  const submit = async (count) => {
    for (let left = count; left > 0; left -= BATCH) await many(Math.min(BATCH, left));
  };
  const began = performance.now();
  await submit(jobs);
  const submitMs = performance.now() - began;
  const ended = whenDone(jobs);
  const workedFrom = performance.now();
  const worker = await start();
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
    const handledOnce = whenDone(1);
    const sent = performance.now();
    await one();
    await handledOnce;
    waits.push(performance.now() - sent);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  const { user, system } = process.cpuUsage();
  console.log(JSON.stringify({ submitMs, workMs, flowMs, waits, cpuMs: (user + system) / 1_000 }));
  await stop(worker);
  process.exit(0);
}
