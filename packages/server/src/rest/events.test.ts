import { createClient, type EventView } from '@signalbox/sdk';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually, type Rig, startRig } from '../testing/rig.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
  await rig.addServer();
  await rig.addWorker({
    echo: ({ params }: { params: unknown }) => params,
    fail: () => {
      throw new Error('on purpose');
    },
  });
});
afterAll(() => rig.stop());

const clientOf = (server: number) => createClient({ url: rig.servers[server]?.url ?? '', token: rig.token });
const deploy = (name: string, more: object = {}, handler = 'echo') =>
  rig.ask('PUT', `/v1/dags/${name}`, { name, tasks: [{ name: 'a', handler }], ...more });

/** Collects until enough came, then leaves the stream. */
async function collect(events: AsyncIterable<EventView>, isEnough: (seen: EventView[]) => boolean) {
  const seen: EventView[] = [];
  for await (const event of events) {
    seen.push(event);
    if (isEnough(seen)) break;
  }
  return seen;
}
const endsIn = (seen: EventView[]) => seen.filter(({ kind }) => kind === 'run.ended').length;

test('who listens hears of everything, in order for each run, whichever server it was done by (I59)', async () => {
  await deploy('heard');
  const { cursor } = await clientOf(0).listEvents({});
  const listening = collect(clientOf(0).followEvents({ dag: 'heard', after: cursor }), (seen) => endsIn(seen) === 60);
  const many = Array.from({ length: 20 }, () => ({}));
  await clientOf(1).submitMany('heard', many);
  await Promise.all(many.map((_, i) => clientOf(i % 2).submit('heard')));
  await clientOf(0).submitMany('heard', many);
  const seen = await listening;
  const runs = new Set(seen.map(({ run }) => run));
  expect(runs.size).toBe(60);
  for (const run of runs) {
    const events = seen.filter((event) => event.run === run);
    expect(events.map(({ kind, task }) => [kind, task])).toEqual([
      ['run.created', null],
      ['attempt.claimed', 'a'],
      ['attempt.ended', 'a'],
      ['run.closing', null],
      ['run.ended', null],
    ]);
  }
});

test('a reader that is cut off anywhere goes on at another server, and misses nothing (I59)', async () => {
  await deploy('resumed');
  const { cursor: start } = await clientOf(0).listEvents({ dag: 'resumed' });
  await clientOf(0).submitMany(
    'resumed',
    Array.from({ length: 50 }, () => ({})),
  );
  await eventually(
    async () => endsIn((await clientOf(0).listEvents({ dag: 'resumed', after: start, limit: 500 })).items) === 50,
  );
  const whole = (await clientOf(0).listEvents({ dag: 'resumed', after: start, limit: 500 })).items;
  const nameOf = ({ run, kind }: EventView) => `${run} ${kind}`;
  const pieces: EventView[] = [];
  let after = start;
  for (let i = 0; pieces.length < whole.length; i++) {
    const [event] = await collect(clientOf(i % 2).followEvents({ dag: 'resumed', after }), () => true);
    if (event === undefined) break;
    pieces.push(event);
    after = event.cursor;
  }
  expect(pieces.map(nameOf).sort()).toEqual(whole.map(nameOf).sort());
  expect(new Set(pieces.map(nameOf)).size).toBe(250);
}, 60_000);

test('deploys, schedules, retries and ends are told, and filters hold', async () => {
  const { cursor: after } = await clientOf(0).listEvents({});
  await deploy('told', { schedule: { cron: '0 0 1 1 *' } }, 'fail');
  await clientOf(0).pauseSchedule('told');
  const { id } = await clientOf(0).submit('told');
  await clientOf(0).waitForRun(id);
  await clientOf(0).retryTask(id, 'a');
  await eventually(async () => (await clientOf(0).getRun(id)).tasks[0]?.attempts.length === 2);
  await clientOf(0).waitForRun(id);
  await clientOf(0).deleteDag('told');
  const kinds = async (filter: object) =>
    (await clientOf(0).listEvents({ after, dag: 'told', limit: 100, ...filter })).items.map(({ kind }) => kind);
  const attempt = ['attempt.claimed', 'attempt.ended', 'dead_letter.written', 'run.closing', 'run.ended'];
  expect(await kinds({})).toEqual([
    ...['dag.deployed', 'schedule.set', 'schedule.set', 'run.created', ...attempt],
    ...['run.reopened', 'task.cleared', ...attempt, 'schedule.removed', 'dag.retired'],
  ]);
  expect(await kinds({ run: id, kinds: ['run.ended', 'run.created'] })).toEqual([
    'run.created',
    'run.ended',
    'run.ended',
  ]);
});

test('nothing of another tenant is in the stream (I65)', async () => {
  await rig.sql(`insert into tenant values (7, 'others')`);
  await rig.sql(
    `insert into api_token (sha256, tenant_id, name, role) values (sha256('a-token-of-the-others'::bytea), 7, 'theirs', 'admin')`,
  );
  const others = createClient({ url: rig.servers[0]?.url ?? '', token: 'a-token-of-the-others' });
  await deploy('ours-alone');
  await clientOf(0).submit('ours-alone');
  await others.deployDag({ name: 'theirs', tasks: [{ name: 'a', handler: 'echo' }] });
  const { items } = await others.listEvents({ from: 'start', limit: 500 });
  expect(items.map(({ dag }) => dag)).toEqual(['theirs']);
});

test('an event from outside makes one run of each dag that waits for it, however often it is signalled (I11)', async () => {
  await deploy('on-one', { on: { event: 'arrived' } });
  await deploy('on-two', { on: { event: 'arrived' } });
  await deploy('on-other', { on: { event: 'left' } });
  const call = { idempotencyKey: 'file-7' };
  const first = await clientOf(0).signalEvent('arrived', { file: 7 }, call);
  expect(first.runs.map(({ dag }) => dag)).toEqual(['on-one', 'on-two']);
  expect(await clientOf(1).signalEvent('arrived', { file: 7 }, call)).toEqual(first);
  await expect(clientOf(0).signalEvent('arrived', { file: 8 }, call)).rejects.toMatchObject({
    code: 'IDEMPOTENCY_CONFLICT',
  });
  const run = await clientOf(0).waitForRun(first.runs[0]?.id ?? '');
  expect(run).toMatchObject({ dag: 'on-one', cause: 'event', params: { file: 7 }, outcome: 'succeeded' });
  expect(await clientOf(0).signalEvent('nobody-waits')).toEqual({ matched: false, runs: [] });
  // Cut off after the runs were made: the runs are found again, not made again.
  await rig.sql(
    `update request_key set status = null, answer = null, at = '-infinity' where operation = 'signalEvent'`,
  );
  expect(await clientOf(0).signalEvent('arrived', { file: 7 }, call)).toEqual(first);
});

test('what the journal no longer has is a refusal, not a hole (I59)', async () => {
  await deploy('old');
  const { cursor } = await clientOf(0).listEvents({});
  for (let i = 0; i < 3; i++) await clientOf(0).submit('old');
  await rig.sql('delete from journal');
  await clientOf(0).submit('old');
  // The other servers may have read for somebody else what was removed since, and would share it.
  const { url } = await rig.addServer();
  const client = createClient({ url, token: rig.token });
  const late = client.followEvents({ after: cursor, dag: 'old' })[Symbol.asyncIterator]().next();
  await expect(late).rejects.toMatchObject({ code: 'EVENTS_EXPIRED' });
  // Other shards may have gone on since, and what they did is told first.
  const readOn = async () => {
    for (let page = 0, after = cursor; page < 20; page++) ({ cursor: after } = await client.listEvents({ after }));
  };
  await expect(readOn()).rejects.toMatchObject({ code: 'EVENTS_EXPIRED' });
  await expect(client.listEvents({ after: 'AQ' })).rejects.toMatchObject({ code: 'BAD_REQUEST' });
});

test('a stream says where its reader is before anything happened', async () => {
  const { body, headers } = await open('/v1/events', rig.token);
  expect(headers.get('content-type')).toContain('text/event-stream');
  const reader = (body as ReadableStream<Uint8Array>).getReader();
  expect(new TextDecoder().decode((await reader.read()).value)).toMatch(/^id: [\w-]+\n\n$/);
  await reader.cancel();
});

test('streams end with the credential that began them', async () => {
  await deploy('waiting', { tasks: [{ name: 'a', handler: 'echo', queue: 'nobody' }] });
  const { id } = await clientOf(0).submit('waiting');
  const { token } = await clientOf(0).createToken({ name: 'listener', role: 'viewer' });
  const streams = await Promise.all(['/v1/events', `/v1/runs/${id}/log?follow=true`].map((path) => open(path, token)));
  expect(streams.map(({ status }) => status)).toEqual([200, 200]);
  await clientOf(0).revokeToken('listener');
  for (const { body } of streams) await untilItEnds(body as ReadableStream<Uint8Array>);
});

const open = (path: string, token: string) =>
  fetch(`${rig.servers[0]?.url}${path}`, {
    headers: { authorization: `Bearer ${token}`, accept: 'text/event-stream' },
  });

/** Cut off or finished: both are an end. */
async function untilItEnds(body: ReadableStream<Uint8Array>): Promise<void> {
  const reader = body.getReader();
  for (let isOver = false; !isOver; ) isOver = (await reader.read().catch(() => ({ done: true }))).done;
}

test('a stream of digests names what changed, a few times a second, and goes on where it was cut off', async () => {
  await deploy('digested');
  const { cursor } = await clientOf(0).listEvents({});
  const open = (lastId: string) =>
    fetch(`${rig.servers[0]?.url}/v1/events?dag=digested&digestMs=200`, {
      headers: { authorization: `Bearer ${rig.token}`, accept: 'text/event-stream', 'last-event-id': lastId },
    });
  const { ids } = await clientOf(0).submitMany(
    'digested',
    Array.from({ length: 40 }, () => ({})),
  );
  const seen = new Set<string>();
  let [lastId, count, frames] = [cursor, 0, 0];
  while (seen.size < ids.length || count < 5 * ids.length) {
    const reader = (await open(lastId)).body?.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    while (!/^data: .*\n\n/m.test(text)) text += (await reader?.read())?.value ?? '';
    await reader?.cancel();
    const data = /^data: (.*)$/m.exec(text)?.[1] ?? '{}';
    const digest = JSON.parse(data) as { count: number; runs: string[]; dags: string[]; more: boolean };
    expect([digest.dags, digest.more]).toEqual([['digested'], false]);
    for (const run of digest.runs) seen.add(run);
    lastId = [...text.matchAll(/^id: (.*)$/gm)].at(-1)?.[1] ?? lastId;
    count += digest.count;
    frames += 1;
  }
  expect([...seen].sort()).toEqual([...ids].sort());
  // Created, claimed, ended, closing and ended of each run, told in far fewer frames.
  expect(count).toBe(5 * ids.length);
  expect(frames).toBeLessThan(ids.length);
});
