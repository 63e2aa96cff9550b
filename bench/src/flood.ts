/**
 * Half a million submissions in ten seconds, of all priorities: what the server refuses and how, what memory it takes, how long it is
 * until a single submission is answered as fast as before, and that nothing that was accepted is lost (I74, I10).
 */
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { ADMIN_TOKEN, type Cluster, until } from '@signalbox/e2e';
import { type Figure, quantile } from './figure.ts';

const FLOOD_MS = 10_000;
const BATCH = 250;
const CONNECTIONS = 200;
/** Of each ten batches. */
const MIX = ['low', 'low', 'low', 'low', 'normal', 'normal', 'normal', 'normal', 'high', 'critical'] as const;
type Class = (typeof MIX)[number];
const PROBES = 50;
/** A single submission is as fast as before: so many times its median of then, at most. */
const NORMAL = 2;

interface Answered {
  readonly status: number;
  readonly code: string;
  readonly retryAfter: number;
  readonly ids: readonly string[];
}

export async function flood(cluster: Cluster, count: number): Promise<Figure[]> {
  const client = cluster.client();
  await client.deployDag({ name: 'flood', tasks: [{ name: 'only', handler: 'noop' }] });
  await client.deployDag({ name: 'single', tasks: [{ name: 'only', handler: 'noop' }] });
  const single = async () => {
    const began = performance.now();
    await client.submit('single', {});
    return performance.now() - began;
  };
  const before: number[] = [];
  for (let i = 0; i < PROBES; i++) before.push(await single());
  const usual = quantile(before, 0.5);
  const quiet = rssMib(cluster);
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  const port = cluster.runningServers()[0]?.httpPort;
  const post = (priority: Class) => send({ agent, port, priority });

  let peak = quiet;
  const watch = setInterval(() => {
    peak = Math.max(peak, rssMib(cluster));
  }, 100);
  const sums = new Map<Class, { accepted: number; refused: number }>(
    [...new Set(MIX)].map((name) => [name, { accepted: 0, refused: 0 }]),
  );
  const codes = new Map<string, number>();
  const retries = new Map<Class, number>();
  let accepted = 0;
  const began = performance.now();
  const batches = Math.ceil(count / BATCH);
  const under: Promise<void>[] = [];
  for (let no = 0; no < batches; no++) {
    const due = began + (no * FLOOD_MS) / batches;
    const left = due - performance.now();
    if (left > 1) await new Promise((resolve) => setTimeout(resolve, left));
    const priority = MIX[no % MIX.length]!;
    under.push(
      post(priority).then(({ status, code, retryAfter, ids }) => {
        const sum = sums.get(priority)!;
        if (status === 201) {
          sum.accepted += ids.length;
          accepted += ids.length;
          return;
        }
        sum.refused += BATCH;
        codes.set(`${status} ${code}`, (codes.get(`${status} ${code}`) ?? 0) + 1);
        retries.set(priority, retryAfter);
      }),
    );
  }
  const sentMs = performance.now() - began;
  await Promise.all(under);
  const answeredAt = performance.now();
  let normalAt = answeredAt;
  for (let calm = 0; calm < 5; ) {
    if ((await single()) <= usual * NORMAL) calm += 1;
    else {
      calm = 0;
      normalAt = performance.now();
    }
  }
  const ended = async () => {
    const { rows } = await cluster.sql.query<{ all: number; ended: number }>(
      `select count(*)::int as all, count(*) filter (where ended_at is not null)::int as ended
         from run r join dag d on d.shard = r.shard and d.dag_id = r.dag_id where d.name = 'flood'`,
    );
    return rows[0]!;
  };
  await until('all that was accepted has ended', 300_000, async () => (await ended()).ended >= accepted);
  const doneAt = performance.now();
  clearInterval(watch);
  agent.destroy();
  const stored = await ended();
  const shown = (of: Map<string, number>) => [...of].map(([key, value]) => `${value} × ${key}`).join(', ');
  return [
    {
      what: `${count.toLocaleString('en')} submissions in ${Math.round(sentMs / 1_000)} s: runs accepted`,
      value: accepted,
      unit: 'runs',
      details: {
        ...Object.fromEntries(
          [...sums].map(([name, sum]) => [`${name} refused %`, (100 * sum.refused) / (sum.accepted + sum.refused)]),
        ),
        'Retry-After s': [...retries].map(([name, seconds]) => `${name} ${seconds}`).join(', '),
        'answers that refuse': shown(codes),
        'lost of those accepted': accepted - stored.ended,
        'stored beyond those accepted': stored.all - accepted,
      },
    },
    {
      what: 'flood: memory of the server at its peak',
      value: peak,
      unit: 'MiB',
      details: { 'MiB before': quiet },
    },
    {
      what: 'flood: until a single submission is answered as before',
      value: (normalAt - answeredAt) / 1_000,
      unit: 's',
      details: { 'usual ms': usual, 's until all accepted runs have ended': (doneAt - answeredAt) / 1_000 },
    },
  ];
}

function send(to: { agent: Agent; port: number | undefined; priority: Class }): Promise<Answered> {
  const { agent, port, priority } = to;
  const text = JSON.stringify({ runs: Array.from({ length: BATCH }, () => ({ priority })) });
  const headers = {
    authorization: `Bearer ${ADMIN_TOKEN}`,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
  };
  return new Promise((resolve) => {
    const failed = (code: string) => resolve({ status: 0, code, retryAfter: 0, ids: [] });
    const path = '/v1/dags/flood/runs/batch';
    const sent = request({ agent, host: '127.0.0.1', port, path, method: 'POST', headers }, (answer) => {
      const parts: Buffer[] = [];
      answer.on('data', (part: Buffer) => parts.push(part));
      answer.on('error', (error) => failed(error.message));
      answer.on('end', () => {
        const body = JSON.parse(Buffer.concat(parts).toString() || '{}') as { code?: string; ids?: string[] };
        const retryAfter = Number(answer.headers['retry-after'] ?? 0);
        resolve({ status: answer.statusCode ?? 0, code: body.code ?? '', retryAfter, ids: body.ids ?? [] });
      });
    });
    sent.on('error', (error: NodeJS.ErrnoException) => failed(error.code ?? error.message));
    sent.end(text);
  });
}

function rssMib(cluster: Cluster): number {
  return cluster.runningServers().reduce((sum, { pid }) => {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return sum + Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1_024;
  }, 0);
}
