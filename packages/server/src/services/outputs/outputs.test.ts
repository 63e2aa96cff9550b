import { Client, credentials, Metadata, status } from '@grpc/grpc-js';
import { type ClaimRef, shardOfRun, type TenantId } from '@signalbox/engine';
import {
  type Claim,
  openOutputFetch,
  openOutputStore,
  parseOutputChunk,
  parseStoredOutput,
} from '@signalbox/protocol/grpc';
import { openQueries, type Queries } from '@signalbox/store';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { HmacTokens } from '../../ports/tokens.ts';
import { bearer as bearerOf, TEST_WORKER, testWorkerId } from '../../testing/raw-worker.ts';
import { eventually, type Rig, startRig } from '../../testing/rig.ts';

let rig: Rig;
let client: Client;
let tokens: HmacTokens;
let queries: Queries;
const made = { text: '' };
const seen: unknown[] = [];
let hold: Promise<void> | null = null;

beforeAll(async () => {
  rig = await startRig();
  client = new Client(rig.servers[0]?.servicesAddress ?? '', credentials.createInsecure());
  queries = await openQueries({ url: rig.databaseUrl });
  tokens = new HmacTokens(await queries.cluster());
  await rig.addWorker({
    make: () => made.text,
    list: () => ({ n: 7, items: Array.from({ length: 50_000 }, (_, no) => `item ${no}`) }),
    wait: async () => hold,
    see: ({ inputs }) => {
      seen.push(inputs);
      return 'seen';
    },
  });
});
afterAll(async () => {
  client.close();
  await queries.close();
  await rig.stop();
});

const bearer = (token = rig.token) => bearerOf(token, TEST_WORKER);

async function runOf(name: string, tasks: object[]): Promise<string> {
  await rig.ask('PUT', `/v1/dags/${name}`, { name, tasks });
  return (await rig.ask('POST', `/v1/dags/${name}/runs`, {})).body.id;
}

async function ended(id: string): Promise<string | null> {
  await eventually(async () => (await rig.ask('GET', `/v1/runs/${id}`)).body.outcome !== null);
  return (await rig.ask('GET', `/v1/runs/${id}`)).body.outcome;
}

/** The claim of the newest attempt of a task, and its token. */
async function claimOf(run: string, task: number): Promise<{ claim: Claim; token: Buffer; ref: ClaimRef }> {
  const found = await queries.getRun(1 as TenantId, run);
  const row = found?.tasks.find(({ taskNo }) => taskNo === task);
  if (found === null || row === undefined) throw new Error('nothing was claimed');
  const ref = { runId: found.runId, taskNo: row.taskNo, attemptNo: row.attemptNo, fence: row.fence };
  const claim = { shard: found.shard, runId: found.runId, task, attempt: row.attemptNo, fence: row.fence };
  return { claim, token: Buffer.from(tokens.mint(shardOfRun(found.runId), ref, testWorkerId(rig.token))), ref };
}

async function fetchAs(claim: Claim, token: Buffer, id: string, metadata = bearer()): Promise<string | number> {
  const stream = openOutputFetch(client, { claim, token, id }, metadata);
  const chunks: Buffer[] = [];
  stream.on('data', (input: unknown) => chunks.push(parseOutputChunk(input)));
  const error = await new Promise<{ readonly code: number } | null>((resolve) => {
    stream.on('end', () => resolve(null));
    stream.on('error', (fault: Error & { code: number }) => resolve(fault));
  });
  return error === null ? Buffer.concat(chunks).toString() : error.code;
}

function storeAs(claim: Claim, token: Buffer, parts: (string | Buffer)[], taskName = 'a', metadata = bearer()) {
  return new Promise<string | number>((resolve) => {
    const stream = openOutputStore(client, metadata, (error, stored) => {
      resolve(error === null ? parseStoredOutput(stored) : (error as unknown as { code: number }).code);
    });
    stream.on('error', () => undefined);
    parts.forEach((part, no) => {
      stream.write({ head: no === 0 ? { claim, token, taskName } : null, json: Buffer.from(part) });
    });
    stream.end();
  });
}

test('an output of megabytes reaches the next task whole, through its condition, too (I36)', async () => {
  made.text = 'ä'.repeat(2_000_000);
  const id = await runOf('large', [
    { name: 'a', handler: 'make' },
    { name: 'b', handler: 'list' },
    {
      name: 'c',
      handler: 'see',
      inputs: { text: '${{ tasks.a.output }}', item: '${{ tasks.b.output.items[49999] }}' },
      when: 'length(tasks.b.output.items) == 50000 && tasks.b.output.n == 7 && length(tasks.a.output) == 2000000',
    },
  ]);
  expect(await ended(id)).toBe('succeeded');
  expect(seen.pop()).toEqual({ text: made.text, item: 'item 49999' });
  const { body: run } = await rig.ask('GET', `/v1/runs/${id}`);
  expect(run.tasks[0]).toMatchObject({ output: null, outputBytes: 4_000_002 });
  const { body: task } = await rig.ask('GET', `/v1/runs/${id}/tasks/a`);
  expect([task.output === made.text, (task as { outputBytes?: unknown }).outputBytes]).toEqual([true, null]);
  const stored = await rig.sql(`select task_no, length(body) from payload where task_no >= 0 order by task_no`);
  expect(stored.slice(0, 2).map(({ length }) => Number(length) < 100)).toEqual([true, true]);
});

test('an output above the limit fails the task, and says so (I56)', async () => {
  made.text = 'x'.repeat(8 * 1024 * 1024);
  const id = await runOf('too-large', [{ name: 'a', handler: 'make' }]);
  expect(await ended(id)).toBe('failed');
  const { body } = await rig.ask('GET', `/v1/runs/${id}/tasks/a/attempts`);
  expect(JSON.stringify(body)).toContain('the limit is 8388608');
});

test('a claim fetches what was sealed for it, and nothing with any other token, id or tenant (I20, I36, I65)', async () => {
  made.text = 'a'.repeat(400_000);
  const id = await runOf('fetching', [
    { name: 'a', handler: 'make' },
    { name: 'b', handler: 'see', needs: ['a'] },
    { name: 'c', handler: 'see' },
  ]);
  expect(await ended(id)).toBe('succeeded');
  const [b, c] = [await claimOf(id, 1), await claimOf(id, 2)];
  const shard = shardOfRun(b.ref.runId);
  const { packOutputs } = await import('@signalbox/host');
  const text = packOutputs({ of: 'task', no: 0 });
  const ours = tokens.seal(shard, b.ref, text);
  expect(await fetchAs(b.claim, b.token, ours)).toBe(JSON.stringify(made.text));
  const list = packOutputs({ of: 'instances', ranges: [{ from: 0, step: 1, count: 3 }], except: [1] });
  expect(await fetchAs(b.claim, b.token, tokens.seal(shard, b.ref, list))).toBe(
    `[${JSON.stringify(made.text)},null,"seen"]`,
  );

  const refused = status.FAILED_PRECONDITION;
  expect(await fetchAs(c.claim, c.token, ours)).toBe(refused); // sealed for another task
  expect(await fetchAs(c.claim, b.token, ours)).toBe(refused);
  expect(await fetchAs({ ...b.claim, fence: b.claim.fence + 1 }, b.token, ours)).toBe(refused);
  expect(await fetchAs({ ...b.claim, shard: 200 }, b.token, ours)).toBe(refused);
  expect(await fetchAs(b.claim, b.token, text)).toBe(refused); // not sealed at all
  expect(await fetchAs(b.claim, b.token, ours, new Metadata())).toBe(status.UNAUTHENTICATED);
  const viewer = (await rig.ask('POST', '/v1/tokens', { name: 'viewer', role: 'viewer' })).body as unknown as {
    token: string;
  };
  expect(await fetchAs(b.claim, b.token, ours, bearer(viewer.token))).toBe(status.PERMISSION_DENIED);
});

test('what is stored is bound to its attempt: another one can not report it, and hostile ones are refused (I21, I36, I68)', async () => {
  let release = () => {};
  hold = new Promise((resolve) => {
    release = resolve;
  });
  const id = await runOf('storing', [
    { name: 'a', handler: 'wait' },
    { name: 'b', handler: 'wait' },
  ]);
  await eventually(async () => {
    const found = await queries.getRun(1 as TenantId, id);
    return found?.tasks.length === 2;
  });
  const [a, b] = [await claimOf(id, 0), await claimOf(id, 1)];
  const json = JSON.stringify('y'.repeat(200_000));
  const reference = await storeAs(a.claim, a.token, [json.slice(0, 100_000), json.slice(100_000)]);
  expect(reference).toMatch(/^@/);
  expect(tokens.open(shardOfRun(a.ref.runId), a.ref, String(reference).slice(1))).not.toBeNull();
  expect(tokens.open(shardOfRun(b.ref.runId), b.ref, String(reference).slice(1))).toBeNull();

  expect(await storeAs(a.claim, b.token, [json])).toBe(status.FAILED_PRECONDITION);
  expect(await storeAs(a.claim, a.token, ['{"no json'])).toBe(status.INVALID_ARGUMENT);
  expect(await storeAs(a.claim, a.token, [json], 'no-such-task')).toBe(status.INVALID_ARGUMENT);
  expect(await storeAs(a.claim, a.token, [Buffer.alloc(300 * 1024)])).toBe(status.INVALID_ARGUMENT);
  expect(
    await storeAs(
      a.claim,
      a.token,
      Array.from({ length: 40 }, () => Buffer.alloc(250 * 1024, 'x')),
    ),
  ).toBe(status.INVALID_ARGUMENT);
  expect(await storeAs(a.claim, a.token, [])).toBe(status.INVALID_ARGUMENT);
  expect(await storeAs(a.claim, a.token, [json], 'a', new Metadata())).toBe(status.UNAUTHENTICATED);
  const rows = await rig.sql(`select count(*) from payload where run_id = ${a.ref.runId} and task_no <= -1000000000`);
  expect(Number(rows[0]?.count)).toBe(1);
  release();
  expect(await ended(id)).toBe('succeeded');
  // Nobody has named it: the task has the output that its own report had.
  const { body } = await rig.ask('GET', `/v1/runs/${id}/tasks/a`);
  expect(body.output).toBeNull();
});
