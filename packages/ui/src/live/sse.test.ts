import { expect, test } from 'vitest';
import { SseParser } from './sse.ts';

test('frames are read whatever the pieces are that they come in', () => {
  const text = ': still here\nid: a1\n\nid: a2\nevent: digest\ndata: {"count":1}\n\ndata: one\ndata: two\n\n';
  const expected = [
    { id: 'a1', event: 'message', data: null },
    { id: 'a2', event: 'digest', data: '{"count":1}' },
    { id: null, event: 'message', data: 'one\ntwo' },
  ];
  for (const size of [1, 2, 3, 7, text.length]) {
    const parser = new SseParser();
    const frames = [];
    for (let at = 0; at < text.length; at += size) frames.push(...parser.push(text.slice(at, at + size)));
    expect(frames).toEqual(expected);
  }
});
