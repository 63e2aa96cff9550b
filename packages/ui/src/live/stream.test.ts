import { expect, test } from 'vitest';
import { LiveStream, type StreamState } from './stream.ts';

const body = (...pieces: string[]) =>
  new ReadableStream<Uint8Array>({
    start(controller) {
      for (const piece of pieces) controller.enqueue(new TextEncoder().encode(piece));
      controller.close();
    },
  });

test('a stream goes on after the last frame that it read, and reads all again when the server lost that place', async () => {
  const asked: (string | null)[] = [];
  const states: StreamState[] = [];
  const frames: (string | null)[] = [];
  let gaps = 0;
  const answers = [
    () => new Response(body('id: c1\n\nid: c2\ndata: first\n\n')),
    () => new Response('no', { status: 503 }),
    () => new Response('', { status: 410 }),
    () => new Response(body('id: d1\ndata: second\n\n')),
  ];
  const stream: LiveStream = new LiveStream({
    path: '/v1/events',
    firstWaitMs: 1,
    onFrame: ({ data }) => frames.push(data),
    onState: (state) => states.push(state),
    onGap: () => (gaps += 1),
    fetch: async (_path, init) => {
      asked.push(new Headers(init?.headers).get('last-event-id'));
      const answer = answers.shift();
      if (answer === undefined) {
        stream.stop();
        throw new Error('over');
      }
      return answer();
    },
  });
  await stream.run();
  expect(asked).toEqual([null, 'c2', 'c2', null, 'd1']);
  expect(frames).toEqual(['first', 'second']);
  expect(gaps).toBe(1);
  expect(states.filter((state) => state === 'live')).toHaveLength(2);
  expect(stream.cursor).toBe('d1');
});
