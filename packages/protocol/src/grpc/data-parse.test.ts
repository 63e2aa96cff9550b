import { expect, test } from 'vitest';
import { type LogBatch, type LogLine, MAX_LOG_LINE_BYTES } from './data-messages.ts';
import { parseBundleChunk, parseBundleRequest, parseLogBatch, parseLogStored } from './data-parse.ts';
import { fetchBundleMethod, pushLogsMethod } from './data-proto.ts';

const claim = { shard: 63, runId: 2 ** 53 - 1, task: 9_999, attempt: 2, fence: 4_000_000_000 };
const line: LogLine = { at: 1_700_000_000_000, stream: 'stdout', text: 'ä€𝄞' };
const batchOf = (lines: readonly LogLine[]): LogBatch => ({
  no: 7,
  pieces: [{ claim, token: Buffer.from('token'), firstLine: 3, lines }],
});
const wire = (batch: LogBatch) => pushLogsMethod.requestDeserialize(pushLogsMethod.requestSerialize(batch));
const hash = 'ab'.repeat(32);

test('a batch of lines arrives as it was sent', () => {
  const batch = batchOf([
    line,
    { ...line, stream: 'stderr', text: '' },
    { ...line, stream: 'log' },
    { ...line, stream: 'system' },
  ]);
  expect(parseLogBatch(wire(batch))).toEqual(batch);
  expect(parseLogBatch(wire({ no: 1, pieces: [] }))).toEqual({ no: 1, pieces: [] });
});

test('the answer to a batch, the request of a bundle and its chunks arrive as they were sent', () => {
  expect(parseLogStored(pushLogsMethod.responseDeserialize(pushLogsMethod.responseSerialize(9)))).toBe(9);
  expect(parseBundleRequest(fetchBundleMethod.requestDeserialize(fetchBundleMethod.requestSerialize(hash)))).toBe(hash);
  const chunk = (parts: { code?: Buffer; sourceMap?: Buffer }) =>
    parseBundleChunk(fetchBundleMethod.responseDeserialize(fetchBundleMethod.responseSerialize(parts)));
  expect(chunk({ code: Buffer.from('x') })).toEqual({ code: Buffer.from('x'), sourceMap: Buffer.alloc(0) });
  expect(chunk({ sourceMap: Buffer.from('y') })).toEqual({ code: Buffer.alloc(0), sourceMap: Buffer.from('y') });
});

test.each<[string, unknown, string]>([
  ['another format', { format: 2, no: 1, pieces: [] }, 'UNKNOWN_FORMAT'],
  ['a line that is too long', wire(batchOf([{ ...line, text: 'x'.repeat(MAX_LOG_LINE_BYTES + 1) }])), 'BAD_REQUEST'],
  ['a line with too many bytes', wire(batchOf([{ ...line, text: '€'.repeat(MAX_LOG_LINE_BYTES / 2) }])), 'BAD_REQUEST'],
  ['too many lines', wire(batchOf(Array.from({ length: 10_001 }, () => line))), 'BAD_REQUEST'],
  ['no list', { format: 1, no: 1, pieces: 'x' }, 'BAD_REQUEST'],
  [
    'an unknown stream',
    {
      format: 1,
      no: 1,
      pieces: [{ ...claim, token: Buffer.alloc(1), firstLine: 0, lines: [{ at: 1, stream: 9, text: '' }] }],
    },
    'BAD_REQUEST',
  ],
])('a batch with %s is refused (I68)', (_, input, code) => {
  expect(() => parseLogBatch(input)).toThrow(expect.objectContaining({ code }));
});

test.each(['', 'AB'.repeat(32), '../../etc/passwd', 'ab'.repeat(31)])('%j is no hash of a bundle', (odd) => {
  expect(() => parseBundleRequest({ format: 1, hash: odd })).toThrow(expect.objectContaining({ code: 'BAD_REQUEST' }));
});
