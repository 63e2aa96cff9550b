/** Many readers at once, over real connections: what they ask for together is read together, and nobody gets what is another's. */
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AnyBody, eventually, PLAIN_HANDLERS, type Rig, startRig } from '../testing/rig.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
  await rig.addWorker(PLAIN_HANDLERS);
});
afterAll(() => rig.stop());

const UNKNOWN = '019a0000-0000-7000-8000-000000000005';
const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });

async function teamOf(name: string) {
  expect((await rig.ask('POST', '/v1/tenants', { name })).status).toBe(201);
  const made = await rig.ask('POST', '/v1/tokens', { name: 'admin', role: 'admin', tenant: name });
  const { token } = made.body as AnyBody & { readonly token: string };
  const ask = (method: string, path: string, body?: unknown) => rig.ask(method, path, body, bearer(token));
  await ask('PUT', '/v1/dags/own', { name: 'own', tasks: [{ name: 'a', handler: 'echo', queue: `q-${name}` }] });
  const ids: string[] = [];
  for (let no = 0; no < 5; no++) {
    ids.push((await ask('POST', '/v1/dags/own/runs', { params: { of: `${name} ${no}` } })).body.id);
  }
  return { name, token, ask, ids };
}

test('readers of several tenants at once get their own runs, and of the others hear nothing (I65)', async () => {
  const teams = await Promise.all(['red', 'blue', 'green'].map(teamOf));
  const every = teams.flatMap(({ ids }) => ids);
  const asked = teams.flatMap((team) => [...every, UNKNOWN, 'no-id'].map((id) => ({ team, id })));
  const answers = await Promise.all(asked.map(({ team, id }) => team.ask('GET', `/v1/runs/${id}`)));
  for (const [i, { team, id }] of asked.entries()) {
    const { status, body } = answers[i]!;
    const no = team.ids.indexOf(id);
    if (no < 0) expect([status, body.code]).toEqual([404, 'RUN_NOT_FOUND']);
    else expect(body).toMatchObject({ id, dag: 'own', params: { of: `${team.name} ${no}` } });
  }
});

test('who leaves without an answer, and a run whose row cannot be read, keep nobody else from theirs', async () => {
  const client = rig.client();
  await client.deployDag({ name: 'echo', tasks: [{ name: 'a', handler: 'echo' }] });
  const { ids } = await client.submitMany(
    'echo',
    Array.from({ length: 20 }, (_, no) => ({ params: { no } })),
  );
  await eventually(async () => (await client.listRuns({ dag: 'echo', state: 'ended', limit: 50 })).items.length === 20);
  const [broken, ...fine] = ids;
  // No version of Signalbox writes such a word.
  await rig.sql(`update run set cause = 99 where uid = '${broken}'`);
  const leave = (id: string) => {
    const { port } = new URL(rig.servers[0]!.url);
    const socket = connect(Number(port), '127.0.0.1');
    socket.on('error', () => undefined);
    socket.end(`GET /v1/runs/${id} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nauthorization: Bearer ${rig.token}\r\n\r\n`);
    setTimeout(() => socket.destroy(), 1);
  };
  for (let round = 0; round < 5; round++) {
    for (const id of fine) leave(id);
    const reads = await Promise.all([broken, ...fine].map((id) => rig.ask('GET', `/v1/runs/${id}`)));
    expect(reads[0]?.status).toBeGreaterThanOrEqual(500);
    for (const [i, { status, body }] of reads.slice(1).entries()) {
      expect([status, body.id, body.outcome, body.tasks[0]?.output]).toEqual([
        200,
        fine[i],
        'succeeded',
        { no: i + 1 },
      ]);
    }
  }
});

test('a reader sees what was answered before it asked, however many ask', async () => {
  const client = rig.client();
  await client.deployDag({ name: 'held', tasks: [{ name: 'a', handler: 'echo', queue: 'nobody' }] });
  await Promise.all(
    Array.from({ length: 40 }, async () => {
      const { id } = await client.submit('held');
      expect((await client.getRun(id)).state).not.toBe('ended');
      await client.cancelRun(id);
      await eventually(async () => (await client.getRun(id)).outcome === 'cancelled');
    }),
  );
});
