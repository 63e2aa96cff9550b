import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually, type Rig, startRig } from '../testing/rig.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
  await rig.addWorker({ echo: ({ params }: { params: unknown }) => params });
});
afterAll(() => rig.stop());

const deploy = (name: string, on: unknown, more: object = {}) =>
  rig.ask('PUT', `/v1/dags/${name}`, { name, on, tasks: [{ name: 'a', handler: 'echo' }], ...more });

const event = (more: object = {}) => ({ specversion: '1.0', id: '1', source: '/shop', type: 'order.paid', ...more });

/** The body is sent as it is, with these headers. */
async function post(body: string | Uint8Array, headers: Record<string, string>) {
  const answer = await fetch(`${rig.servers[0]?.url}/v1/events`, {
    method: 'POST',
    headers: { authorization: `Bearer ${rig.token}`, ...headers },
    body,
  });
  // oxlint-disable-next-line typescript/no-explicit-any -- each test looks at other fields.
  return { status: answer.status, body: (await answer.json()) as any };
}
const send = (body: unknown, type = 'application/cloudevents+json') =>
  post(JSON.stringify(body), { 'content-type': type });
const paramsOf = async (run: string) => ((await rig.ask('GET', `/v1/runs/${run}`)).body as { params?: unknown }).params;

describe('CloudEvents', () => {
  test('structured, binary and batch mode, and the body of before, start the same runs', async () => {
    await deploy('modes', { type: 'modes' });
    const data = { n: 1 };
    const structured = await send(event({ type: 'modes', data }));
    expect(structured).toMatchObject({ status: 200, body: { source: '/shop', id: '1', matched: true } });
    const binary = await post(JSON.stringify(data), {
      'content-type': 'application/json',
      'ce-specversion': '1.0',
      'ce-id': '1',
      'ce-source': '/shop',
      'ce-type': 'modes',
    });
    // The same source and id: it is the same event, however it comes.
    expect(binary.body).toEqual(structured.body);
    const batch = await send(
      [event({ type: 'modes', data }), event({ type: 'modes', id: '2', data: { n: 2 } })],
      'application/cloudevents-batch+json',
    );
    expect(batch.body.events[0]).toEqual(structured.body);
    expect(batch.body.events[1].runs[0].id).not.toBe(structured.body.runs[0].id);
    const named = await send({ name: 'modes', payload: { n: 3 } }, 'application/json');
    const runs = [structured.body.runs[0].id, batch.body.events[1].runs[0].id, named.body.runs[0].id];
    expect(await Promise.all(runs.map(paramsOf))).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
  });

  test('text and bytes are data, too', async () => {
    await deploy('bodies', {
      type: 'bodies',
      params: { text: '${{ event.data }}', bytes: '${{ event.data_base64 }}' },
    });
    const headers = { 'ce-specversion': '1.0', 'ce-source': '/shop', 'ce-type': 'bodies' };
    const text = await post('hello', { ...headers, 'ce-id': '1', 'content-type': 'text/plain; charset=utf-8' });
    const bytes = await post(new Uint8Array([1, 2, 255]), {
      ...headers,
      'ce-id': '2',
      'content-type': 'application/octet-stream',
    });
    const params = await Promise.all([text, bytes].map(({ body }) => paramsOf(body.runs[0].id)));
    expect(params).toEqual([
      { text: 'hello', bytes: null },
      { text: null, bytes: 'AQL/' },
    ]);
  });

  test.each([
    [event({ specversion: '0.3' }), 'specversion'],
    [event({ id: '' }), 'id'],
    [event({ type: 'two words' }), 'type'],
    [event({ time: 'yesterday' }), 'time'],
    [event({ Extension: 1 }), 'Extension'],
    [event({ extension: { deep: true } }), 'extension'],
    [event({ data: 1, data_base64: 'AQ==' }), 'data_base64'],
    [{}, 'specversion'],
  ])('%j is refused with the place', async (body, path) => {
    const { status, body: problem } = await send(body);
    expect(status).toBe(400);
    expect(problem.problems.map((each: { path: string }) => each.path)).toContain(path);
  });

  test('a body of another type without ce- headers is refused', async () => {
    const { status, body } = await post('a,b', { 'content-type': 'text/csv' });
    expect([status, body.problems[0].path]).toEqual([400, 'content-type']);
  });

  test('the idempotency key of the request holds as well, also for the body of before (I11)', async () => {
    await deploy('keyed-event', { event: 'keyed' });
    const headers = { 'content-type': 'application/json', 'idempotency-key': 'k-1' };
    const first = await post(JSON.stringify({ name: 'keyed', payload: 1 }), headers);
    expect(await post(JSON.stringify({ name: 'keyed', payload: 1 }), headers)).toEqual(first);
    expect(await post(JSON.stringify({ name: 'keyed', payload: 2 }), headers)).toMatchObject({ status: 409 });
    await rig.sql(`update request_key set status = null, answer = null, at = '-infinity' where key = 'k-1'`);
    const again = await post(JSON.stringify({ name: 'keyed', payload: 1 }), headers);
    expect(again.body.runs).toEqual(first.body.runs);
  });
});

describe('triggers', () => {
  test('type, source and condition choose, and the answer says why one did not take it', async () => {
    await deploy('exact', [{ type: 'pick.one' }]);
    await deploy('prefix', [{ type: 'pick.*', source: '/shop/*' }]);
    await deploy('where', [{ type: 'pick.one', where: 'event.data.total > 100 && event.subject != "test"' }]);
    const runsOf = async (more: object) => {
      const { body } = await send(event({ type: 'pick.one', id: Math.random().toString(), ...more }));
      return [
        body.runs.map(({ dag }: { dag: string }) => dag),
        (body.unmatched ?? []).map((each: { dag: string }) => each.dag),
      ];
    };
    expect(await runsOf({ source: '/shop/7', data: { total: 101 } })).toEqual([['exact', 'prefix', 'where'], []]);
    expect(await runsOf({ source: '/mail', data: { total: 100 } })).toEqual([['exact'], ['prefix', 'where']]);
    expect(await runsOf({ source: '/mail', subject: 'test', data: { total: 500 } })).toEqual([
      ['exact'],
      ['prefix', 'where'],
    ]);
    const { body } = await send(event({ type: 'pick.one', id: 'fault', data: { total: 'many' } }));
    expect(body.unmatched.map(({ reason }: { reason: string }) => reason)).toEqual([
      'The trigger waits for the source /shop/*.',
      'The condition event.data.total > 100 && event.subject != "test" cannot be evaluated: text > number has no answer: only two numbers or two texts have an order.',
    ]);
  });

  test('an event that nobody waits for says so', async () => {
    expect((await send(event({ type: 'nobody' }))).body).toEqual({
      source: '/shop',
      id: '1',
      matched: false,
      runs: [],
    });
  });

  test('several triggers of one dag each start a run; params come from the event', async () => {
    await deploy('several', [
      { type: 'multi', params: { order: '${{ event.data.id }}', note: '${{ event.type }} of ${{ event.source }}' } },
      { type: 'multi', name: 'second', params: { all: '${{ event.data }}' } },
    ]);
    const { body } = await send(event({ type: 'multi', data: { id: 17 } }));
    const params = await Promise.all(body.runs.map(({ id }: { id: string }) => paramsOf(id)));
    expect(params).toHaveLength(2);
    expect(params).toContainEqual({ order: 17, note: 'multi of /shop' });
    expect(params).toContainEqual({ all: { id: 17 } });
  });

  test('deduplicates by source and id, or by a value of the event, whatever else differs (I11)', async () => {
    await deploy('by-id', [{ type: 'dup' }]);
    await deploy('by-value', [{ type: 'dup', dedupe: 'event.data.order' }]);
    const ids = async (more: object) =>
      (await send(event({ type: 'dup', ...more }))).body.runs.map(({ id }: { id: string }) => id);
    const first = await ids({ data: { order: 1 } });
    expect(await ids({ data: { order: 1, more: true } })).toEqual(first);
    const other = await ids({ id: '2', data: { order: 1 } });
    expect([other[0] === first[0], other[1] === first[1]]).toEqual([false, true]);
    // Without the value, source and id count.
    const bare = await ids({ id: '3', data: {} });
    expect(await ids({ id: '3', data: {} })).toEqual(bare);
    expect(await ids({ id: '4', data: {} })).not.toContain(bare[1]);
  });

  test('a dag that is deleted waits for nothing, and waits again once it is deployed as it was', async () => {
    await deploy('revived', [{ type: 'back.*', where: 'event.data.ok' }]);
    await rig.ask('DELETE', '/v1/dags/revived');
    expect((await send(event({ type: 'back.1', data: { ok: true } }))).body.matched).toBe(false);
    await deploy('revived', [{ type: 'back.*', where: 'event.data.ok' }]);
    expect((await send(event({ type: 'back.1', data: { ok: true } }))).body.runs).toHaveLength(1);
    expect((await send(event({ type: 'back.1', id: '2', data: { ok: false } }))).body.runs).toHaveLength(0);
  });

  test('a dag shows its triggers, and one of before triggers is still read', async () => {
    await deploy('shown', [{ type: 'shown', where: '${{ event.data.x == 1 }}' }]);
    expect((await rig.ask('GET', '/v1/dags/shown')).body).toMatchObject({
      event: 'shown',
      triggers: [{ name: 'shown', type: 'shown', where: '${{ event.data.x == 1 }}' }],
    });
    await deploy('plain', { event: 'plain' });
    await rig.sql(`update event_trigger set triggers = null where event = 'plain'`);
    expect((await send(event({ type: 'plain' }))).body.runs).toHaveLength(1);
  });

  test('a batch becomes one run when it is full, and each event names that run (I10)', async () => {
    await deploy('batched', [
      { type: 'row', params: '${{ event.data.n }}', batch: { max: 3, within: '1h', key: 'event.data.of' } },
    ]);
    const send1 = async (n: number, of: string) =>
      (await send(event({ type: 'row', id: `${of}${n}`, data: { n, of } }))).body.runs[0] as {
        id: string;
        held: boolean;
      };
    const first = await send1(1, 'a');
    await send1(1, 'b');
    expect((await rig.ask('GET', `/v1/runs/${first.id}`)).status).toBe(404);
    const told = [first, await send1(2, 'a'), await send1(2, 'a'), await send1(3, 'a')];
    expect(new Set(told.map(({ id }) => id)).size).toBe(1);
    expect(first.held).toBe(true);
    expect(await paramsOf(first.id)).toEqual({ events: [1, 2, 3] });
    // The same event again, after the run was made: the same answer.
    expect(await send1(2, 'a')).toEqual(told[0]);
    const pending = await rig.sql(`select count(*) from trigger_pending where group_key = 'b'`);
    expect(JSON.stringify(pending)).toContain('1');
  });

  test('debounced events become one run with the last of them', async () => {
    await deploy('debounced', { type: 'typed', debounce: '300ms' });
    const ids = [];
    for (const n of [1, 2, 3]) ids.push((await send(event({ type: 'typed', id: String(n), data: n }))).body.runs[0].id);
    // Under load a pause between two requests may be longer than the wait: then the later ones have a run of their own.
    const last = ids.at(-1) as string;
    await eventually(async () => (await rig.ask('GET', `/v1/runs/${last}`)).status === 200);
    expect(await paramsOf(last)).toBe(3);
  });

  test('a batch is checked against the schema of the params, as a list of events', async () => {
    const params = { type: 'object', properties: { events: { type: 'array', items: { type: 'number' } } } };
    await deploy('checked-batch', [{ type: 'checked', batch: { max: 2 } }], { params });
    const wrong = await send(event({ type: 'checked', id: 'w', data: 'text' }));
    expect(wrong.body).toMatchObject({ runs: [], refused: [{ dag: 'checked-batch' }] });
    const right = [
      await send(event({ type: 'checked', data: 1 })),
      await send(event({ type: 'checked', id: '2', data: 2 })),
    ];
    expect(await paramsOf(right[0]?.body.runs[0].id)).toEqual({ events: [1, 2] });
  });

  test.each([
    [{}, 'on.type'],
    [{ type: 'a', batch: { max: 10 }, debounce: '10s' }, 'on.debounce'],
    [{ type: 'a', batch: { key: 'data.x' } }, 'on.batch.key'],
    [{ type: 'a', debounce: { wait: '10s', atMost: '1s' } }, 'on.debounce.atMost'],
    [{ type: 'a', event: 'a' }, 'on.event'],
    [{ type: 'a*' }, 'on.type'],
    [{ type: 'a', where: 'params.x == 1' }, 'on.where'],
    [{ type: 'a', where: 'event.x ==' }, 'on.where'],
    [{ type: 'a', params: { x: '${{ params.y }}' } }, 'on.params.x'],
    [{ type: 'a', params: { x: ['${{ event.y'] } }, 'on.params.x[0]'],
    [{ type: 'a', dedupe: 'data.x' }, 'on.dedupe'],
    [[{ type: 'a' }, { event: 'a' }], 'on[1].name'],
  ])('on: %j is refused with the place (I38)', async (on, path) => {
    const { status, body } = await deploy('wrong', on);
    expect([status, body.problems.map((each: { path: string }) => each.path)]).toEqual([422, [path]]);
  });
});
