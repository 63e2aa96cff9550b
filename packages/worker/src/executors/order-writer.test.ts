import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { FrameReader, RUN, STOP } from '../child/frames.ts';
import { OrderWriter } from './order-writer.ts';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A pipe whose reader comes late: what was written must still be there when it does. */
function writer() {
  const pipe = new PassThrough({ highWaterMark: 16 * 1024 * 1024 });
  let writes = 0;
  const write = pipe.write.bind(pipe) as (...args: unknown[]) => boolean;
  pipe.write = ((...args: unknown[]) => {
    writes++;
    return write(...args);
  }) as typeof pipe.write;
  const read = () => {
    const frames: [number, number, string][] = [];
    const reader = new FrameReader((kind, no, content) => frames.push([kind, no, content.toString()]));
    for (let bytes = pipe.read() as Buffer | null; bytes !== null; bytes = pipe.read() as Buffer | null)
      reader.push(bytes);
    return frames;
  };
  return { orders: new OrderWriter(pipe), read, writes: () => writes };
}

test('orders of one turn are one write, and arrive in order, whatever their length and letters', async () => {
  const { orders, read, writes } = writer();
  const texts = ['', 'a', 'ü€😀'.repeat(300), 'x'.repeat(4_096), '€'.repeat(4_097), '\0', 'y'.repeat(200_000), 'end'];
  texts.forEach((text, no) => orders.send(RUN, no, text));
  await turn();
  expect(writes()).toBe(1);
  expect(read()).toEqual(texts.map((text, no) => [RUN, no, text]));
});

test('what the child has not read yet is not written over', async () => {
  const { orders, read } = writer();
  const sent: [number, number, string][] = [];
  for (let no = 1; no <= 2_000; no++) {
    const text = String(no).repeat(50);
    sent.push([RUN, no, text]);
    orders.send(RUN, no, text);
    if (no % 7 === 0) await turn();
  }
  await turn();
  expect(read()).toEqual(sent);
});

test('whoever asks hears when an order can be read, and nothing is written after the end', async () => {
  const { orders, read, writes } = writer();
  let heard = 0;
  orders.send(STOP, 1, '{}', () => heard++);
  expect(heard).toBe(0);
  await turn();
  expect(heard).toBe(1);
  orders.send(STOP, 2, '{}');
  orders.close();
  orders.send(STOP, 3, '{}');
  await turn();
  expect(writes()).toBe(1);
  expect(read()).toEqual([[STOP, 1, '{}']]);
});
