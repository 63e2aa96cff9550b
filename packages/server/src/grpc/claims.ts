/** Translates between the messages of the host and those of the wire, for gateway and worker. */
import {
  type AttemptNo,
  type ClaimRef,
  type Epoch,
  type Fence,
  type Instant,
  type QueueName,
  type RunId,
  SHARD_COUNT,
  type ShardNo,
  shardOfRun,
  type TaskNo,
  type Usage,
} from '@signalbox/engine';
import type {
  Assignment,
  AttemptRequest,
  ClaimProgress,
  Kill,
  ReportAnswer,
  ShardEpoch,
  WorkerHello,
  WorkerReport,
  WorkerRequest,
} from '@signalbox/host';
import {
  bookingText,
  MAX_QUEUE_WEIGHT,
  MAX_SLOTS,
  MAX_UNANSWERED_REPORTS,
  readNewTasks,
  SignalboxError,
} from '@signalbox/protocol';
import {
  type AttemptRequestMessage,
  type Claim,
  type HeldProgress,
  type Hello,
  type Report,
  requestFault,
  type Assignment as WireAssignment,
  type Kill as WireKill,
  type ReportAnswer as WireReportAnswer,
  type ShardEpoch as WireShardEpoch,
} from '@signalbox/protocol/grpc';
import type { Caller } from '../auth/bearer.ts';
import { isWorkerOwnId, workerIdOf } from '../auth/worker-identity.ts';

const MAX_QUEUES = 100;
const MAX_QUEUE_CHARS = 200;

function claimToWire({ runId, taskNo, attemptNo, fence }: ClaimRef): Claim {
  return { shard: shardOfRun(runId), runId, task: taskNo, attempt: attemptNo, fence };
}

export function claimFromWire({ runId, task, attempt, fence }: Claim): ClaimRef {
  return {
    runId: runId as RunId,
    taskNo: task as TaskNo,
    attemptNo: attempt as AttemptNo,
    fence: fence as Fence,
  };
}

export function answerToWire({ claim, verdict }: ReportAnswer): WireReportAnswer {
  return { claim: claimToWire(claim), verdict };
}

export function killToWire({ claim, reason, graceMs }: Kill): WireKill {
  return { claim: claimToWire(claim), reason, graceMs };
}

export function assignmentToWire(assignment: Assignment): WireAssignment {
  return {
    claim: claimToWire(assignment.claim),
    token: Buffer.from(assignment.token, 'base64'),
    epoch: assignment.epoch,
    tenant: assignment.tenant,
    dag: assignment.dag,
    version: assignment.version,
    run: assignment.run,
    taskName: assignment.taskName,
    handler: assignment.handler,
    work: assignment.work,
    bundle: assignment.bundle,
    files: assignment.files ?? '',
    queue: assignment.queue,
    timeoutMs: assignment.timeoutMs,
    effectKey: assignment.effectKey,
    params: assignment.params ?? '',
    upstream: assignment.upstream,
    failedUpstream: assignment.failedUpstream,
    missingUpstream: assignment.missingUpstream,
    runInfo: assignment.runInfo,
    map: assignment.map,
    checkpoint: assignment.checkpoint,
    memoryBytes: assignment.memoryBytes,
    softTimeoutMs: assignment.softTimeoutMs,
    stuckMs: assignment.stuckMs,
    booking: bookingText(assignment.booking),
    references: assignment.references,
  };
}

/** About: for cutting messages. */
export function bytesOf({ params, upstream, map, references, checkpoint }: Assignment): number {
  let bytes = 300 + (params?.length ?? 0) + checkpoint.length;
  for (const { output } of upstream) bytes += 100 + output.length;
  for (const { item } of map) bytes += 100 + item.length;
  for (const { id } of references) bytes += 100 + id.length;
  return bytes;
}

/** A token of the fleet serves those that it lists, or all; any other its own tenant (I65). */
function tenantsOf({ tenantId, work }: Caller): WorkerHello['tenants'] {
  if (work.serves === null) return [tenantId];
  return work.serves.length === 0 ? null : work.serves;
}

export function helloFromWire(hello: Hello, caller: Caller): WorkerHello {
  const refuse = (path: string, message: string): never => {
    throw new SignalboxError('BAD_REQUEST', { problems: [{ path: `hello.${path}`, message }] });
  };
  if (!isWorkerOwnId(hello.workerId)) refuse('workerId', 'is no UUID');
  if (hello.slots < 1 || hello.slots > MAX_SLOTS) refuse('slots', `must be from 1 to ${MAX_SLOTS}`);
  if (hello.queues.length < 1 || hello.queues.length > MAX_QUEUES) refuse('queues', `must be from 1 to ${MAX_QUEUES}`);
  for (const queue of hello.queues) if (queue.length > MAX_QUEUE_CHARS) refuse('queues', 'has too long a name');
  if (hello.holds.length > hello.slots + MAX_UNANSWERED_REPORTS) {
    refuse('holds', `has more items than its slots and ${MAX_UNANSWERED_REPORTS} reports that wait`);
  }
  const { queueWeights = [] } = hello;
  if (queueWeights.length > 0 && queueWeights.length !== hello.queues.length)
    refuse('queueWeights', 'must be none, or as many as hello.queues');
  if (queueWeights.some((weight) => weight < 1 || weight > MAX_QUEUE_WEIGHT))
    refuse('queueWeights', `must be from 1 to ${MAX_QUEUE_WEIGHT}`);
  if (hello.holdTokens.length !== hello.holds.length) refuse('holdTokens', 'must be as many as hello.holds');
  const bookings = hello.holdBookings?.length ?? 0;
  if (bookings > 0 && bookings !== hello.holds.length)
    refuse('holdBookings', 'must be none, or as many as hello.holds');
  return {
    workerId: workerIdOf(caller, hello.workerId),
    tenantId: caller.tenantId,
    tenants: tenantsOf(caller),
    name: hello.name,
    queues: [...new Set(hello.queues)] as QueueName[],
    ...(queueWeights.length === 0 ? {} : { weights: weightsOf(hello.queues, queueWeights) }),
    slots: hello.slots,
    ...(hello.offers === undefined ? {} : { traits: { slots: hello.slots, ...hello.offers, host: hostOf(hello) } }),
    holds: hello.holds.map((claim, i) => {
      const booking = hello.holdBookings?.[i];
      const held = { claim: claimFromWire(claim), token: hello.holdTokens[i]! };
      return booking === undefined ? held : { ...held, booking: { ...booking, slots: 1 } };
    }),
    draining: hello.draining,
    ...(hello.version === undefined ? {} : { version: hello.version }),
  };
}

/** Where other workers reach it: what its label `host` says, or the machine in its name, which is `machine:process` unless told. */
function hostOf({ name, offers }: Hello): string {
  return offers?.labels.host ?? name.replace(/:\d+$/, '');
}

/** Of a queue that is named twice the first weight counts. */
function weightsOf(queues: readonly string[], weights: readonly number[]): Record<string, number> {
  return Object.fromEntries(queues.map((queue, at) => [queue, weights[at]!] as const).reverse());
}

export function reportFromWire(report: Report): WorkerReport {
  const { claim, token, outcome, output, error, startedAt, code, retryAfterMs, memoryBytes } = report;
  return {
    claim: claimFromWire(claim),
    token,
    outcome,
    output: output === '' ? null : output,
    error: error === '' ? null : error,
    startedAt: startedAt === 0 ? null : (startedAt as Instant),
    code: code === '' ? null : code,
    retryAfterMs: retryAfterMs === 0 ? null : retryAfterMs,
    memoryBytes: memoryBytes === 0 ? null : memoryBytes,
    used: usedFromWire(report),
  };
}

function usedFromWire({ cpuMicros, peakBytes }: Pick<Report, 'cpuMicros' | 'peakBytes'>): Usage | null {
  if (cpuMicros === 0 && peakBytes === 0) return null;
  return {
    cpuMs: cpuMicros === 0 ? null : Math.round(cpuMicros / 1_000),
    peakBytes: peakBytes === 0 ? null : peakBytes,
  };
}

export function progressFromWire({ claim, ...told }: HeldProgress): ClaimProgress {
  return { claim: claimFromWire(claim), ...told };
}

export function requestFromWire(ask: AttemptRequestMessage): WorkerRequest {
  const { no, claim, token } = ask;
  return { no, claim: claimFromWire(claim), token, request: requestOf(ask) };
}

function requestOf(ask: AttemptRequestMessage): AttemptRequest {
  const fault = requestFault(ask);
  if (fault !== null) return { kind: 'faulty', reason: fault };
  if (ask.checkpoint !== '') return { kind: 'checkpoint', value: ask.checkpoint };
  if (ask.assertOwned) return { kind: 'assert' };
  if (ask.extendMs > 0) return { kind: 'extend', byMs: ask.extendMs };
  const added = readNewTasks(ask.addedTasks);
  return added.ok ? { kind: 'add', tasks: added.tasks } : { kind: 'faulty', reason: added.fault };
}

/** What is said of shards is kept for each of them: there are no others. */
export function epochFromWire({ shard, epoch }: WireShardEpoch): ShardEpoch {
  if (shard >= SHARD_COUNT) {
    throw new SignalboxError('BAD_REQUEST', { problems: [{ path: 'holdings.epochs.shard', message: 'is not known' }] });
  }
  return { shard: shard as ShardNo, epoch: epoch as Epoch };
}
