/**
 * What a no-op task costs the worker. The worker runs here, a scripted gateway in a process of its own keeps its slots
 * full, so that the processor time measured is the worker's alone: `node dist/bench-worker.js [tasks] [slots]`.
 */
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Report } from '@signalbox/protocol/grpc';
import { assignmentOf, ScriptedGateway } from './scripted-gateway.ts';
import { startWorker } from './worker.ts';

const [tasks = 300_000, slots = 500] = process.argv.slice(2).map(Number);

async function serve(): Promise<void> {
  const gateway = await ScriptedGateway.start();
  let given = 0;
  let done = 0;
  const batch = (count: number) => Array.from({ length: Math.max(0, count) }, () => assignmentOf(++given));
  gateway.onMessage = (session, { reports, heartbeat }) => {
    if (heartbeat !== null) session.say({ heartbeatAnswered: heartbeat.no });
    if (reports.length === 0) return;
    done += reports.length;
    session.say({
      answers: reports.map(({ claim }: Report) => ({ claim, verdict: 'accepted' as const })),
      assignments: batch(Math.min(reports.length, tasks - given)),
    });
    if (done >= tasks) process.send?.({ done });
  };
  process.send?.({ address: gateway.address });
  const session = await gateway.session(0);
  process.on('message', () => {
    // Four messages on their way rather than one: neither side waits for the other.
    for (let i = 0; i < 4; i++) session.say({ assignments: batch(Math.floor(slots / 4)) });
  });
}

async function measure(kind: 'plain' | 'async'): Promise<void> {
  const child = fork(fileURLToPath(import.meta.url), process.argv.slice(2), {
    env: { ...process.env, BENCH_GATEWAY: '1' },
  });
  const next = <T>(): Promise<T> => new Promise((resolve) => child.once('message', (message) => resolve(message as T)));
  const { address } = await next<{ address: string }>();
  const quiet = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
  const handlers = { noop: kind === 'plain' ? () => {} : async () => {} };
  const worker = startWorker({ gateways: [address], token: 't', slots, handlers, log: quiet });
  await worker.connected;
  const before = process.cpuUsage();
  const startedAt = performance.now();
  child.send('go');
  await next();
  const seconds = (performance.now() - startedAt) / 1000;
  const { user, system } = process.cpuUsage(before);
  const perTask = ((user + system) / tasks).toFixed(2);
  console.log(`${kind} handler: ${perTask} µs of processor a task, ${Math.round(tasks / seconds)} tasks a second`);
  await worker.stop();
  child.kill();
}

if (process.env.BENCH_GATEWAY === '1') await serve();
else {
  await measure('plain');
  await measure('async');
}
