/**
 * What others notice while one caller presses the edge: `/healthz` is asked from a process of its own, every few milliseconds,
 * while costly params are submitted, and while many connections submit large batches.
 */
import { fork } from 'node:child_process';
import { Agent, request } from 'node:http';
import { fileURLToPath } from 'node:url';
import { ADMIN_TOKEN, type Cluster } from '@signalbox/e2e';
import type { DagDefinition } from '@signalbox/sdk';
import { type Figure, quantile } from './figure.ts';

const PROBE = fileURLToPath(new URL('probe.js', import.meta.url));
const ITEMS = 16;
const SINGLES = 20;
const CONNECTIONS = 50;
const RUNS_EACH = 1_000;
const ROUNDS = 3;

interface Answers {
  readonly statuses: Record<string, number>;
  readonly ms: number[];
}

export async function edgeUnderPressure(cluster: Cluster): Promise<Figure[]> {
  const figures = [await watched(cluster, 'nobody presses', () => quiet(2_000))];
  await plantSchema(cluster, 'costly', explodingSchema());
  figures.push(
    await watched(cluster, `a batch of ${ITEMS} with an exploding schema`, () =>
      post(cluster, '/v1/dags/costly/runs/batch', { runs: Array.from({ length: ITEMS }, () => ({ params: {} })) }, 1),
    ),
    await watched(cluster, `${SINGLES} single runs with it, at once`, () =>
      post(cluster, '/v1/dags/costly/runs', { params: {} }, SINGLES),
    ),
  );
  await deployWith(cluster, 'allowed', {
    anyOf: Array.from({ length: 500 }, (_, no) => ({ contains: { const: no } })),
  });
  const costly = { runs: Array.from({ length: ITEMS }, () => ({ params: Array(2_000).fill(-1) })) };
  figures.push(
    await watched(cluster, `${SINGLES} batches of ${ITEMS} with a costly schema, at once`, () =>
      post(cluster, '/v1/dags/allowed/runs/batch', costly, SINGLES),
    ),
  );
  await cluster.client().deployDag({ name: 'bulk', tasks: [{ name: 'only', handler: 'noop' }] });
  const batch = { runs: Array.from({ length: RUNS_EACH }, (_, no) => ({ params: { no } })) };
  await post(cluster, '/v1/dags/bulk/runs/batch', batch, 2);
  figures.push(
    await watched(cluster, `${CONNECTIONS} connections × ${RUNS_EACH} runs, ${ROUNDS} times`, () =>
      post(cluster, '/v1/dags/bulk/runs/batch', batch, CONNECTIONS, ROUNDS),
    ),
  );
  return figures;
}

async function deployWith(cluster: Cluster, name: string, params: object): Promise<void> {
  await cluster.client().deployDag({ name, params, tasks: [{ name: 'only', handler: 'noop' }] } as DagDefinition);
}

/** In the database as if it had been deployed before such schemas were refused. */
async function plantSchema(cluster: Cluster, name: string, schema: object): Promise<void> {
  await deployWith(cluster, name, { type: 'object' });
  await cluster.sql.query(
    `update dag_version set spec = jsonb_set(spec::jsonb, '{paramsSchema}', $1::jsonb)::json
      where spec::jsonb ? 'paramsSchema'`,
    [JSON.stringify(schema)],
  );
}

/** Each level doubles the looks: 2 to the power of 30. */
function explodingSchema(): object {
  const $defs: Record<string, object> = { d30: { required: ['missing'] } };
  for (let level = 0; level < 30; level++) {
    const $ref = `#/$defs/d${level + 1}`;
    $defs[`d${level}`] = { anyOf: [{ $ref }, { $ref }] };
  }
  return { $defs, $ref: '#/$defs/d0' };
}

async function watched(cluster: Cluster, what: string, press: () => Promise<Answers>): Promise<Figure> {
  const probe = fork(PROBE, [String(cluster.runningServers()[0]?.httpPort)]);
  await new Promise((resolve) => probe.once('message', resolve));
  await mainLoopMs(cluster); // What was before counts no more.
  const began = performance.now();
  const { statuses, ms } = await press();
  const tookMs = performance.now() - began;
  const seen = await new Promise<number[]>((resolve) => {
    probe.once('message', (times: number[]) => resolve(times));
    probe.send('stop');
  });
  const loopMs = await mainLoopMs(cluster);
  return {
    what: `/healthz while ${what}: p99`,
    value: quantile(seen, 0.99),
    unit: 'ms',
    details: {
      'healthz p50 ms': quantile(seen, 0.5),
      'healthz max ms': Math.max(...seen),
      'main loop late at most ms': loopMs,
      'all took ms': tookMs,
      ...(ms.length === 0 ? {} : { 'answer p50 ms': quantile(ms, 0.5), 'answer max ms': Math.max(...ms) }),
      answers: Object.entries(statuses)
        .map(([status, count]) => `${count}×${status}`)
        .join(' '),
    },
  };
}

/** The longest delay of the scheduling loop since the last request for it. */
async function mainLoopMs(cluster: Cluster): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${cluster.runningServers()[0]?.httpPort}/metrics`, {
    headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
  });
  const [, seconds] = /event_loop_delay_seconds\{thread="main",quantile="1"\} (\S+)/.exec(await response.text()) ?? [];
  return Number(seconds) * 1_000;
}

async function quiet(ms: number): Promise<Answers> {
  await new Promise((resolve) => setTimeout(resolve, ms));
  return { statuses: {}, ms: [] };
}

/** Without the client's patience: a refusal counts as an answer. */
async function post(cluster: Cluster, path: string, body: object, connections: number, rounds = 1): Promise<Answers> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const text = JSON.stringify(body);
  const statuses: Record<string, number> = {};
  const ms: number[] = [];
  const one = () =>
    new Promise<void>((resolve, reject) => {
      const began = performance.now();
      const sent = request(
        {
          agent,
          host: '127.0.0.1',
          port: cluster.runningServers()[0]?.httpPort,
          path,
          method: 'POST',
          headers: {
            authorization: `Bearer ${ADMIN_TOKEN}`,
            'content-type': 'application/json',
            'content-length': Buffer.byteLength(text),
          },
        },
        (answer) => {
          answer.resume();
          answer.on('end', () => {
            statuses[String(answer.statusCode)] = (statuses[String(answer.statusCode)] ?? 0) + 1;
            ms.push(performance.now() - began);
            resolve();
          });
        },
      );
      sent.on('error', reject);
      sent.end(text);
    });
  const line = async () => {
    for (let round = 0; round < rounds; round++) await one();
  };
  await Promise.all(Array.from({ length: connections }, line));
  agent.destroy();
  return { statuses, ms };
}
