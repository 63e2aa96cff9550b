/**
 * From the wire to the domain. Structural faults refuse the whole message, since its sender is broken. A fault that
 * user code can cause, an output that is no JSON or is too large, is charged to that one attempt: it ends as failed for
 * good, and the other reports of its message are not held back by it (I56, I57).
 */
import { InexactJson, parseExactJson } from '../exact-json.ts';
import { MAX_CHECKPOINT_BYTES, MAX_CODE_CHARS, MAX_ERROR_CHARS, MAX_REPORTED_BYTES } from '../limits.ts';
import { readNewTasks } from '../rest/new-tasks.ts';
import { bytes, count, type Fields, filledText, list, record, refuse, requireFormat, text } from './check.ts';
import { countItems } from './count-items.ts';
import { OUTCOMES, VERDICTS } from './wire-enums.ts';
import {
  type Assignment,
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
  type MapPlace,
  type OutputRef,
  type Refusal,
  type Report,
  type ReportAnswer,
  type ShardEpoch,
  type UpstreamOutput,
  type Welcome,
  type WorkerMessage,
} from './worker-messages.ts';
import { decodeWorkerMessage } from './worker-proto.ts';

const SHORT = 1_000;
const TOKEN_BYTES = 256;
/** JSON texts are bounded by the message itself; assignments carry what the server has accepted already. */
const LONG = 16 * 1024 * 1024;

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
  };
}

function parseHeartbeat(fields: Fields): Heartbeat {
  return {
    no: count(fields.no, 'heartbeat.no'),
    holds: each(fields.holds, 'heartbeat.holds', parseClaim, MOST_HELD),
    progress: each(fields.progress, 'heartbeat.progress', parseProgress, MOST_HELD),
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

function parseReport(value: unknown): Report {
  const fields = record(value, 'reports');
  const output = text(fields.output, 'reports.output', LONG);
  const fault = output === '' ? null : outputFault(output);
  const error = text(fields.error, 'reports.error', LONG);
  return {
    claim: parseClaim(fields.claim, 'reports.claim'),
    token: bytes(fields.token, 'reports.token', TOKEN_BYTES),
    outcome: fault === null ? (OUTCOMES.get(fields.outcome) ?? refuse('reports.outcome', 'is not known')) : 'permanent',
    output: fault === null ? output : '',
    error: fault ?? (error === '' ? error : storableText(error)),
    startedAt: count(fields.startedAt, 'reports.startedAt'),
    endedAt: count(fields.endedAt, 'reports.endedAt'),
    code: storableCode(text(fields.code, 'reports.code', SHORT)),
    retryAfterMs: count(fields.retryAfterMs, 'reports.retryAfterMs'),
    memoryBytes: count(fields.memoryBytes, 'reports.memoryBytes'),
  };
}

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
  const fields = record(Buffer.isBuffer(input) ? decode(input, mostItems) : input, 'message');
  requireFormat(fields.format);
  return {
    hello: optional(fields.hello, 'hello', parseHello),
    heartbeat: optional(fields.heartbeat, 'heartbeat', parseHeartbeat),
    reports: each(fields.reports, 'reports', parseReport, MOST_ITEMS),
    refusals: each(fields.refusals, 'refusals', parseRefusal, MOST_ITEMS),
    holdings: optional(fields.holdings, 'holdings', parseHoldings),
    draining: fields.draining === true,
    requests: each(fields.requests, 'asks', parseAttemptRequest, MOST_ITEMS),
    ping: count(fields.ping, 'ping'),
    leaving: fields.leaving === true,
    ahead: optional(fields.ahead, 'ahead', ({ count: asked }) => ({ count: count(asked, 'ahead.count') })),
  };
}

/** Bytes that are no message are a mistake of the sender, not of ours. */
function decode(bytes: Buffer, mostItems: number): unknown {
  const items = countItems(bytes, mostItems);
  if (items === 'too many') refuse('message', `has more than ${mostItems} items`);
  try {
    if (items === 'fits') return decodeWorkerMessage(bytes);
  } catch {
    // Refused below: why a decoder stumbles helps nobody.
  }
  return refuse('message', 'is not a message of signalbox.worker.v1');
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

function parseUpstream(value: unknown): UpstreamOutput {
  const fields = record(value, 'assignments.upstream');
  return {
    taskName: filledText(fields.taskName, 'assignments.upstream.taskName', SHORT),
    output: text(fields.output, 'assignments.upstream.output', LONG),
  };
}

function parseMapPlace(value: unknown): MapPlace {
  const fields = record(value, 'assignments.map');
  return {
    group: filledText(fields.group, 'assignments.map.group', SHORT),
    index: count(fields.index, 'assignments.map.index'),
    item: filledText(fields.item, 'assignments.map.item', LONG),
  };
}

function parseOutputRef(value: unknown): OutputRef {
  const fields = record(value, 'assignments.references');
  return {
    taskName: filledText(fields.taskName, 'assignments.references.taskName', SHORT),
    id: filledText(fields.id, 'assignments.references.id', LONG),
    bytes: count(fields.bytes, 'assignments.references.bytes'),
  };
}

const parseName = (name: unknown, path: string): string => filledText(name, path, SHORT);

function parseAssignment(value: unknown): Assignment {
  const fields = record(value, 'assignments');
  return {
    claim: parseClaim(fields.claim, 'assignments.claim'),
    token: bytes(fields.token, 'assignments.token', TOKEN_BYTES),
    epoch: count(fields.epoch, 'assignments.epoch'),
    tenant: text(fields.tenant, 'assignments.tenant', SHORT),
    dag: text(fields.dag, 'assignments.dag', SHORT),
    version: count(fields.version, 'assignments.version'),
    run: text(fields.run, 'assignments.run', SHORT),
    taskName: text(fields.taskName, 'assignments.taskName', SHORT),
    handler: text(fields.handler, 'assignments.handler', SHORT),
    work: text(fields.work, 'assignments.work', LONG),
    bundle: text(fields.bundle, 'assignments.bundle', SHORT),
    files: text(fields.files, 'assignments.files', SHORT),
    queue: text(fields.queue, 'assignments.queue', SHORT),
    timeoutMs: count(fields.timeoutMs, 'assignments.timeoutMs'),
    effectKey: text(fields.effectKey, 'assignments.effectKey', SHORT),
    params: text(fields.params, 'assignments.params', LONG),
    upstream: each(fields.upstream, 'assignments.upstream', parseUpstream),
    failedUpstream: each(fields.failedUpstream, 'assignments.failedUpstream', parseName),
    missingUpstream: each(fields.missingUpstream, 'assignments.missingUpstream', parseName),
    map: each(fields.map, 'assignments.map', parseMapPlace),
    checkpoint: text(fields.checkpoint, 'assignments.checkpoint', LONG),
    memoryBytes: count(fields.memoryBytes, 'assignments.memoryBytes'),
    softTimeoutMs: count(fields.softTimeoutMs, 'assignments.softTimeoutMs'),
    stuckMs: count(fields.stuckMs, 'assignments.stuckMs'),
    references: each(fields.references, 'assignments.references', parseOutputRef),
    runInfo: text(fields.runInfo, 'assignments.runInfo', LONG),
  };
}

function parseKill(value: unknown): Kill {
  const fields = record(value, 'kills');
  const reason = KILL_REASONS.find((known) => known === fields.reason) ?? refuse('kills.reason', 'is not known');
  return { claim: parseClaim(fields.claim, 'kills.claim'), reason, graceMs: count(fields.graceMs, 'kills.graceMs') };
}

function parseAnswer(value: unknown): ReportAnswer {
  const fields = record(value, 'answers');
  const verdict = VERDICTS.get(fields.verdict) ?? refuse('answers.verdict', 'is not known');
  return { claim: parseClaim(fields.claim, 'answers.claim'), verdict };
}

/** What a gateway says, for its worker. Throws UNKNOWN_FORMAT or BAD_REQUEST. */
export function parseGatewayMessage(input: unknown): GatewayMessage {
  const fields = record(input, 'message');
  requireFormat(fields.format);
  return {
    welcome: optional(fields.welcome, 'welcome', parseWelcome),
    heartbeatAnswered: count(fields.heartbeatAnswered, 'heartbeatAnswered'),
    assignments: each(fields.assignments, 'assignments', parseAssignment),
    kills: each(fields.kills, 'kills', parseKill),
    answers: each(fields.answers, 'answers', parseAnswer),
    epochs: each(fields.epochs, 'epochs', parseShardEpoch),
    drain: fields.drain === true,
    requestAnswers: each(fields.requestAnswers, 'askAnswers', parseAttemptRequestAnswer),
    pingAnswered: count(fields.pingAnswered, 'pingAnswered'),
  };
}
