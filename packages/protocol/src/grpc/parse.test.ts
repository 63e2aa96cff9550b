import { expect, test } from 'vitest';
import { parseGatewayMessage, parseWorkerMessage } from './parse.ts';
import { parseFrame } from './peer-proto.ts';
import {
  type Assignment,
  type Claim,
  type GatewayMessageParts,
  KILL_REASONS,
  REPORTED_OUTCOMES,
  type Report,
  type WorkerMessageParts,
} from './worker-messages.ts';
import { connectMethod } from './worker-proto.ts';

const claim: Claim = { shard: 63, runId: 2 ** 53 - 1, task: 9_999, attempt: 2, fence: 4_000_000_000 };
const token = Buffer.from('token');
const said = { code: 'http:503', retryAfterMs: 2 ** 40, memoryBytes: 2 ** 40, cpuMicros: 2 ** 41, peakBytes: 2 ** 42 };
const report: Report = {
  claim,
  token,
  outcome: 'succeeded',
  output: '{"a":1}',
  error: '',
  startedAt: 1,
  endedAt: 2,
  ...said,
};
const assignment: Assignment = {
  claim,
  token,
  epoch: 3,
  tenant: 'default',
  dag: 'd',
  version: 1,
  run: '0190b2f0-1234-7abc-8def-0123456789ab',
  taskName: 't',
  handler: 'h',
  work: '{}',
  bundle: 'ab',
  files: 'cd'.repeat(32),
  queue: 'default',
  timeoutMs: 30 * 86_400_000,
  effectKey: 'k',
  params: '{"ä":"€𝄞"}',
  upstream: [{ taskName: 'u', output: '1' }],
  failedUpstream: ['v'],
  missingUpstream: ['w', 'x'],
  runInfo: '',
  map: [{ group: 'each', index: 3, item: '{"path":"a"}' }],
  checkpoint: '{"page":7}',
  memoryBytes: 2 ** 40,
  softTimeoutMs: 1_000,
  stuckMs: 2_000,
  booking: '{"resources":{"cpu":1000}}',
  references: [{ taskName: 'big', id: 'sealed', bytes: 300_000 }],
};

const NO_PARTS = {
  hello: null,
  heartbeat: null,
  reports: [],
  refusals: [],
  holdings: null,
  draining: false,
  requests: [],
  ping: 0,
  leaving: false,
  ahead: null,
};
const NO_WORD = {
  welcome: null,
  heartbeatAnswered: 0,
  assignments: [],
  kills: [],
  answers: [],
  epochs: [],
  drain: false,
  evictMs: 0,
  requestAnswers: [],
  pingAnswered: 0,
};

const workerWire = (parts: WorkerMessageParts) =>
  connectMethod.requestDeserialize(connectMethod.requestSerialize(parts));
const gatewayWire = (parts: GatewayMessageParts) =>
  connectMethod.responseDeserialize(connectMethod.responseSerialize(parts));

test.each<[string, WorkerMessageParts]>([
  ['nothing', {}],
  [
    'hello',
    {
      hello: {
        workerId: 'w',
        name: 'n',
        queues: ['a', 'b'],
        queueWeights: [4, 2],
        slots: 4,
        holds: [claim],
        holdTokens: [Buffer.alloc(16, 1)],
        version: '1.2.3',
        draining: true,
      },
    },
  ],
  [
    'heartbeat',
    {
      heartbeat: {
        no: 7,
        holds: [claim, claim],
        progress: [
          { claim, agoMs: 12, fraction: 0.1234, note: 'half' },
          { claim, agoMs: 0, fraction: null, note: '' },
        ],
      },
    },
  ],
  [
    'asks',
    { requests: [{ no: 9, claim, token, extendMs: 5_000, checkpoint: '{}', assertOwned: true, addedTasks: '[]' }] },
  ],
  [
    'reports',
    { reports: [report, ...REPORTED_OUTCOMES.map((outcome) => ({ ...report, outcome, output: '', error: 'late' }))] },
  ],
  ['refusals', { refusals: [{ claim, token, reason: 'no room' }] }],
  ['holdings', { holdings: { epochs: [{ shard: 63, epoch: 8 }], holds: [] } }],
  ['draining', { draining: true, reports: [report] }],
  ['ping', { ping: 14 }],
  ['last word', { leaving: true }],
  ['room beyond its slots', { ahead: { count: 7 } }],
  ['end of that room', { ahead: { count: 0 } }],
])('a worker’s %s arrives as it was sent', (_, parts) => {
  expect(parseWorkerMessage(workerWire(parts))).toEqual({ ...NO_PARTS, ...parts });
});

test.each<[string, GatewayMessageParts]>([
  ['nothing', {}],
  [
    'welcome',
    {
      welcome: {
        nodeId: 'n',
        heartbeatMs: 3_000,
        leaseMs: 15_000,
        gateways: ['a:1'],
        dataAddress: 'a:2',
        pingMs: 1_000,
        workerId: 'w',
        shared: true,
      },
    },
  ],
  ['heartbeat answer', { heartbeatAnswered: 12 }],
  ['ping answer', { pingAnswered: 13 }],
  ['assignments', { assignments: [assignment, { ...assignment, params: '', upstream: [] }] }],
  ['kills', { kills: KILL_REASONS.map((reason) => ({ claim, reason, graceMs: 5_000 })) }],
  [
    'answers',
    {
      answers: [
        { claim, verdict: 'accepted' },
        { claim, verdict: 'stale' },
      ],
    },
  ],
  ['epochs', { epochs: [{ shard: 1, epoch: 2 }], drain: true }],
  ['answers to asks', { requestAnswers: [{ no: 9, ok: false, code: 'STALE_TOKEN', detail: 'x', leftMs: 4_000 }] }],
])('a gateway’s %s arrives as it was sent', (_, parts) => {
  expect(parseGatewayMessage(gatewayWire(parts))).toEqual({ ...NO_WORD, ...parts });
});

test.each([0, 2, undefined, '1', null])(
  'a message of format %j is refused before anything else of it is read',
  (format) => {
    for (const parse of [parseWorkerMessage, parseGatewayMessage, parseFrame]) {
      expect(() => parse({ format, reports: 'garbage' })).toThrow(expect.objectContaining({ code: 'UNKNOWN_FORMAT' }));
    }
  },
);

const fromWorker = (parts: object) => () => parseWorkerMessage({ format: 1, ...NO_PARTS, ...parts });
const fromGateway = (parts: object) => () => parseGatewayMessage({ format: 1, ...NO_WORD, ...parts });

test.each([
  ['no message', () => parseWorkerMessage(undefined)],
  ['a worker without an id', fromWorker({ hello: { workerId: '', name: '', queues: [], slots: 1, holds: [] } })],
  [
    'a lease shorter than its heartbeat',
    fromGateway({ welcome: { nodeId: 'n', heartbeatMs: 9, leaseMs: 9, gateways: [], dataAddress: '', pingMs: 0 } }),
  ],
  [
    'a heartbeat each 0 ms',
    fromGateway({ welcome: { nodeId: 'n', heartbeatMs: 0, leaseMs: 9, gateways: [], dataAddress: '', pingMs: 0 } }),
  ],
  ['a kill for no known reason', fromGateway({ kills: [{ claim, reason: 'because', graceMs: 0 }] })],
  ['a frame of text', () => parseFrame({ format: 1, messages: '[]' })],
])('%s is refused with its place', (_, parse) => {
  expect(parse).toThrow(expect.objectContaining({ code: 'BAD_REQUEST' }));
});

test.each([
  ['that is no JSON', '{"a":', 'not JSON'],
  ['with a zero character', '"\0"', 'not JSON'],
  ['with a number that is too large', '{"id":9007199254740993}', "can't be kept: id: "],
  ['with a key twice', '{"id":1,"id":1}', "can't be kept: id: "],
  ['over 256 KiB', JSON.stringify('x'.repeat(256 * 1024)), 'larger than 262144 bytes'],
  ['over 256 KiB once it is UTF-8', JSON.stringify('€'.repeat(90_000)), 'larger than 262144 bytes'],
])('an output %s fails its own attempt for good, not the message (I56, I57)', (_, output, error) => {
  const { reports } = parseWorkerMessage(workerWire({ reports: [{ ...report, output }, report] }));
  expect(reports[0]).toMatchObject({ claim, outcome: 'permanent', output: '', error: expect.stringContaining(error) });
  expect(reports[1]).toEqual(report);
});

test('an error text is cut, and made storable', () => {
  const sent = { ...report, outcome: 'transient' as const, output: '', error: `a\0b${'x'.repeat(20_000)}` };
  const error = parseWorkerMessage(workerWire({ reports: [sent] })).reports[0]?.error ?? '';
  expect(error.startsWith('a\u{fffd}bx')).toBe(true);
  expect(error.length).toBe(8 * 1024 + 1);
});
