/**
 * Messages to the gateway. Everything of one turn of the event loop, or of the time until the last message is written, is
 * sent in one message, so the flow control of the stream forms the batches.
 *
 * Nothing here is the only copy of anything important: when the stream is lost, the outbox is emptied and filled again from
 * what the worker holds.
 */
import {
  type AttemptRequestMessage,
  type Claim,
  type HeldProgress,
  MAX_BATCH_BYTES,
  MAX_BATCH_ITEMS,
  type Refusal,
  type Report,
  type ShardEpoch,
  type WorkerMessageParts,
} from '@signalbox/protocol/grpc';
import type { Attempt } from './attempt.ts';
import type { PendingRequest } from './attempt-requests.ts';
import { OutboxPace } from './outbox-pace.ts';

export interface Line {
  /** False while there is no stream that has been welcomed. */
  readonly isUp: boolean;
  write(parts: WorkerMessageParts, written: () => void): void;
}

interface OutboxSources {
  readonly line: Line;
  readonly now: () => number;
  /** The claims that are held, of some shards or of all: the message that this is called for names them to the server. */
  name(shards?: ReadonlyMap<number, number>): Claim[];
  /** The number of a heartbeat that is being written now. */
  beat(): number;
  /** What attempts have told of their progress. */
  progress(): HeldProgress[];
  wallNow(): number;
  /** The number of a ping that is being written now. */
  ping(): number;
  /** The worker has attempts to run while reports wait for others. */
  isBusy(): boolean;
  /** Everything has been written. */
  onIdle(): void;
}

/** A refusal has no answer. So it is said again on a new stream, if the old one may have lost it: it is harmless twice. */
const REFUSAL_KEPT_MS = 10_000;
const MOST_REFUSALS_KEPT = 1_000;

export class Outbox {
  readonly #from: OutboxSources;
  #reports: Attempt[] = [];
  #refusals: Refusal[] = [];
  #refusedLately: { readonly refusal: Refusal; readonly at: number }[] = [];
  #ahead: number | null = null;
  #requests: PendingRequest[] = [];
  #epochs = new Map<number, number>();
  #heartbeatDue = false;
  #pingDue = false;
  #drainingDue = false;
  #leavingDue = false;
  readonly #pace = new OutboxPace();
  #scheduled = false;
  #writing = false;
  /** A stream that was lost may still call back: only the newest one's word counts. */
  #generation = 0;

  constructor(from: OutboxSources) {
    this.#from = from;
  }

  report(attempt: Attempt): void {
    if (attempt.queued) return;
    attempt.queued = true;
    this.#reports.push(attempt);
    this.#pace.reported(this.#from.now());
    this.#schedule();
  }

  ask(asked: PendingRequest): void {
    if (asked.queued) return;
    asked.queued = true;
    this.#requests.push(asked);
    this.#schedule();
  }

  refuse(refusal: Refusal): void {
    this.#refusals.push(refusal);
    const now = this.#from.now();
    this.#refusedLately.push({ refusal, at: now });
    if (this.#refusedLately.length > MOST_REFUSALS_KEPT)
      this.#refusedLately = this.#lately(now).slice(-MOST_REFUSALS_KEPT / 2);
    this.#schedule();
  }

  #lately(now: number): { readonly refusal: Refusal; readonly at: number }[] {
    return this.#refusedLately.filter(({ at }) => now - at < REFUSAL_KEPT_MS);
  }

  /** How many more claims than it has slots the worker takes, from now on. */
  ahead(count: number): void {
    this.#ahead = count;
    this.#schedule();
  }

  answerEpochs(epochs: readonly ShardEpoch[]): void {
    // Of two owners that ask at once the newer one gets the answer.
    for (const { shard, epoch } of epochs) this.#epochs.set(shard, Math.max(epoch, this.#epochs.get(shard) ?? 0));
    this.#schedule();
  }

  heartbeat(): void {
    this.#heartbeatDue = true;
    this.#schedule();
  }

  ping(): void {
    this.#pingDue = true;
    this.#schedule();
  }

  draining(): void {
    this.#drainingDue = true;
    this.heartbeat();
  }

  /** The last word. */
  leaving(): void {
    this.#leavingDue = true;
    this.#schedule();
  }

  /** The stream is gone, and with it whatever was on its way. */
  reset(): void {
    for (const attempt of this.#reports) attempt.queued = false;
    for (const asked of this.#requests) asked.queued = false;
    this.#reports = [];
    this.#refusedLately = this.#lately(this.#from.now());
    this.#refusals = this.#refusedLately.map(({ refusal }) => refusal);
    this.#ahead = null;
    this.#requests = [];
    this.#epochs.clear();
    this.#heartbeatDue = false;
    this.#pingDue = false;
    this.#drainingDue = false;
    this.#leavingDue = false;
    this.#writing = false;
    this.#generation++;
  }

  #schedule(): void {
    if (this.#scheduled || this.#writing || !this.#from.line.isUp) return;
    this.#scheduled = true;
    setImmediate(() => this.#flushOrWait());
  }

  /** Whatever is no report goes at once, and takes the reports along. */
  #flushOrWait(): void {
    const waitMs = this.#hasOnlyReports && this.#from.isBusy() ? this.#pace.waitMs(this.#from.now()) : 0;
    if (waitMs === 0) this.#flush();
    else setTimeout(() => this.#flush(), waitMs);
  }

  get isIdle(): boolean {
    return this.#isEmpty && !this.#writing;
  }

  get #isEmpty(): boolean {
    return this.#reports.length === 0 && this.#hasOnlyReports;
  }

  get #hasOnlyReports(): boolean {
    return (
      this.#ahead === null &&
      !(this.#heartbeatDue || this.#drainingDue || this.#pingDue || this.#leavingDue) &&
      this.#refusals.length + this.#requests.length + this.#epochs.size === 0
    );
  }

  #flush(): void {
    this.#scheduled = false;
    if (this.#writing || this.#isEmpty || !this.#from.line.isUp) return;
    this.#writing = true;
    this.#pace.sent(this.#from.now());
    const generation = this.#generation;
    this.#from.line.write(this.#take(), () => {
      if (generation !== this.#generation) return;
      this.#writing = false;
      if (this.#isEmpty) this.#from.onIdle();
      else this.#schedule();
    });
  }

  #take(): WorkerMessageParts {
    const parts: { -readonly [Part in keyof WorkerMessageParts]: WorkerMessageParts[Part] } = {};
    if (this.#reports.length > 0) parts.reports = this.#takeReports();
    if (this.#refusals.length > 0) parts.refusals = this.#refusals.splice(0, MAX_BATCH_ITEMS);
    if (this.#epochs.size > 0) {
      const epochs = [...this.#epochs].map(([shard, epoch]) => ({ shard, epoch }));
      parts.holdings = { epochs, holds: this.#from.name(this.#epochs) };
      this.#epochs.clear();
    }
    if (this.#requests.length > 0) parts.requests = this.#takeRequests();
    if (this.#heartbeatDue) {
      const clockMs = this.#from.wallNow();
      parts.heartbeat = { no: this.#from.beat(), holds: this.#from.name(), progress: this.#from.progress(), clockMs };
    }
    if (this.#ahead !== null) parts.ahead = { count: this.#ahead };
    this.#ahead = null;
    if (this.#drainingDue) parts.draining = true;
    if (this.#pingDue) parts.ping = this.#from.ping();
    if (this.#leavingDue) parts.leaving = true;
    this.#leavingDue = false;
    this.#pingDue = false;
    this.#heartbeatDue = false;
    this.#drainingDue = false;
    return parts;
  }

  #takeReports(): Report[] {
    const now = this.#from.now();
    const reports: Report[] = [];
    let bytes = 0;
    let taken = 0;
    for (const attempt of this.#reports) {
      if (taken === MAX_BATCH_ITEMS || bytes > MAX_BATCH_BYTES) break;
      taken++;
      attempt.queued = false;
      // It may have been answered, or found stale, since it was put here.
      if (attempt.report === null || attempt.state !== 'reported') continue;
      bytes += attempt.report.output.length + attempt.report.error.length;
      attempt.sentAt = now;
      attempt.named = true;
      reports.push(attempt.report);
    }
    this.#reports = taken === this.#reports.length ? [] : this.#reports.slice(taken);
    return reports;
  }

  #takeRequests(): AttemptRequestMessage[] {
    const now = this.#from.now();
    const requests: AttemptRequestMessage[] = [];
    let bytes = 0;
    let taken = 0;
    for (const asked of this.#requests) {
      if (taken === MAX_BATCH_ITEMS || bytes > MAX_BATCH_BYTES) break;
      taken++;
      asked.queued = false;
      if (asked.isOver) continue;
      bytes += asked.ask.checkpoint.length;
      asked.sentAt = now;
      requests.push(asked.ask);
    }
    this.#requests = taken === this.#requests.length ? [] : this.#requests.slice(taken);
    return requests;
  }
}
