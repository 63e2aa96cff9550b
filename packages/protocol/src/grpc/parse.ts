/**
 * From the wire to the domain. Structural faults refuse the whole message, since its sender is broken. A fault that
 * user code can cause, an output that is no JSON or is too large, is charged to that one attempt: it ends as failed for
 * good, and the other reports of its message are not held back by it (I56, I57).
 */
import { InexactJson, parseExactJson } from '../exact-json.ts';
import { MAX_CHECKPOINT_BYTES, MAX_CODE_CHARS, MAX_ERROR_CHARS, MAX_REPORTED_BYTES } from '../limits.ts';
import { type HeldBooking, readBooking, readOffers } from '../placement.ts';
import { readNewTasks } from '../rest/new-tasks.ts';
import { bytes, count, type Fields, filledText, list, record, refuse, requireFormat, text } from './check.ts';
import { countItems } from './count-items.ts';
import { readAssignment } from './wire/assignment.ts';
import { LONG, SHORT, TOKEN_BYTES } from './wire/limits.ts';
import { readAnswer, readReport } from './wire/report.ts';
import { readSpans, refuseBytes, splitMessage, type WireReader } from './wire/wire-reader.ts';
import {
  type AttemptRequestAnswer,
  type AttemptRequestMessage,
  type Claim,
  type GatewayMessage,
  type Heartbeat,
  type HeldProgress,
  type Hello,
  type Holdings,
  KILL_REASONS,
  type Kill,
  type Refusal,
  type Report,
  type ShardEpoch,
  type Welcome,
  type WorkerMessage,
} from './worker-messages.ts';
import { ANSWERS, ASSIGNMENTS, decodeGatewayMessage, decodeWorkerMessage, REPORTS } from './worker-proto.ts';

const NO_BYTES = Buffer.alloc(0);

/** What a worker may name in one message (I68): it holds no more than it has slots and reports that wait. */
const MOST_HELD = 200_000;
const MOST_SHARDS = 1_024;
const MOST_QUEUES = 1_000;
/** Senders cut at `MAX_BATCH_ITEMS`. */
const MOST_ITEMS = 10_000;

function each<T>(value: unknown, path: string, parse: (item: unknown, path: string) => T, most?: number): T[] {
  return list(value, path, most).map((item) => parse(item, path));
}

function optional<T>(value: unknown, path: string, parse: (fields: Fields, path: string) => T): T | null {
  return value === null || value === undefined ? null : parse(record(value, path), path);
}

export function parseClaim(value: unknown, path: string): Claim {
  const fields = record(value, path);
  return {
    shard: count(fields.shard, 'claim.shard'),
    runId: count(fields.runId, 'claim.runId'),
    task: count(fields.task, 'claim.task'),
    attempt: count(fields.attempt, 'claim.attempt'),
    fence: count(fields.fence, 'claim.fence'),
  };
}

function parseShardEpoch(value: unknown, path: string): ShardEpoch {
  const fields = record(value, path);
  return { shard: count(fields.shard, 'epochs.shard'), epoch: count(fields.epoch, 'epochs.epoch') };
}

function parseHello(fields: Fields): Hello {
  const version = text(fields.version ?? '', 'hello.version', SHORT);
  const queueWeights = each(fields.queueWeights ?? [], 'hello.queueWeights', count, MOST_QUEUES);
  return {
    workerId: filledText(fields.workerId, 'hello.workerId', SHORT),
    name: text(fields.name, 'hello.name', SHORT),
    queues: each(fields.queues, 'hello.queues', (queue, path) => filledText(queue, path, SHORT), MOST_QUEUES),
    slots: count(fields.slots, 'hello.slots'),
    holds: each(fields.holds, 'hello.holds', parseClaim, MOST_HELD),
    holdTokens: each(
      fields.holdTokens,
      'hello.holdTokens',
      (token, path) => bytes(token, path, TOKEN_BYTES),
      MOST_HELD,
    ),
    draining: fields.draining === true,
    ...(queueWeights.length === 0 ? {} : { queueWeights }),
    ...(version === '' ? {} : { version }),
    ...parseOffers(fields),
  };
}

function parseOffers(fields: Fields): Pick<Hello, 'offers' | 'holdBookings'> {
  const said = text(fields.offers ?? '', 'hello.offers', LONG);
  if (said === '') return {};
  const offers = readOffers(said) ?? refuse('hello.offers', 'is not JSON of resources and labels');
  return { offers, holdBookings: each(fields.holdBookings ?? [], 'hello.holdBookings', parseBooking, MOST_HELD) };
}

function parseBooking(value: unknown, path: string): HeldBooking | undefined {
  const said = text(value, path, LONG);
  return said === '' ? undefined : (readBooking(said) ?? refuse(path, 'is not JSON of resources'));
}

function parseHeartbeat(fields: Fields): Heartbeat {
  const clockMs = count(fields.clockMs, 'heartbeat.clockMs');
  return {
    no: count(fields.no, 'heartbeat.no'),
    holds: each(fields.holds, 'heartbeat.holds', parseClaim, MOST_HELD),
    progress: each(fields.progress, 'heartbeat.progress', parseProgress, MOST_HELD),
    ...(clockMs > 0 && { clockMs }),
  };
}

function parseProgress(value: unknown): HeldProgress {
  const fields = record(value, 'heartbeat.progress');
  const fraction = Number(fields.fraction);
  return {
    claim: parseClaim(fields.claim, 'heartbeat.progress.claim'),
    agoMs: count(fields.agoMs, 'heartbeat.progress.agoMs'),
    // It comes in 32 bits: what they can't hold is no more than noise.
    fraction: fraction >= 0 ? Math.min(1, Math.round(fraction * 10_000) / 10_000) : null,
    note: storableText(text(fields.note, 'heartbeat.progress.note', SHORT)),
  };
}

/** What is wrong with a checkpoint is told to whoever asked: see `askFault`. */
function parseAttemptRequest(value: unknown): AttemptRequestMessage {
  const fields = record(value, 'asks');
  return {
    no: count(fields.no, 'asks.no'),
    claim: parseClaim(fields.claim, 'asks.claim'),
    token: bytes(fields.token, 'asks.token', TOKEN_BYTES),
    extendMs: count(fields.extendMs, 'asks.extendMs'),
    checkpoint: text(fields.checkpoint, 'asks.checkpoint', LONG),
    assertOwned: fields.assertOwned === true,
    addedTasks: text(fields.addedTasks, 'asks.addedTasks', LONG),
  };
}

/** Why this can't be asked, or null. User code may have made it: the other asks of its message are not held back by it. */
export function requestFault({ extendMs, checkpoint, assertOwned, addedTasks }: AttemptRequestMessage): string | null {
  const wishes = [extendMs > 0, checkpoint !== '', assertOwned, addedTasks !== ''].filter(Boolean).length;
  if (wishes !== 1) return 'It must ask for one thing.';
  if (addedTasks !== '') {
    const read = readNewTasks(addedTasks);
    return read.ok ? null : read.fault;
  }
  if (checkpoint === '') return null;
  if (checkpoint.length * 3 > MAX_CHECKPOINT_BYTES && Buffer.byteLength(checkpoint) > MAX_CHECKPOINT_BYTES) {
    return `The checkpoint is larger than ${MAX_CHECKPOINT_BYTES} bytes.`;
  }
  return jsonTextFault('checkpoint', checkpoint);
}

function parseAttemptRequestAnswer(value: unknown): AttemptRequestAnswer {
  const fields = record(value, 'askAnswers');
  return {
    no: count(fields.no, 'askAnswers.no'),
    ok: fields.ok === true,
    code: text(fields.code, 'askAnswers.code', SHORT),
    detail: text(fields.detail, 'askAnswers.detail', LONG),
    leftMs: count(fields.leftMs, 'askAnswers.leftMs'),
  };
}

function parseHoldings(fields: Fields): Holdings {
  return {
    epochs: each(fields.epochs, 'holdings.epochs', parseShardEpoch, MOST_SHARDS),
    holds: each(fields.holds, 'holdings.holds', parseClaim, MOST_HELD),
  };
}

function outputFault(output: string): string | null {
  if (output.length * 3 > MAX_REPORTED_BYTES && Buffer.byteLength(output) > MAX_REPORTED_BYTES) {
    return `The output was larger than ${MAX_REPORTED_BYTES} bytes and was not stored.`;
  }
  if (output.startsWith('@')) return null; // Where it is stored; whether that is so, its seal says.
  const fault = jsonTextFault('output', output);
  return fault === null ? null : `${fault} It was not stored.`;
}

function jsonTextFault(what: 'output' | 'checkpoint', text: string): string | null {
  try {
    parseExactJson(text);
    return null;
  } catch (error) {
    return error instanceof InexactJson ? `The ${what} can't be kept: ${error.message}` : `The ${what} is not JSON.`;
  }
}

/** Zero characters are no text to PostgreSQL: one of them in an error would fail the commit of a whole batch. */
function storableText(value: string): string {
  const short = value.length > MAX_ERROR_CHARS ? `${value.slice(0, MAX_ERROR_CHARS)}…` : value;
  return short.includes('\0') ? short.replaceAll('\0', '\u{fffd}') : short;
}

/** One short word: what is no letter, digit or sign becomes `_`, so that it can be matched, shown and counted. */
function storableCode(value: string): string {
  return value.slice(0, MAX_CODE_CHARS).replace(/[^!-~]/g, '_');
}

/** What user code may have put into it is made storable, or charged to its attempt. */
function storableReport(report: Report): Report {
  const { output, error, code } = report;
  const fault = output === '' ? null : outputFault(output);
  if (fault === null && error === '' && code === '') return report;
  return {
    ...report,
    outcome: fault === null ? report.outcome : 'permanent',
    output: fault === null ? output : '',
    error: fault ?? storableText(error),
    code: storableCode(code),
  };
}

const parseReport = (reader: WireReader): Report => storableReport(readReport(reader));

function parseRefusal(value: unknown): Refusal {
  const fields = record(value, 'refusals');
  return {
    claim: parseClaim(fields.claim, 'refusals.claim'),
    token: bytes(fields.token, 'refusals.token', TOKEN_BYTES),
    reason: storableText(text(fields.reason, 'refusals.reason', SHORT)),
  };
}

/**
 * What a worker says, for its gateway, with at most so many items in all its lists. Throws UNKNOWN_FORMAT or BAD_REQUEST.
 * Bytes are counted through before they are decoded, since decoding a list of a million items is what takes long (I68).
 */
export function parseWorkerMessage(input: unknown, mostItems = MOST_HELD): WorkerMessage {
  requireFew(input, mostItems);
  const { fields, list } = readMessage(input, HOT_OF_WORKER, decodeWorkerMessage);
  return {
    hello: optional(fields.hello, 'hello', parseHello),
    heartbeat: optional(fields.heartbeat, 'heartbeat', parseHeartbeat),
    reports: list(REPORTS, 'reports', parseReport, MOST_ITEMS),
    refusals: each(fields.refusals, 'refusals', parseRefusal, MOST_ITEMS),
    holdings: optional(fields.holdings, 'holdings', parseHoldings),
    draining: fields.draining === true,
    requests: each(fields.requests, 'asks', parseAttemptRequest, MOST_ITEMS),
    ping: count(fields.ping, 'ping'),
    leaving: fields.leaving === true,
    ahead: optional(fields.ahead, 'ahead', ({ count: asked }) => ({ count: count(asked, 'ahead.count') })),
  };
}

const HOT_OF_WORKER: ReadonlySet<number> = new Set([REPORTS]);
const HOT_OF_GATEWAY: ReadonlySet<number> = new Set([ASSIGNMENTS, ANSWERS]);

interface ReadParts {
  readonly fields: Fields;
  /** The items of a list that is read by hand. */
  readonly list: <T>(tag: number, path: string, read: (reader: WireReader) => T, most?: number) => T[];
}

/** The format is looked at first, and the long lists last. */
function readMessage(input: unknown, hot: ReadonlySet<number>, decoder: (bytes: Buffer) => unknown): ReadParts {
  const bytes = Buffer.isBuffer(input) ? input : NO_BYTES;
  const { rest, spans } = splitMessage(bytes, hot);
  const fields = record(Buffer.isBuffer(input) ? decode(rest, decoder) : input, 'message');
  requireFormat(fields.format);
  return {
    fields,
    list: (tag, path, read, most = Number.POSITIVE_INFINITY) => readSpans(bytes, { spans, tag, most, path }, read),
  };
}

/** Bytes that are no message are a mistake of the sender, not of ours. */
function decode(bytes: Buffer, decoder: (bytes: Buffer) => unknown): unknown {
  try {
    return decoder(bytes);
  } catch {
    // Why a decoder stumbles helps nobody.
    return refuseBytes();
  }
}

function requireFew(input: unknown, mostItems: number): void {
  if (!Buffer.isBuffer(input)) return;
  const items = countItems(input, mostItems);
  if (items === 'too many') refuse('message', `has more than ${mostItems} items`);
  if (items === 'malformed') refuseBytes();
}

function parseWelcome(fields: Fields): Welcome {
  const heartbeatMs = count(fields.heartbeatMs, 'welcome.heartbeatMs');
  const leaseMs = count(fields.leaseMs, 'welcome.leaseMs');
  // With no heartbeat within the lease every attempt would be lost again and again.
  if (heartbeatMs === 0 || heartbeatMs >= leaseMs) refuse('welcome.heartbeatMs', 'is not within the lease');
  return {
    nodeId: filledText(fields.nodeId, 'welcome.nodeId', SHORT),
    heartbeatMs,
    leaseMs,
    gateways: each(fields.gateways, 'welcome.gateways', (gateway, path) => filledText(gateway, path, SHORT)),
    dataAddress: text(fields.dataAddress, 'welcome.dataAddress', SHORT),
    pingMs: count(fields.pingMs, 'welcome.pingMs'),
    workerId: text(fields.workerId, 'welcome.workerId', SHORT),
    shared: fields.shared === true,
  };
}

function parseKill(value: unknown): Kill {
  const fields = record(value, 'kills');
  const reason = KILL_REASONS.find((known) => known === fields.reason) ?? refuse('kills.reason', 'is not known');
  return { claim: parseClaim(fields.claim, 'kills.claim'), reason, graceMs: count(fields.graceMs, 'kills.graceMs') };
}

/** What a gateway says, for its worker. Throws UNKNOWN_FORMAT or BAD_REQUEST. */
export function parseGatewayMessage(input: unknown): GatewayMessage {
  const { fields, list } = readMessage(input, HOT_OF_GATEWAY, decodeGatewayMessage);
  return {
    welcome: optional(fields.welcome, 'welcome', parseWelcome),
    heartbeatAnswered: count(fields.heartbeatAnswered, 'heartbeatAnswered'),
    assignments: list(ASSIGNMENTS, 'assignments', readAssignment),
    kills: each(fields.kills, 'kills', parseKill),
    answers: list(ANSWERS, 'answers', readAnswer),
    epochs: each(fields.epochs, 'epochs', parseShardEpoch),
    drain: fields.drain === true,
    requestAnswers: each(fields.requestAnswers, 'askAnswers', parseAttemptRequestAnswer),
    pingAnswered: count(fields.pingAnswered, 'pingAnswered'),
    evictMs: count(fields.evictMs ?? 0, 'evictMs'),
  };
}
