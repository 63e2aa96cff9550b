import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { RunningServer } from '../start.ts';
import { eventually, type Rig, startRig } from '../testing/rig.ts';

let rig: Rig;
let cacheFolder: string;
beforeAll(async () => {
  rig = await startRig();
  cacheFolder = await mkdtemp(join(tmpdir(), 'signalbox-bundles-'));
});
afterAll(async () => {
  await rig.stop();
  await rm(cacheFolder, { recursive: true, force: true });
});

interface Page {
  readonly lines: readonly { readonly no: number; readonly stream: string; readonly text: string }[];
  readonly isOver: boolean;
}

async function run(name: string, tasks: readonly object[], more: object = {}) {
  const deployed = await rig.ask('PUT', `/v1/dags/${name}`, { name, tasks, ...more });
  expect([deployed.status, deployed.body.code]).toEqual([200, undefined]);
  const { id } = (await rig.ask('POST', `/v1/dags/${name}/runs`, {})).body;
  await eventually(async () => (await rig.ask('GET', `/v1/runs/${id}`)).body.state === 'ended');
  return id;
}

const logOf = async (id: string, server?: RunningServer) =>
  (await rig.ask('GET', `/v1/runs/${id}/tasks/a/attempts/last/log`, undefined, server ? { server } : {}))
    .body as unknown as Page;

test('what a process prints and what a handler says is in the log, all of it once the attempt has ended', async () => {
  await rig.addWorker({ talk: ({ log }: { log: { info(message: string): void } }) => log.info('said by the handler') });
  const printed = await run('prints', [{ name: 'a', run: 'for i in 1 2 3; do echo "line $i"; done; echo oops >&2' }]);
  const page = await logOf(printed);
  expect(page.lines.filter(({ stream }) => stream === 'stdout').map(({ text }) => text)).toEqual([
    'line 1',
    'line 2',
    'line 3',
  ]);
  expect(page.lines).toContainEqual(expect.objectContaining({ stream: 'stderr', text: 'oops' }));
  expect(page.lines.map(({ no }) => no)).toEqual(page.lines.map((_, i) => i));
  await eventually(async () => (await logOf(printed)).isOver);
  const said = await run('talks', [{ name: 'a', handler: 'talk' }]);
  expect(JSON.stringify((await logOf(said)).lines)).toContain('said by the handler');
});

test('a function of a bundle is fetched and run, and its console is its log', async () => {
  await rig.addWorker({}, { queues: ['bundles'], cacheFolder });
  const code = Buffer.from(
    'export const functions = { "b/a": async () => { console.log("from the bundle"); return { answer: 42 }; } };',
  );
  const bundle = createHash('sha256').update(code).digest('hex');
  const put = await fetch(`${rig.servers[0]?.url}/v1/bundles/${bundle}`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${rig.token}`, 'content-type': 'application/octet-stream' },
    body: new Uint8Array(code),
  });
  expect(put.status).toBe(201);
  const id = await run('b', [{ name: 'a', function: 'b/a', queue: 'bundles' }], { bundle });
  const { body } = await rig.ask('GET', `/v1/runs/${id}`);
  expect(body.tasks[0]).toMatchObject({ state: 'succeeded', output: { answer: 42 } });
  expect((await logOf(id)).lines.map(({ text }) => text)).toContain('from the bundle');
});

test('a worker whose server goes takes its lines to another one, and none is lost or twice', async () => {
  const [first] = rig.servers as [RunningServer];
  const second = await rig.addServer();
  // It is connected to the server that leaves.
  await rig.addWorker({}, { queues: ['movers'], name: 'mover' });
  await rig.ask('PUT', '/v1/dags/moving', {
    name: 'moving',
    tasks: [{ name: 'a', queue: 'movers', run: 'for i in $(seq 0 79); do echo "line $i"; sleep 0.05; done' }],
  });
  const { id } = (await rig.ask('POST', '/v1/dags/moving/runs', {}, { server: first })).body;
  await eventually(async () => (await logOf(id, first)).lines.length > 10);
  await second.stop();
  await eventually(async () => (await rig.ask('GET', `/v1/runs/${id}`)).body.state === 'ended');
  // What was stored by the server that left is there again with the next one on its folder.
  const third = await rig.addServer();
  await eventually(async () => (await logOf(id, first)).isOver);
  const { lines } = await logOf(id, first);
  const printed = lines.filter(({ stream }) => stream === 'stdout').map(({ text }) => text);
  expect(printed).toEqual(Array.from({ length: 80 }, (_, i) => `line ${i}`));
  await third.stop();
});
