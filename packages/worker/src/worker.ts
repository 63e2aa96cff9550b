/**
 * The worker: takes assignments, runs them, and reports what happened.
 *
 * A message from the gateway is handled part by part: first what stops attempts, then what starts them. Everything that
 * depends on time is handled in one place, `tick`. The server decides: a report that it calls stale is dropped.
 */
import {
  type Assignment,
  type GatewayMessage,
  type Hello,
  type Kill,
  type ReportAnswer,
  type ShardEpoch,
  type Welcome,
} from '@signalbox/protocol/grpc';
import { Ahead } from './ahead.ts';
import { Attempt, keyOf } from './attempt.ts';
import { PendingRequests } from './attempt-requests.ts';
import { Bundles } from './bundles/bundles.ts';
import { dataPlaceOf } from './data-address.ts';
import { Executors } from './executors/executors.ts';
import { clearTextBeyondLoopback } from './gateways.ts';
import { Holds } from './holds.ts';
import { Link } from './link.ts';
import { LogBook } from './logs/log-book.ts';
import { LogShipper } from './logs/log-shipper.ts';
import { parseOptions, type WorkerConfig, type WorkerOptions } from './options.ts';
import { Outbox } from './outbox.ts';
import { Outputs } from './outputs/outputs.ts';
import { Pulse } from './pulse.ts';
import { bookingIn, Room } from './room.ts';
import { Runner } from './runner.ts';
import { Silence } from './silence.ts';
import { Slots } from './slots.ts';
import { VERSION } from './version.ts';

/** For lines that are not stored yet when the worker leaves. */
const LAST_LOGS_MS = 1_000;
/** What clouds give at least between the notice and the end is 30 s. */
const EVICT_GRACE_MS = 20_000;

export interface Worker {
  /** UUID, new for each start. Once connected: the one by which servers know it (`signalbox workers`). */
  readonly id: string;
  /** Resolves when a gateway has first said welcome. */
  readonly connected: Promise<void>;
  /** Resolves when the worker has left, after `stop`, `kill`, or a drain request of the server. */
  readonly stopped: Promise<void>;
  /** Takes nothing new, finishes what it has, waits until its reports are answered, leaves (I27). */
  stop(): Promise<void>;
  /** It is about to be taken away: what it runs is told to stop, may save a checkpoint, and runs again elsewhere at no cost to retries. */
  evict(graceMs?: number): Promise<void>;
  /** Leaves at once, as if the process had died. Signals fire; nothing is reported. */
  kill(): void;
}

/** @example startWorker({ gateways: ['127.0.0.1:7412'], token, slots: 10, handlers: { greet: () => 'hello' } }) */
export function startWorker(options: WorkerOptions): Worker {
  const worker = new RunningWorker(parseOptions(options));
  worker.start();
  return worker;
}

class RunningWorker implements Worker {
  readonly #config: WorkerConfig;
  readonly #room: Room;
  readonly #holds: Holds;
  readonly #pulse = new Pulse();
  readonly #silence = new Silence();
  readonly #link: Link;
  readonly #outbox: Outbox;
  readonly #runner: Runner;
  readonly #requests: PendingRequests;
  readonly #shipper: LogShipper;
  readonly #bundles: Bundles;
  readonly #executors: Executors;
  readonly #outputs: Outputs;
  readonly #ahead: Ahead;
  /** The highest epoch heard of each shard (D5). */
  readonly #epochs = new Map<number, number>();
  #ticker: NodeJS.Timeout | null = null;
  /** What servers call it; empty until the first welcome. */
  #knownId = '';
  #phase: 'working' | 'draining' | 'left' = 'working';
  /** The heartbeat that told the gateway of the draining: once it is answered no assignment is on its way any more. */
  #drainHeardNo = 0;
  /** The last word is on its way over the stream that there is. */
  #saidLeaving = false;
  #hasConnected = false;
  /** Set while there is no gateway to say the last word to. */
  #lastWords: NodeJS.Timeout | null = null;
  #isTimeUp = false;
  readonly connected: Promise<void>;
  readonly stopped: Promise<void>;
  #resolveConnected: () => void = () => {};
  #resolveStopped: () => void = () => {};

  constructor(config: WorkerConfig) {
    this.#config = config;
    this.#room = new Room(config.offers);
    this.#holds = new Holds(this.#room);
    this.#ahead = new Ahead(config.timing.leastAhead);
    const { now } = config.timing;
    this.connected = new Promise((resolve) => {
      this.#resolveConnected = resolve;
    });
    this.stopped = new Promise((resolve) => {
      this.#resolveStopped = resolve;
    });
    this.#link = new Link(config, {
      hello: () => this.#hello(),
      onUp: (welcome, helloSentAt) => this.#onUp(welcome, helloSentAt),
      onMessage: (message) => this.#onMessage(message),
      onDown: () => this.#onDown(),
    });
    this.#outbox = new Outbox({
      line: this.#link,
      now,
      name: (shards) => this.#holds.name(shards),
      beat: () => this.#pulse.beat(now()),
      ping: () => this.#silence.nextNo(),
      progress: () => this.#holds.progress(now()),
      wallNow: config.timing.wallNow,
      isBusy: () => this.#holds.activeCount > this.#config.slots,
      onIdle: () => this.#leaveIfDone(),
    });
    this.#requests = new PendingRequests({
      now,
      resendMs: config.timing.resendMs,
      send: (asked) => this.#outbox.ask(asked),
      tellProgress: () => this.#outbox.heartbeat(),
    });
    this.#shipper = new LogShipper(config, config.log);
    this.#bundles = new Bundles(config.cacheFolder, config);
    const slots = new Slots(config.slots);
    this.#executors = new Executors({
      config,
      bundles: this.#bundles,
      shipper: this.#shipper,
      slots,
      othersWait: () => this.#runner.hasGated,
      onSlot: () => this.#runner.slotFreed(),
    });
    this.#outputs = new Outputs(config);
    this.#runner = new Runner({
      config,
      outputs: this.#outputs,
      holds: this.#holds,
      slots,
      requests: this.#requests,
      executors: this.#executors,
      book: new LogBook(this.#shipper, config.timing.wallNow),
      onReported: (attempt) => this.#outbox.report(attempt),
      onReturned: (attempt, reason) => this.#returned(attempt, reason),
    });
  }

  get id(): string {
    return this.#knownId === '' ? this.#config.id : this.#knownId;
  }

  start(): void {
    for (const gateway of clearTextBeyondLoopback(this.#config.gateways)) {
      this.#config.log.warn('the token travels in clear text; give an address with https://', { gateway });
    }
    this.#ticker = setInterval(() => this.#tick(), this.#config.timing.tickMs);
    this.#link.start();
  }

  stop(): Promise<void> {
    if (this.#phase === 'working') {
      this.#phase = 'draining';
      this.#outbox.draining();
      this.#drainHeardNo = this.#pulse.lastNo + 1;
      // Another worker can begin it now.
      this.#runner.giveBackWaiting();
      this.#leaveIfDone();
    }
    return this.stopped;
  }

  evict(graceMs = EVICT_GRACE_MS): Promise<void> {
    const left = this.stop();
    for (const attempt of [...this.#holds.all()]) if (attempt.isActive) this.#runner.stop(attempt, 'evicted', graceMs);
    return left;
  }

  kill(): void {
    if (this.#phase === 'left') return;
    this.#leave();
    this.#link.destroy();
    for (const attempt of this.#holds.all()) {
      attempt.state = 'gone';
      attempt.abort('killed');
      attempt.execution?.kill();
    }
    this.#shipper.destroy();
    void this.#executors.close().then(() => this.#resolveStopped());
  }

  // ---- the link

  #hello(): Hello {
    const { id, name, queues, queueWeights, slots, offers } = this.#config;
    const holds = this.#holds.name();
    const holdTokens = Array.from(this.#holds.all(), ({ assignment }) => assignment.token);
    // Of an attempt that has ended nothing is taken any more, though its report is not answered.
    const taken = Array.from(this.#holds.all(), (attempt) => (attempt.isActive ? attempt.booking : null) ?? undefined);
    const holdBookings = taken.some((booking) => booking !== undefined) ? taken : [];
    const draining = this.#phase !== 'working';
    const own = { workerId: id, name, queues, queueWeights, slots, offers, version: VERSION };
    return { ...own, holds, holdTokens, holdBookings, draining };
  }

  #onUp(welcome: Welcome, helloSentAt: number): void {
    this.#hasConnected = true;
    this.#saidLeaving = false;
    this.#pulse.welcomed(welcome, helloSentAt);
    this.#silence.begin(welcome.pingMs);
    this.#knownId = welcome.workerId;
    const place = dataPlaceOf(welcome.dataAddress, this.#link.gateway);
    this.#bundles.place = place;
    this.#bundles.isShared = welcome.shared;
    this.#config.secrets.isShared = welcome.shared;
    this.#outputs.place = place;
    this.#shipper.move(place);
    this.#outbox.reset();
    this.#ahead.reset();
    for (const attempt of this.#holds.all()) if (attempt.state === 'reported') this.#outbox.report(attempt);
    this.#requests.sendAgain();
    if (this.#phase === 'draining') {
      this.#outbox.draining();
      this.#drainHeardNo = this.#pulse.lastNo + 1;
    }
    this.#resolveConnected();
  }

  #onDown(): void {
    this.#saidLeaving = false;
    this.#outbox.reset();
    for (const attempt of this.#holds.all()) attempt.sentAt = null;
    this.#requests.lineLost();
    this.#leaveIfDone();
  }

  #onMessage(message: GatewayMessage): void {
    this.#silence.heard();
    if (message.epochs.length > 0) this.#hearEpochs(message.epochs);
    if (message.heartbeatAnswered > 0) this.#pulse.answered(message.heartbeatAnswered);
    for (const answer of message.requestAnswers) this.#requests.answered(answer);
    for (const answer of message.answers) this.#takeAnswer(answer);
    for (const kill of message.kills) this.#takeKill(kill);
    if (message.evictMs > 0) void this.evict(message.evictMs);
    else if (message.drain) void this.stop();
    if (message.assignments.length > 0) {
      const now = this.#config.timing.now();
      for (const assignment of message.assignments) this.#takeAssignment(assignment, now);
      this.#runner.startWaiting();
    }
    this.#leaveIfDone();
  }

  #hearEpochs(epochs: readonly ShardEpoch[]): void {
    for (const { shard, epoch } of epochs) this.#hearEpoch(shard, epoch);
    this.#outbox.answerEpochs(epochs);
  }

  #hearEpoch(shard: number, epoch: number): void {
    if (epoch > (this.#epochs.get(shard) ?? -1)) this.#epochs.set(shard, epoch);
  }

  #takeAnswer({ claim, verdict }: ReportAnswer): void {
    const attempt = this.#holds.get(keyOf(claim));
    if (attempt === undefined) return;
    if (verdict === 'stale') {
      if (attempt.state === 'reported') this.#logNotRecorded(attempt);
      attempt.abort('stale');
      this.#runner.letGo(attempt);
    }
    // An answer to what was never asked: the handler still runs, and its report will be answered in its time.
    else if (attempt.state !== 'reported') return;
    this.#holds.remove(attempt);
  }

  /** User code has returned, and believes that its result counts: somebody who looks for it finds here why it does not. */
  #logNotRecorded({ assignment: { run, taskName, claim }, report }: Attempt): void {
    const fields = { run, task: taskName, attempt: claim.attempt, outcome: report?.outcome };
    const why = 'its run was cancelled, or this attempt does not hold the task any more';
    this.#config.log.warn(`a result is not recorded: ${why}`, fields);
  }

  #takeKill({ claim, reason, graceMs }: Kill): void {
    const attempt = this.#holds.get(keyOf(claim));
    if (attempt === undefined || !attempt.isActive) return;
    this.#runner.stop(attempt, reason, graceMs);
  }

  // ---- taking on work

  #takeAssignment(assignment: Assignment, now: number): void {
    const key = keyOf(assignment.claim);
    const held = this.#holds.get(key);
    if (held !== undefined) {
      // Whoever sends it again has not had the report.
      if (held.state === 'reported') this.#outbox.report(held);
      return;
    }
    if (this.#holds.isOver(key)) return;
    const reason = this.#reasonToRefuse(assignment);
    if (reason !== null) {
      this.#holds.remember(key);
      this.#outbox.refuse({ claim: assignment.claim, token: assignment.token, reason });
      return;
    }
    this.#hearEpoch(assignment.claim.shard, assignment.epoch);
    const attempt = new Attempt(assignment, key, now);
    this.#holds.add(attempt);
    this.#runner.add(attempt);
  }

  #returned(attempt: Attempt, reason: string): void {
    // It may have been found stale meanwhile.
    if (!attempt.isActive) return;
    const { claim, token } = attempt.assignment;
    if (!attempt.hasBegun && this.#phase === 'working') this.#tellAhead(this.#ahead.stop());
    this.#holds.remove(attempt);
    this.#outbox.refuse({ claim, token, reason });
    this.#leaveIfDone();
  }

  #tellAhead(count: number | null): void {
    if (count !== null) this.#outbox.ahead(count);
  }

  #reasonToRefuse({ claim, epoch, booking }: Assignment): string | null {
    const { slots, timing } = this.#config;
    if (this.#phase !== 'working') return 'the worker is stopping';
    if (epoch < (this.#epochs.get(claim.shard) ?? -1)) return 'a higher epoch of the shard is known';
    if (this.#holds.activeCount >= slots + this.#ahead.most) return 'no slot is free';
    const noRoom = this.#room.reasonToRefuse(bookingIn(booking), this.#holds.activeCount);
    if (noRoom !== null) return noRoom;
    const { unansweredCount, unansweredBytes } = this.#holds;
    if (unansweredCount >= timing.unansweredLimit || unansweredBytes >= timing.unansweredBytesLimit) {
      return 'too many reports wait for an answer';
    }
    return null;
  }

  // ---- time

  #tick(): void {
    const { now: clock, resendMs, earlyHeartbeatMs } = this.#config.timing;
    const now = clock();
    const isUp = this.#link.isUp;
    let heartbeatDue = this.#pulse.isDue(now);
    for (const attempt of this.#holds.all()) {
      if (attempt.state === 'reported') {
        if (isUp && attempt.sentAt !== null && now - attempt.sentAt >= resendMs) this.#outbox.report(attempt);
        continue;
      }
      this.#runner.watch(attempt, now);
      // It may still finish and report: only the server knows whether it was given up.
      if (this.#pulse.hasLapsed(attempt.arrivedAt, now)) this.#runner.lapse(attempt);
      if (!attempt.named && now - attempt.arrivedAt >= earlyHeartbeatMs) heartbeatDue = true;
    }
    this.#executors.look(performance.now());
    this.#runner.giveBackOverdue(now);
    if (isUp && this.#phase === 'working') {
      this.#tellAhead(this.#ahead.look(now, this.#executors.functionsEnded, this.#runner.mostWaitMs));
    }
    if (isUp) this.#requests.tick(now);
    if (isUp && heartbeatDue) this.#outbox.heartbeat();
    if (!isUp) return;
    const found = this.#silence.look(now);
    if (found === 'ping') this.#outbox.ping();
    if (found === 'hung') this.#link.leave('the gateway says nothing');
    else if (this.#pulse.isSilent(now)) this.#link.leave('the gateway answers no heartbeats');
  }

  // ---- leaving

  #leaveIfDone(): void {
    if (this.#phase !== 'draining' || this.#holds.size > 0) return;
    if (this.#link.isUp) {
      if (this.#pulse.answeredNo < this.#drainHeardNo || !this.#outbox.isIdle) return;
      if (!this.#saidLeaving) {
        this.#saidLeaving = true;
        this.#outbox.leaving(); // comes back here when it is written
        return;
      }
    } else if (this.#hasConnected && !this.#isTimeUp) {
      // Servers may believe that it has claims which were lost on the way. Unless somebody hears that it goes, they wait for its lease (I27).
      this.#lastWords ??= setTimeout(() => {
        this.#isTimeUp = true;
        this.#leaveIfDone();
      }, this.#config.timing.lastWordsMs);
      return;
    }
    this.#leave();
    void Promise.all([this.#link.close(), this.#executors.close(), this.#shipper.close(LAST_LOGS_MS)]).then(() =>
      this.#resolveStopped(),
    );
  }

  #leave(): void {
    this.#phase = 'left';
    if (this.#ticker !== null) clearInterval(this.#ticker);
    if (this.#lastWords !== null) clearTimeout(this.#lastWords);
  }
}
