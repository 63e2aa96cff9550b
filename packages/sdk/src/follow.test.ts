import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { problem } from '@signalbox/protocol';
import { expect, onTestFinished, test } from 'vitest';
import { createClient } from './client.ts';
import { EventParser } from './event-stream.ts';

type Answer = (response: ServerResponse, request: IncomingMessage) => void;

/** A server that answers in turn; the client does not wait between its tries. */
async function script(answers: readonly Answer[]) {
  const heard: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    heard.push(request);
    answers[Math.min(heard.length, answers.length) - 1]?.(response, request);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const timing = { sleep: async () => undefined };
  return { client: createClient({ url, token: 't', timing }), heard };
}

const event = (cursor: string, kind: string) =>
  `id: ${cursor}\nevent: ${kind}\ndata: ${JSON.stringify({ kind, at: '2026-01-01T00:00:00.000Z', dag: 'd', run: null, task: null, details: {} })}\n\n`;
const stream =
  (...parts: string[]): Answer =>
  (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const part of parts) response.write(part);
  };
const streamThenCut =
  (...parts: string[]): Answer =>
  (response, request) => {
    stream(...parts)(response, request);
    setImmediate(() => response.destroy());
  };

test('a stream of events that is cut goes on after the last event that arrived (I59)', async () => {
  const { client, heard } = await script([
    streamThenCut(event('A', 'run.created'), event('B', 'run.ended').slice(0, 20)),
    (response) => response.writeHead(503).end(),
    stream(': still here\n\n', event('B', 'run.ended'), event('C', 'run.created')),
  ]);
  const cursors: string[] = [];
  for await (const { cursor } of client.followEvents({ dag: 'd' })) {
    cursors.push(cursor);
    if (cursor === 'C') break;
  }
  expect(cursors).toEqual(['A', 'B', 'C']);
  expect(heard.map(({ headers }) => headers['last-event-id'])).toEqual([undefined, 'A', 'A']);
  expect(heard[0]?.url).toBe('/v1/events?dag=d');
});

test('an event of a kind that this client does not know comes through (I59)', async () => {
  const { client } = await script([stream(event('A', 'moon.risen'), event('B', 'run.ended'))]);
  const kinds: string[] = [];
  for await (const { kind } of client.followEvents()) if (kinds.push(kind) === 2) break;
  expect(kinds).toEqual(['moon.risen', 'run.ended']);
});

test('what the server refuses for good ends the loop with its code', async () => {
  const gone = problem('EVENTS_EXPIRED');
  const { client } = await script([(response) => response.writeHead(gone.status).end(JSON.stringify(gone))]);
  const first = client.followEvents({ after: 'A' })[Symbol.asyncIterator]().next();
  await expect(first).rejects.toMatchObject({ code: 'EVENTS_EXPIRED' });
});

test('leaving by the signal ends the request too', async () => {
  const leave = new AbortController();
  const closed = new Promise<void>((resolve) => {
    void script([
      (response, request) => {
        stream(event('A', 'run.created'))(response, request);
        response.on('close', resolve);
      },
    ])
      .then(
        async ({ client }) => {
          for await (const _ of client.followEvents({}, { signal: leave.signal })) leave.abort(new Error('enough'));
        },
        () => undefined,
      )
      .catch(() => undefined);
  });
  await closed;
});

const line = (no: number) => ({ no, at: '2026-01-01T00:00:00.000Z', stream: 'stdout', text: `line ${no}` });
const page =
  (lines: object[], next: number, isOver: boolean): Answer =>
  (response) =>
    response.writeHead(200).end(JSON.stringify({ lines, next, isOver }));
const sse = (no: number) => `id: ${no}\ndata: ${JSON.stringify(line(no))}\n\n`;

test('the lines of a log come once each, over breaks, until it is over', async () => {
  const { client, heard } = await script([
    page([line(0), line(1)], 2, false),
    page([], 2, false),
    streamThenCut(sse(2)),
    stream(sse(2), sse(3), 'event: end\ndata: {}\n\n'),
  ]);
  const seen: number[] = [];
  for await (const { no } of client.followLog({ run: 'r', task: 't' })) seen.push(no);
  expect(seen).toEqual([0, 1, 2, 3]);
  expect(heard.slice(2).map(({ headers }) => headers['last-event-id'])).toEqual(['1', '2']);
  expect(heard[2]?.url).toBe('/v1/runs/r/tasks/t/attempts/last/log?follow=true');
});

test('events are put together from pieces of any size, and one without an end is refused', () => {
  const whole = 'id: 1\r\nevent: a\r\ndata: x\r\ndata: y\r\n\r\n: comment\n\ndata:z\n\n';
  const parser = new EventParser();
  expect(whole.split('').flatMap((char) => parser.push(char))).toEqual([
    { id: '1', event: 'a', data: 'x\ny' },
    { id: '1', event: 'message', data: 'z' },
  ]);
  expect(() => parser.push('x'.repeat(5 * 1024 * 1024))).toThrow();
});

test('the log of a run that is cut in the middle of a page goes on without a line twice, to its end', async () => {
  const line = (task: string, no: number, id?: string) =>
    `${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify({ task, attempt: 1, no, at: '2026-01-01T00:00:00.000Z', stream: 'stdout', text: '' })}\n\n`;
  const { client, heard } = await script([
    streamThenCut(line('a', 0), line('b', 0, 'P'), line('a', 1)),
    stream(line('a', 1), line('b', 1, 'Q'), 'event: end\ndata: {"missing":[]}\n\n'),
  ]);
  const seen: string[] = [];
  for await (const { task, no } of client.followRunLog('r')) seen.push(`${task}${no}`);
  expect(seen).toEqual(['a0', 'b0', 'a1', 'b1']);
  expect(heard.map(({ headers }) => headers['last-event-id'])).toEqual([undefined, 'P']);
  expect(heard[0]?.url).toBe('/v1/runs/r/log?follow=true');
});
