/** Reports, assignments and answers are written and read by hand. What protobufjs makes of the same bytes must be the same. */
import { fileURLToPath } from 'node:url';
import protobuf from 'protobufjs';
import { expect, test } from 'vitest';
import { SignalboxError } from '../../errors.ts';
import { parseGatewayMessage, parseWorkerMessage } from '../parse.ts';
import { OUTCOME_NO, VERDICT_NO } from '../wire-enums.ts';
import { type Assignment, type Claim, REPORTED_OUTCOMES, type Report, type ReportAnswer } from '../worker-messages.ts';
import { encodeGatewayMessage, encodeWorkerMessage } from '../worker-proto.ts';

const root = protobuf.loadSync(fileURLToPath(new URL('../../../proto/worker.proto', import.meta.url)));
const workerMessage = root.lookupType('signalbox.worker.v1.WorkerMessage');
const gatewayMessage = root.lookupType('signalbox.worker.v1.GatewayMessage');
const plain = { longs: Number, bytes: Buffer, defaults: true, arrays: true } as const;

/** Draws the same each time. */
let seed = 11;
function draw(most: number): number {
  seed = (seed * 48_271) % 2_147_483_647;
  return seed % most;
}
const one = <T>(...choices: readonly T[]): T => choices[draw(choices.length)] as T;
const drawText = () =>
  one('', 'a', 'default', 'ä€𝄞\0', '{"a":1}', 'x'.repeat(63), 'ß'.repeat(40), 'y'.repeat(200), 'z'.repeat(9_000));
const drawCount = () => one(0, 1, 127, 128, 300, 2 ** 31, 2 ** 32 - 1);
const drawLong = () => one(0, 1, 2 ** 32, 2 ** 53 - 1);
const some = <T>(make: () => T): T[] => Array.from({ length: one(0, 0, 1, 3) }, make);
const filled = () => drawText() || 'name';

const drawClaim = (): Claim => ({
  shard: draw(64),
  runId: drawLong(),
  task: drawCount(),
  attempt: drawCount(),
  fence: drawCount(),
});
const drawReport = (): Report => ({
  claim: drawClaim(),
  token: Buffer.alloc(one(0, 16, 200), draw(256)),
  outcome: one(...REPORTED_OUTCOMES),
  output: one('', '1', '{"a":"€"}', JSON.stringify('x'.repeat(5_000))),
  error: one('', 'it failed', 'ä'.repeat(100)),
  startedAt: drawLong(),
  endedAt: drawLong(),
  code: one('', 'exit:1'),
  retryAfterMs: drawLong(),
  memoryBytes: drawLong(),
  cpuMicros: drawLong(),
  peakBytes: drawLong(),
});
const drawAnswer = (): ReportAnswer => ({ claim: drawClaim(), verdict: one('accepted', 'stale') });
const short = () => one('', 'a', 'default', 'ä€𝄞', 'x'.repeat(63), 'ß'.repeat(40), 'y'.repeat(200));
const drawAssignment = (): Assignment => ({
  claim: drawClaim(),
  token: Buffer.alloc(one(16, 200), draw(256)),
  epoch: drawCount(),
  tenant: short(),
  dag: short(),
  version: drawCount(),
  run: short(),
  taskName: one('a', 'b', 'c'),
  handler: short(),
  work: drawText(),
  bundle: short(),
  files: short(),
  queue: short(),
  timeoutMs: drawCount(),
  effectKey: short(),
  params: drawText(),
  upstream: some(() => ({ taskName: 'u', output: drawText() })),
  failedUpstream: some(() => 'f'),
  missingUpstream: some(() => 'm'),
  runInfo: drawText(),
  map: some(() => ({ group: 'g', index: drawCount(), item: filled() })),
  checkpoint: drawText(),
  memoryBytes: drawLong(),
  softTimeoutMs: drawCount(),
  stuckMs: drawCount(),
  booking: one('', '{"resources":{"gpu":1},"exclusive":true}'),
  references: some(() => ({ taskName: 'r', id: filled(), bytes: drawLong() })),
});

const wireReport = (report: Report) => ({ ...report, outcome: OUTCOME_NO[report.outcome] });
const wireAnswer = ({ claim, verdict }: ReportAnswer) => ({ claim, verdict: VERDICT_NO[verdict] });
const list = <T>(make: () => T): T[] => Array.from({ length: draw(5) }, make);

test('reports are written and read as protobufjs writes and reads them', () => {
  for (let i = 0; i < 150; i++) {
    const reports = list(drawReport);
    const bytes = encodeWorkerMessage({ reports, ping: 5 });
    const theirs = workerMessage.toObject(workerMessage.decode(bytes), plain);
    expect(theirs).toMatchObject({ format: 1, ping: 5, reports: reports.map(wireReport) });
    const message = { format: 1, ping: 5, reports: reports.map(wireReport) };
    for (const each of [bytes, Buffer.from(workerMessage.encode(message).finish())]) {
      expect(parseWorkerMessage(each)).toMatchObject({ reports, ping: 5 });
    }
  }
});

test('assignments and answers are written and read as protobufjs writes and reads them', () => {
  for (let i = 0; i < 150; i++) {
    const [assignments, answers] = [list(drawAssignment), list(drawAnswer)];
    // Attempts of the same task follow each other.
    const again = assignments.flatMap((each) => [each, { ...each, run: 'another', params: '2' }]);
    const bytes = encodeGatewayMessage({ assignments: again, answers, pingAnswered: 3 });
    const theirs = gatewayMessage.toObject(gatewayMessage.decode(bytes), plain);
    expect(theirs).toMatchObject({ pingAnswered: 3, assignments: again, answers: answers.map(wireAnswer) });
    const message = { format: 1, pingAnswered: 3, assignments: again, answers: answers.map(wireAnswer) };
    for (const each of [bytes, Buffer.from(gatewayMessage.encode(message).finish())]) {
      expect(parseGatewayMessage(each)).toMatchObject({ assignments: again, answers, pingAnswered: 3 });
    }
  }
});

test('what is known of a task is not taken for another one whose bytes begin the same', () => {
  const first = { ...drawAssignment(), tenant: 't', dag: 'd', stuckMs: 0, files: '' };
  const tasks = [first, { ...first, files: 'ab' }, { ...first, stuckMs: 5 }, { ...first, stuckMs: 5, files: 'ab' }];
  // Twice in a row each, so that it is known.
  const twice = tasks.flatMap((task) => [task, { ...task, run: 'r' }, { ...task, params: '1' }]);
  for (const assignments of [twice, tasks, tasks.toReversed(), twice.toReversed(), [...tasks, ...tasks]]) {
    expect(parseGatewayMessage(encodeGatewayMessage({ assignments })).assignments).toEqual(assignments);
  }
});

test('fields in any order, and fields of a later version, change nothing', () => {
  const assignment = { ...drawAssignment(), tenant: 't', dag: 'd', version: 7, queue: 'q' };
  const type = root.lookupType('signalbox.worker.v1.Assignment');
  const parts = Object.entries(assignment).map(([name, value]) => Buffer.from(type.encode({ [name]: value }).finish()));
  // Field 99, a text, and field 98, a number of 64 bits.
  const unknown = [Buffer.from([0x9a, 0x06, 1, 65]), Buffer.from([0x91, 0x06, 1, 2, 3, 4, 5, 6, 7, 8])];
  for (let i = 0; i < 50; i++) {
    const bytes = Buffer.concat([...parts, ...unknown].sort(() => draw(3) - 1));
    const length = protobuf.Writer.create().uint32(bytes.length).finish();
    const message = Buffer.concat([Buffer.from([8, 1, 34]), length, bytes]);
    expect(parseGatewayMessage(message).assignments).toEqual([assignment]);
  }
});

const claim = { shard: 1, runId: 2, task: 3, attempt: 1, fence: 1 };
const report = { claim, token: Buffer.alloc(16), outcome: 1, startedAt: 1, endedAt: 2 };
const worker = (reported: object) => () =>
  parseWorkerMessage(Buffer.from(workerMessage.encode({ format: 1, reports: [reported] }).finish()));
const gateway = (parts: object) => () =>
  parseGatewayMessage(Buffer.from(gatewayMessage.encode({ format: 1, ...parts }).finish()));
/** 2^53, as its two halves. */
const beyond = { low: 0, high: 2 ** 21, unsigned: false };

test.each([
  ['a report without a claim', worker({ ...report, claim: null })],
  ['a run id beyond 2^53', worker({ ...report, claim: { ...claim, runId: beyond } })],
  ['a run id below zero', worker({ ...report, claim: { ...claim, runId: -1 } })],
  ['a start before 1970', worker({ ...report, startedAt: -5 })],
  ['an outcome that is not said', worker({ ...report, outcome: 0 })],
  ['an outcome of the future', worker({ ...report, outcome: 17 })],
  ['a token of a megabyte', worker({ ...report, token: Buffer.alloc(1 << 20) })],
  ['a verdict that is not said', gateway({ answers: [{ claim, verdict: 0 }] })],
  ['an assignment without a claim', gateway({ assignments: [{ tenant: 'a' }] })],
  ['an upstream task without a name', gateway({ assignments: [{ claim, upstream: [{ output: '1' }] }] })],
  ['an item without a group', gateway({ assignments: [{ claim, map: [{ item: '1' }] }] })],
  ['a name of 2,000 characters', gateway({ assignments: [{ claim, dag: 'x'.repeat(2_000) }] })],
  [
    '10,001 reports',
    () => parseWorkerMessage(encodeWorkerMessage({ reports: Array.from({ length: 10_001 }, drawReport) })),
  ],
])('%s is refused with its place', (_, parse) => {
  expect(parse).toThrow(expect.objectContaining({ code: 'BAD_REQUEST' }));
});

test('bytes that are cut or changed on the way are read or refused, and nothing else', () => {
  const from = encodeWorkerMessage({ reports: [drawReport(), drawReport()] });
  const to = encodeGatewayMessage({ assignments: [drawAssignment()], answers: [drawAnswer()] });
  for (const [bytes, parse] of [
    [from, parseWorkerMessage],
    [to, parseGatewayMessage],
  ] as const) {
    for (let i = 0; i < 3_000; i++) {
      const changed = Buffer.from(bytes.subarray(0, one(bytes.length, draw(bytes.length))));
      if (changed.length > 0) changed[draw(Math.min(changed.length, 300))] = draw(256);
      try {
        parse(changed);
      } catch (error) {
        expect(error).toBeInstanceOf(SignalboxError);
      }
    }
  }
});

test('what is left of a message that could not be written is not in the next one', () => {
  const whole = encodeWorkerMessage({ reports: [] });
  const broken = { claim: null } as unknown as Report;
  expect(() => encodeWorkerMessage({ reports: [broken] })).toThrow();
  expect(encodeWorkerMessage({ reports: [] })).toEqual(whole);
});
