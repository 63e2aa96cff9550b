import { expect, test } from 'vitest';
import { BatchReader, MessageReader, type Unit } from './wire.ts';

const message = (type: string, ...parts: (string | number[])[]): Buffer => {
  const body = Buffer.concat(
    parts.map((part) => (typeof part === 'string' ? Buffer.from(`${part}\0`) : Buffer.from(part))),
  );
  const head = Buffer.alloc(type.length + 4);
  head.write(type);
  head.writeInt32BE(4 + body.length, type.length);
  return Buffer.concat([head, body]);
};

const STREAM = Buffer.concat([
  message('', 'user', 'me'),
  ...[message('P', 'b', 'begin'), message('B', '', 'b'), message('E', '')],
  ...[message('P', 'f', 'select fence($1)'), message('B', '', 'f', [0, 1]), message('E', ''), message('S')],
  ...[message('B', '', 'b'), message('E', ''), message('S')],
]);

function batchesOf(chunkSize: number): (readonly Unit[])[] {
  const reader = new MessageReader('client');
  const batches = new BatchReader();
  const found: (readonly Unit[])[] = [];
  for (let from = 0; from < STREAM.length; from += chunkSize) {
    for (const one of reader.read(STREAM.subarray(from, from + chunkSize))) {
      const batch = batches.add(one);
      if (batch !== null) found.push(batch);
    }
  }
  return found;
}

test.each([1, 3, 16, STREAM.length])('statements are recognised in chunks of %i bytes, and no byte is lost', (size) => {
  const batches = batchesOf(size);
  expect(batches.map((units) => units.map(({ sql }) => sql))).toEqual([
    [''],
    ['begin', 'select fence($1)', ''],
    ['begin', ''],
  ]);
  const bytes = batches.flat().flatMap(({ messages }) => messages.map((one) => one.bytes));
  expect(Buffer.concat(bytes)).toEqual(STREAM);
});
