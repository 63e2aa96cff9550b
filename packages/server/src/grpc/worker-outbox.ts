/**
 * Messages to one worker. Everything of one turn, or of the time while the worker has not read earlier messages, is sent
 * together and split when it grows large. The queue is bounded by what the worker holds and has reported; a worker that
 * reads nothing at all loses its stream.
 */
import type { Assignment, AttemptRequestAnswer, Kill, ReportAnswer, ShardEpoch, WorkerDoor } from '@signalbox/host';
import { type GatewayMessageParts, MAX_BATCH_BYTES, MAX_BATCH_ITEMS, type Welcome } from '@signalbox/protocol/grpc';
import { answerToWire, assignmentToWire, bytesOf, killToWire } from './claims.ts';

/** `slow`: it does not read. `unproven`: it named claims that it was not assigned. */
export type EndReason = 'closed' | 'slow' | 'unproven';

export interface Line {
  write(parts: GatewayMessageParts, written: () => void): void;
  end(reason: EndReason): void;
}

const WRITES_IN_FLIGHT = 4;
const MOST_WAITING = 200_000;

export class WorkerOutbox implements WorkerDoor {
  readonly #line: Line;
  #welcome: Welcome | null;
  #assignments: Assignment[] = [];
  #kills: Kill[] = [];
  #answers: ReportAnswer[] = [];
  #requestAnswers: AttemptRequestAnswer[] = [];
  #epochs = new Map<number, number>();
  #heartbeat = 0;
  #ping = 0;
  #drain = false;
  #evictMs = 0;
  #isScheduled = false;
  #inFlight = 0;
  #isClosed = false;

  constructor(line: Line, welcome: Welcome) {
    this.#line = line;
    this.#welcome = welcome;
    this.#schedule();
  }

  assign(assignments: readonly Assignment[]): void {
    for (const assignment of assignments) this.#assignments.push(assignment);
    this.#schedule();
  }

  kill(kills: readonly Kill[]): void {
    for (const kill of kills) this.#kills.push(kill);
    this.#schedule();
  }

  /** The welcome once more: something of it has changed. */
  welcomeAgain(welcome: Welcome): void {
    this.#welcome = welcome;
    this.#schedule();
  }

  pingAnswered(no: number): void {
    this.#ping = no;
    this.#schedule();
  }

  answer(answers: readonly ReportAnswer[]): void {
    for (const answer of answers) this.#answers.push(answer);
    this.#schedule();
  }

  requestAnswers(answers: readonly AttemptRequestAnswer[]): void {
    for (const answer of answers) this.#requestAnswers.push(answer);
    this.#schedule();
  }

  epochs(epochs: readonly ShardEpoch[]): void {
    // Of two owners of one shard the newer one counts.
    for (const { shard, epoch } of epochs) this.#epochs.set(shard, Math.max(epoch, this.#epochs.get(shard) ?? 0));
    this.#schedule();
  }

  heartbeatAnswered(no: number): void {
    this.#heartbeat = Math.max(this.#heartbeat, no);
    this.#schedule();
  }

  drain(evictMs = 0): void {
    this.#drain = true;
    this.#evictMs = evictMs;
    this.#schedule();
  }

  close(reason: 'closed' | 'unproven' = 'closed'): void {
    this.#end(reason);
  }

  /** The stream is gone: nothing more is written. */
  discard(): void {
    this.#isClosed = true;
    this.#assignments = [];
    this.#kills = [];
    this.#answers = [];
    this.#requestAnswers = [];
  }

  #schedule(): void {
    if (this.#isScheduled || this.#isClosed) return;
    this.#isScheduled = true;
    queueMicrotask(() => {
      this.#isScheduled = false;
      this.#flush();
    });
  }

  #flush(): void {
    while (!this.#isClosed && this.#inFlight < WRITES_IN_FLIGHT && this.#hasSomething()) {
      this.#inFlight += 1;
      this.#line.write(this.#take(), () => {
        this.#inFlight -= 1;
        this.#schedule();
      });
    }
    const waiting = this.#assignments.length + this.#kills.length + this.#answers.length + this.#requestAnswers.length;
    if (!this.#isClosed && waiting > MOST_WAITING) this.#end('slow');
  }

  #hasSomething(): boolean {
    if (this.#assignments.length > 0 || this.#answers.length > 0 || this.#kills.length > 0) return true;
    if (this.#requestAnswers.length > 0) return true;
    return this.#welcome !== null || this.#heartbeat > 0 || this.#ping > 0 || this.#epochs.size > 0 || this.#drain;
  }

  #take(): GatewayMessageParts {
    const parts: { -readonly [K in keyof GatewayMessageParts]: GatewayMessageParts[K] } = {};
    if (this.#welcome !== null) parts.welcome = this.#welcome;
    if (this.#epochs.size > 0) parts.epochs = Array.from(this.#epochs, ([shard, epoch]) => ({ shard, epoch }));
    if (this.#heartbeat > 0) parts.heartbeatAnswered = this.#heartbeat;
    if (this.#ping > 0) parts.pingAnswered = this.#ping;
    if (this.#drain) parts.drain = true;
    if (this.#evictMs > 0) parts.evictMs = this.#evictMs;
    if (this.#answers.length > 0) parts.answers = this.#answers.splice(0, MAX_BATCH_ITEMS).map(answerToWire);
    if (this.#requestAnswers.length > 0) parts.requestAnswers = this.#requestAnswers.splice(0, MAX_BATCH_ITEMS);
    if (this.#kills.length > 0) parts.kills = this.#kills.splice(0, MAX_BATCH_ITEMS).map(killToWire);
    if (this.#assignments.length > 0) parts.assignments = this.#takeAssignments().map(assignmentToWire);
    this.#welcome = null;
    this.#heartbeat = 0;
    this.#ping = 0;
    this.#epochs = new Map();
    this.#drain = false;
    this.#evictMs = 0;
    return parts;
  }

  /** At least one, however large. */
  #takeAssignments(): Assignment[] {
    const all = this.#assignments;
    let bytes = 0;
    let count = 0;
    while (count < all.length && count < MAX_BATCH_ITEMS && (count === 0 || bytes < MAX_BATCH_BYTES)) {
      bytes += bytesOf(all[count]!);
      count += 1;
    }
    if (count === all.length) {
      this.#assignments = [];
      return all;
    }
    return all.splice(0, count);
  }

  #end(reason: EndReason): void {
    if (this.#isClosed) return;
    if (reason === 'closed') this.#flush();
    this.discard();
    this.#line.end(reason);
  }
}
