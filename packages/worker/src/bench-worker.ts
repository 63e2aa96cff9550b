/**
 * What a no-op task costs the worker, and its child processes. The worker runs here, a scripted gateway in a process of its own
 * gives it as much as it takes, so that the processor time measured is the worker's alone:
 * `node dist/bench-worker.js [tasks] [slots] [plain|async|function|process …]`. For processes it also starts the same in a bare loop.
 */
import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Assignment } from '@signalbox/protocol/grpc';
import { ScriptedData } from './scripted-data.ts';
import { assignmentOf, ScriptedGateway } from './scripted-gateway.ts';
import { startWorker } from './worker.ts';

type Kind = 'plain' | 'async' | 'function' | 'process';

const [tasks = 300_000, slots = 500] = process.argv.slice(2, 4).map(Number);
const kinds = process.argv.slice(4) as Kind[];
const CODE = 'export const functions = { noop: () => {} };';

async function serve(kind: Kind): Promise<void> {
  const gateway = await ScriptedGateway.start();
  const data = await ScriptedData.start();
  gateway.welcome = { ...gateway.welcome, dataAddress: data.address };
  const works: Partial<Record<Kind, Partial<Assignment>>> = {
    function: { work: JSON.stringify({ kind: 'function' }), bundle: data.add(CODE) },
    process: { work: JSON.stringify({ kind: 'process', run: 'true' }) },
  };
  const different = works[kind] ?? {};
  let given = 0;
  let ahead = 0;
  let refused = 0;
  const open = new Map<number, Assignment>();
  const assign = (assignment: Assignment): Assignment => {
    open.set(assignment.claim.runId, assignment);
    return assignment;
  };
  gateway.onMessage = (session, { reports, refusals, heartbeat, ahead: told }) => {
    if (heartbeat !== null) session.say({ heartbeatAnswered: heartbeat.no });
    if (told !== null) ahead = told.count;
    for (const { claim } of reports) open.delete(claim.runId);
    const again = refusals.flatMap(({ claim }) => {
      const before = open.get(claim.runId);
      if (before === undefined) return [];
      refused++;
      return [assign({ ...before, claim: { ...claim, fence: claim.fence + 1 } })];
    });
    const room = Math.min(slots + ahead - open.size, tasks - given);
    const fresh = Array.from({ length: Math.max(0, room) }, () => assign(assignmentOf(++given, different)));
    session.say({
      answers: reports.map(({ claim }) => ({ claim, verdict: 'accepted' as const })),
      assignments: [...again, ...fresh],
    });
    if (open.size === 0 && given === tasks) process.send?.({ refused });
  };
  process.send?.({ address: gateway.address });
  const session = await gateway.session(0);
  process.on('message', () => {
    // Four messages on their way rather than one: neither side waits for the other.
    for (let i = 0; i < 4; i++) {
      const count = Math.max(1, Math.floor(slots / 4));
      session.say({ assignments: Array.from({ length: count }, () => assign(assignmentOf(++given, different))) });
    }
  });
}

async function measure(kind: Kind): Promise<void> {
  const child = fork(fileURLToPath(import.meta.url), process.argv.slice(2), {
    env: { ...process.env, BENCH_GATEWAY: kind },
  });
  const next = <T>(): Promise<T> => new Promise((resolve) => child.once('message', (message) => resolve(message as T)));
  const { address } = await next<{ address: string }>();
  const quiet = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
  const handlers = { noop: kind === 'plain' ? () => {} : async () => {} };
  const cacheFolder = mkdtempSync(join(tmpdir(), 'signalbox-bench-'));
  const worker = startWorker({ gateways: [address], token: 't', slots, handlers, log: quiet, cacheFolder });
  await worker.connected;
  const before = process.cpuUsage();
  const childrenBefore = childrenMicros();
  const startedAt = performance.now();
  child.send('go');
  const { refused } = await next<{ refused: number }>();
  const seconds = (performance.now() - startedAt) / 1000;
  const { user, system } = process.cpuUsage(before);
  await worker.stop();
  const perTask = ((user + system) / tasks).toFixed(2);
  const inChildren = ((childrenMicros() - childrenBefore) / tasks).toFixed(2);
  console.log(
    `${kind}: ${perTask} µs of processor a task here, ${inChildren} in children; ${Math.round(tasks / seconds)} tasks a second, ${refused} given back`,
  );
  child.kill();
  rmSync(cacheFolder, { recursive: true, force: true });
}

/** What starting the same processes costs by itself. */
async function bareStarts(): Promise<void> {
  const before = process.cpuUsage();
  const startedAt = performance.now();
  let left = tasks;
  const start = (): Promise<unknown> => {
    const one = spawn('sh', ['-c', 'true'], { detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    one.stdout.resume();
    one.stderr.resume();
    return once(one, 'exit');
  };
  const loop = async (): Promise<void> => {
    while (left-- > 0) await start();
  };
  await Promise.all(Array.from({ length: slots }, loop));
  const { user, system } = process.cpuUsage(before);
  const perSecond = Math.round((tasks * 1000) / (performance.now() - startedAt));
  console.log(`bare starts: ${((user + system) / tasks).toFixed(0)} µs of processor here; ${perSecond} a second`);
}

/** Of those that have ended. */
function childrenMicros(): number {
  const stat = readFileSync('/proc/self/stat', 'latin1');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const TICK_MICROS = 10_000;
  return (Number(fields[13]) + Number(fields[14])) * TICK_MICROS;
}

const { BENCH_GATEWAY } = process.env;
if (BENCH_GATEWAY !== undefined) await serve(BENCH_GATEWAY as Kind);
else {
  for (const kind of kinds.length === 0 ? (['plain', 'async', 'function'] as const) : kinds) await measure(kind);
  if (kinds.includes('process')) await bareStarts();
}
