import { ask } from '@signalbox/postgres/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { RunningServer } from '../start.ts';
import { LogSender } from '../testing/log-sender.ts';
import { eventually, type Rig, startRig } from '../testing/rig.ts';

let rig: Rig;
let sender: LogSender;
const release = new Map<string, (() => void)[]>();
const finish = (name: string) => release.get(name)?.forEach((end) => end());
beforeAll(async () => {
  rig = await startRig();
  sender = await LogSender.open(rig);
  await rig.addWorker({
    wait: ({ params }: { params: unknown }) =>
      new Promise<void>((resolve) => {
        const { name } = params as { name: string };
        release.set(name, [...(release.get(name) ?? []), resolve]);
      }),
    done: () => undefined,
  });
});
afterAll(async () => {
  await sender.close();
  await rig.stop();
});

interface Page {
  readonly lines: readonly { no: number; text: string; task?: string; at: string; stream: string }[];
  readonly next: number | string;
  readonly isOver: boolean;
  readonly missing: readonly string[];
}

let count = 0;
/** A run whose tasks wait until they are released. */
async function begin(tasks: readonly object[] = [{ name: 'a', handler: 'wait' }]) {
  const name = `logged-${count++}`;
  await rig.ask('PUT', `/v1/dags/${name}`, { name, tasks });
  const { id } = (await rig.ask('POST', `/v1/dags/${name}/runs`, { params: { name } })).body;
  const look = async () => (await rig.ask('GET', `/v1/runs/${id}`)).body;
  await eventually(async () => (await look()).tasks[0]?.state === 'running');
  await eventually(() => release.has(name));
  return {
    id,
    finish: async () => {
      finish(name);
      await eventually(async () => (await look()).state === 'ended');
    },
  };
}

const logOf = (id: string, task = 'a', n: number | string = 'last') => `/v1/runs/${id}/tasks/${task}/attempts/${n}/log`;
const page = async (path: string, server?: RunningServer) => {
  const answer = await rig.ask('GET', path, undefined, server === undefined ? {} : { server });
  return answer.body as unknown as Page;
};

/** What a stream says until it ends. */
async function stream(path: string, headers: Record<string, string> = {}) {
  const response = await fetch(`${rig.servers[0]?.url}${path}`, {
    headers: { authorization: `Bearer ${rig.token}`, accept: 'text/event-stream', ...headers },
  });
  expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
  const said = { text: '' };
  const ended = (async () => {
    for await (const chunk of response.body ?? []) said.text += Buffer.from(chunk as Uint8Array).toString();
    return [...said.text.matchAll(/^(?:id: (.*)\n)?(?:event: (.*)\n)?data: (.*)$/gm)].map(([, id, event, data]) => ({
      id,
      event: event ?? 'line',
      data: JSON.parse(data ?? ''),
    }));
  })();
  return { said, ended };
}

test('a log is read by page, by text and from any line, and is over a moment after its attempt', async () => {
  const run = await begin();
  const texts = [
    'one',
    'two',
    { stream: 'stderr', text: 'three <b>' },
    { stream: 'log', text: '{"level":"info","message":"said","fields":{"a":1}}' },
  ] as const;
  await sender.send({ run: run.id }, 0, texts);
  const all = await page(logOf(run.id));
  expect(all).toMatchObject({ next: 4, isOver: false, missing: [] });
  expect(all.lines.map(({ no, stream: from, text }) => [no, from, text]).slice(0, 3)).toEqual([
    [0, 'stdout', 'one'],
    [1, 'stdout', 'two'],
    [2, 'stderr', 'three <b>'],
  ]);
  expect(Date.parse(all.lines[0]?.at ?? '')).toBeGreaterThan(Date.now() - 60_000);
  expect(await page(`${logOf(run.id, 'a', 1)}?from=1&limit=2`)).toMatchObject({ next: 3, isOver: false });
  const text = await fetch(`${rig.servers[0]?.url}${logOf(run.id)}`, {
    headers: { authorization: `Bearer ${rig.token}`, accept: 'text/plain' },
  });
  expect([text.headers.get('content-type'), await text.text()]).toEqual([
    'text/plain; charset=utf-8',
    'one\ntwo\nthree <b>\ninfo: said {"a":1}\n',
  ]);
  const whole = await fetch(`${rig.servers[0]?.url}/v1/runs/${run.id}/log?format=text`, {
    headers: { authorization: `Bearer ${rig.token}` },
  });
  expect(whole.headers.get('content-disposition')).toBe(`attachment; filename="${run.id}.log"`);
  expect((await whole.text()).replaceAll(/^\S+Z /gm, '')).toBe('a one\na two\na three <b>\na info: said {"a":1}\n');
  await run.finish();
  await eventually(async () => (await page(logOf(run.id))).isOver);
  expect(await page(`${logOf(run.id)}?limit=2`)).toMatchObject({ next: 2, isOver: false });
});

test('who follows gets lines as they are stored, and an end when the attempt has ended', async () => {
  const run = await begin();
  await sender.send({ run: run.id }, 0, ['one', 'two']);
  const { said, ended } = await stream(`${logOf(run.id)}?follow=true`, { accept: '*/*' });
  await eventually(() => said.text.includes('two'));
  await sender.send({ run: run.id }, 2, ['three']);
  await eventually(() => said.text.includes('three'));
  await run.finish();
  const events = await ended;
  expect(events.map(({ id, event }) => [id, event])).toEqual([
    ['0', 'line'],
    ['1', 'line'],
    ['2', 'line'],
    [undefined, 'end'],
  ]);
  const again = await (await stream(logOf(run.id), { 'last-event-id': '0' })).ended;
  expect(again.map(({ data }) => data.no)).toEqual([1, 2, undefined]);
});

test('a log without a line ends too, for a task that was never begun as well', async () => {
  const run = await begin([
    { name: 'a', handler: 'wait' },
    { name: 'b', handler: 'done', needs: ['a'] },
  ]);
  const [quiet, never] = [await stream(logOf(run.id)), await stream(logOf(run.id, 'b'))];
  expect(await page(logOf(run.id, 'b'))).toMatchObject({ lines: [], next: 0, isOver: false });
  await rig.ask('POST', `/v1/runs/${run.id}/cancel`);
  for (const name of release.keys()) finish(name);
  expect((await quiet.ended).map(({ event }) => event)).toEqual(['end']);
  expect((await never.ended).map(({ event }) => event)).toEqual(['end']);
});

test('a line that is on its way is waited for; one that is lost is passed over', async () => {
  const run = await begin();
  await sender.send({ run: run.id }, 2, ['three']);
  expect(await page(logOf(run.id))).toMatchObject({ lines: [], next: 0, isOver: false });
  await sender.send({ run: run.id }, 0, ['one']);
  expect((await page(logOf(run.id))).lines.map(({ no }) => no)).toEqual([0]);
  await run.finish();
  await eventually(async () => (await page(logOf(run.id))).isOver);
  expect((await page(logOf(run.id))).lines.map(({ no }) => no)).toEqual([0, 2]);
});

test.each([
  ['an unknown run', '/v1/runs/01a1e0f6-9382-7972-ae81-833005000000/tasks/a/attempts/1/log', 'RUN_NOT_FOUND'],
  ['no run', '/v1/runs/x/log', 'RUN_NOT_FOUND'],
  ['an unknown run', '/v1/runs/01a1e0f6-9382-7972-ae81-833005000000/log?follow=true', 'RUN_NOT_FOUND'],
  ['an unknown task', 'b/attempts/1/log', 'TASK_NOT_FOUND'],
  ['an attempt that was not', 'a/attempts/7/log', 'ATTEMPT_NOT_FOUND'],
  ['no number', 'a/attempts/-1/log?follow=true', 'ATTEMPT_NOT_FOUND'],
  ['no line', 'a/attempts/1/log?from=-1', 'BAD_REQUEST'],
  ['too many', 'a/attempts/1/log?limit=100000', 'BAD_REQUEST'],
])('the log of %s is refused, followed or not', async (_, path, code) => {
  const run = await begin();
  const whole = path.startsWith('/') ? path : `/v1/runs/${run.id}/tasks/${path}`;
  expect((await rig.ask('GET', whole)).body.code).toBe(code);
  await run.finish();
});

test('the log of a run has the lines of all tasks by their time, page by page and as they come', async () => {
  const run = await begin([
    { name: 'a', handler: 'wait' },
    { name: 'b', handler: 'wait' },
  ]);
  const now = Date.now();
  const at = (ms: number, text: string) => ({ at: now + ms, text });
  await eventually(async () => (await rig.ask('GET', `/v1/runs/${run.id}`)).body.tasks[1]?.state === 'running');
  await sender.send({ run: run.id, task: 0 }, 0, [at(0, 'a0'), at(20, 'a1'), at(40, 'a2')]);
  await sender.send({ run: run.id, task: 1 }, 0, [at(10, 'b0'), at(30, 'b1')]);
  const { said, ended } = await stream(`/v1/runs/${run.id}/log`);
  await eventually(() => said.text.includes('a2'));
  const seen: string[] = [];
  for (let cursor = ''; seen.length < 5; ) {
    const part = await page(`/v1/runs/${run.id}/log?limit=2${cursor}`);
    expect(part.isOver).toBe(false);
    seen.push(...part.lines.map(({ text }) => text));
    cursor = `&cursor=${part.next}`;
  }
  expect(seen).toEqual(['a0', 'b0', 'a1', 'b1', 'a2']);
  await sender.send({ run: run.id, task: 1 }, 2, ['b2']);
  await eventually(() => said.text.includes('b2'));
  await rig.ask('POST', `/v1/runs/${run.id}/cancel`);
  for (const name of release.keys()) finish(name);
  const events = await ended;
  expect(events.map(({ data }) => data.text)).toEqual(['a0', 'b0', 'a1', 'b1', 'a2', 'b2', undefined]);
  expect(events[1]?.data).toMatchObject({ task: 'b', attempt: 1, no: 0 });
  const resumed = await (await stream(`/v1/runs/${run.id}/log`, { 'last-event-id': events[4]?.id ?? '' })).ended;
  expect(resumed.map(({ data }) => data.text)).toEqual(['b2', undefined]);
  expect((await rig.ask('GET', `/v1/runs/${run.id}/log?cursor=nonsense`)).body.code).toBe('BAD_REQUEST');
});

test('a log that lies on two servers is read whole from either; one that gives no answer is named', async () => {
  const [first] = rig.servers as [RunningServer];
  const second = await rig.addServer();
  const run = await begin();
  await sender.send({ run: run.id }, 0, ['one', 'two'], second.servicesAddress);
  await sender.send({ run: run.id }, 2, ['three'], first.servicesAddress);
  await sender.send({ run: run.id }, 3, ['four'], second.servicesAddress);
  await sender.send({ run: run.id }, 2, ['three'], second.servicesAddress);
  for (const server of [first, second]) {
    await eventually(async () => (await page(logOf(run.id), server)).lines.length === 4);
    const whole = await page(logOf(run.id), server);
    expect([whole.lines.map(({ text }) => text), whole.missing]).toEqual([['one', 'two', 'three', 'four'], []]);
    expect((await page(`${logOf(run.id)}?from=1&limit=2`, server)).lines.map(({ no }) => no)).toEqual([1, 2]);
  }
  await ask(
    rig.databaseUrl,
    `insert into node (node_id, beat, peer_address, gateway_address, data_address)
    values ('01a1e0f6-9382-7972-ae81-833005000000', 1, 'x', 'x', '127.0.0.1:1')`,
  );
  await eventually(async () => (await page(logOf(run.id))).missing.length > 0);
  expect((await page(logOf(run.id))).lines).toHaveLength(4);
  await run.finish();
  await second.stop();
});
