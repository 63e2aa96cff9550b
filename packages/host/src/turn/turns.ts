/**
 * The scheduling loop: drain, fetch, decide, commit, then act (D3). The next batch is decided while the last one is being
 * committed. The loop stops when a commit fails, when its outcome is unknown, or when a decision throws; the owner of the
 * loop then takes the shards again and starts from the database (I16).
 */
import {
  type Change,
  type Command,
  commandWaitsForLoad,
  type Effect,
  type Epoch,
  needs,
  nextDue,
  noteAllLoaded,
  noteLook,
  type Priority,
  restoreRuns,
  type ShardNo,
  type SpeculativeEnded,
  type State,
  type StepResult,
  shardOfCommand,
  shardOfRun,
  step,
  type TenantId,
} from '@signalbox/engine';
import type { CommitChain, RestCursor, ShardStamp, Store } from '@signalbox/store';
import type { LoadSizes } from '../ownership/load.ts';
import type { Clock, Log, Random } from '../ports.ts';
import { Charges, describe } from './charges.ts';
import { type Envelope, Inbox, type InboxLimits, type TurnLimits } from './inbox.ts';
import { Outbox } from './outbox.ts';
import { classOf, isTooDeep } from './shedding.ts';
import { WindowPace } from './window-pace.ts';

interface TurnsPorts {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** How much must wait before a commit is sent behind another one: commands, and runs of submissions. */
  readonly worthACommit: number;
  /** Live runs beyond which submissions are refused. */
  readonly mostLiveRuns: number;
  readonly loadSizes: LoadSizes;
  /** After the commit, before anything of it is sent; with how many commands it was for, and how long it took. */
  readonly onCommitted: (changes: readonly Change[], batch: { commandCount: number; tookMs: number }) => void;
  /** After the commit, in batch order. */
  readonly onEffects: (effects: readonly Effect[]) => void;
  /** After each turn: demand may have changed. */
  readonly onTurn: (state: State) => void;
  /** The loop has stopped, its memory is not to be trusted. */
  readonly onFailure: (reason: string) => void;
}

/** More would add latency, not throughput: the database commits one at a time. */
const COMMITS_IN_FLIGHT = 2;
/**
 * Behind a commit in flight, less than this waits for it: the database carries out one after the other, and what each costs beside its
 * rows (fence, journal, a dozen statements) is as much as 50 tasks. So batches grow with the load, and a second commit is sent
 * ahead only when it is worth its price.
 */
export const WORTH_A_COMMIT = 200;
/** A turn of 2,000 runs takes about 80 ms; a flood of batches would otherwise make one of 50,000, and the loop would stand still. */
const PER_TURN: TurnLimits = { commands: 2_000, runs: 2_000 };
/** About a second's work: who would wait for longer is refused, and told when to come again (I74). */
const INBOX_LIMITS: InboxLimits = { submissions: 12_000 };
/** A connection may be gone without a word, and then no answer ever comes. Longer than any other question may take. */
const LONGEST_COMMIT_MS = 10_000;

export class Turns {
  readonly inbox = new Inbox(INBOX_LIMITS, () => this.arrived(), { shed: (command) => this.classFor(command) });
  /** Decides which run or schedule is charged for an exception. */
  readonly charges: Charges;
  private readonly ports: TurnsPorts;
  private state: State | null = null;
  private chain: CommitChain | null = null;
  private outbox = this.makeOutbox();
  private readonly pace = new WindowPace();
  private settledBatchNo = 0;
  private generation = 0;
  private isTurning = false;
  private hasMore = false;
  /** Commands that wait until all runs of their dag are loaded. */
  private early: Envelope[] = [];
  private rest: { shards: ShardNo[]; after: RestCursor | null } | null = null;
  private cancelTimer: (() => void) | null = null;
  /** Set while the loop waits for more to decide. */
  private onEnough: (() => void) | null = null;

  constructor(ports: TurnsPorts) {
    this.ports = ports;
    this.charges = new Charges(ports.log);
  }

  private classFor(command: Command): Priority | null {
    const { state } = this;
    const priority = classOf(command, state);
    if (state === null) return priority;
    const { size: tenants } = state.tenants;
    const live = { runs: state.runs.count, tenants, of: (tenantId: TenantId) => state.runs.liveOf(tenantId) };
    return isTooDeep(command, priority, live, this.ports.mostLiveRuns) ? null : priority;
  }

  /** The working set, while it may be used. */
  current(): State | null {
    return this.state;
  }

  owns(shard: ShardNo): boolean {
    return this.state?.shards.has(shard) ?? false;
  }

  /** For the engine that is at work. Without one it is not kept: it would be old news to the next (I25), and pile up (I60). */
  tell(command: Command): void {
    if (this.state !== null) this.inbox.offer({ command, reply: null });
  }

  begin(state: State, chain: CommitChain): void {
    this.generation += 1;
    this.state = state;
    this.chain = chain;
    this.outbox = this.makeOutbox();
    this.settledBatchNo = state.batchNo;
    this.hasMore = true;
    this.rest = null;
    this.wake();
  }

  /** Live runs of these shards are still in the database only: they come in a few at each turn. */
  loadRest(shards: readonly ShardNo[]): void {
    this.rest = { shards: [...(this.rest?.shards ?? []), ...shards], after: null };
    this.hasMore = true;
    this.wake();
  }

  /** Changes the working set between two turns, with nothing in flight. */
  async between(change: (state: State) => void | Promise<void>): Promise<void> {
    const generation = this.generation;
    this.isPaused += 1;
    try {
      await this.whenStill();
      if (generation === this.generation && this.state !== null) await change(this.state);
    } finally {
      this.isPaused -= 1;
      this.hasMore = true;
      this.wake();
    }
  }

  /** Stops at once: nothing of memory is used any more, nothing more is sent. */
  halt(reason: string): void {
    this.generation += 1;
    this.state = null;
    this.cancelTimer?.();
    this.cancelTimer = null;
    this.outbox.abandon(reason);
    this.inbox.restore(this.early.splice(0));
    this.inbox.forgetTold();
    const { chain } = this;
    this.chain = null;
    if (chain !== null) void chain.close().catch(() => undefined);
  }

  private isPaused = 0;
  private readonly stillWaiters: (() => void)[] = [];

  private async whenStill(): Promise<void> {
    while (this.isTurning) await new Promise<void>((resolve) => this.stillWaiters.push(resolve));
    await this.outbox.whenIdle();
  }

  private wake(): void {
    if (this.isTurning || this.state === null || this.isPaused > 0) return;
    this.isTurning = true;
    void this.loop().finally(() => {
      this.isTurning = false;
      for (const resolve of this.stillWaiters.splice(0)) resolve();
      // Something may have arrived while the loop was about to end.
      if (this.state !== null && this.isPaused === 0 && this.hasWork()) this.wake();
      else this.setTimer();
    });
  }

  private async loop(): Promise<void> {
    const generation = this.generation;
    // Let what arrives in the same moment come along.
    await Promise.resolve();
    while (this.isCurrent(generation) && this.isPaused === 0 && this.hasWork()) {
      const { inFlight } = this.outbox;
      if (inFlight >= COMMITS_IN_FLIGHT) await this.outbox.whenBelow(COMMITS_IN_FLIGHT);
      else if (inFlight > 0 && !this.isWorthACommit()) await this.untilWorth(inFlight);
      else await this.turn(generation);
    }
  }

  private isWorthACommit(): boolean {
    return this.inbox.weight >= this.ports.worthACommit || this.hasMore || this.rest !== null || this.charges.isOpen;
  }

  /** Resolves when enough has arrived, or when one of the commits in flight is done. */
  private async untilWorth(inFlight: number): Promise<void> {
    const enough = new Promise<void>((resolve) => {
      this.onEnough = resolve;
    });
    await Promise.race([enough, this.outbox.whenBelow(inFlight)]);
    this.onEnough = null;
  }

  private arrived(): void {
    if (this.onEnough !== null && this.isWorthACommit()) this.onEnough();
    this.wake();
  }

  private isCurrent(generation: number): boolean {
    return this.generation === generation && this.state !== null;
  }

  private hasWork(): boolean {
    return this.inbox.size > 0 || this.hasMore || this.rest !== null || this.charges.isOpen || this.isDue();
  }

  /** Shows that somebody serves the windows. Called several times a second, also while turns are held up. */
  look(): void {
    if (this.state !== null) noteLook(this.state, this.ports.clock.wall());
  }

  private isDue(): boolean {
    if (this.state === null) return false;
    const { clock } = this.ports;
    this.look();
    const due = nextDue({ state: this.state });
    return (due.mono !== null && due.mono <= clock.mono()) || (due.wall !== null && due.wall <= clock.wall());
  }

  private async turn(generation: number): Promise<void> {
    const envelopes = this.take();
    const batch = this.withTick(envelopes);
    const state = this.state!;
    const fetched = await this.fetch(state, batch).catch((error: unknown) => describe(error));
    if (!this.isCurrent(generation)) return this.giveBack(envelopes);
    if (typeof fetched === 'string') {
      this.giveBack(envelopes);
      return this.ports.onFailure(`what commands need could not be read: ${fetched}`);
    }
    try {
      if (fetched.rest !== null) this.restore(state, fetched.rest);
      this.decide(state, batch, fetched.seen);
    } catch (error) {
      this.charges.charge(state, envelopes, error);
      this.ports.onFailure(`a decision threw: ${describe(error)}`);
    }
  }

  private async fetch(state: State, batch: readonly Envelope[]) {
    const wanted = batch.flatMap((envelope) => needs(state, envelope.command));
    const mayRepeat = batch.some(({ command }) => command.kind === 'SubmitRuns' && command.mayRepeat);
    // What a batch in flight has done is not to be seen in the database yet.
    if (mayRepeat) await this.outbox.whenIdle();
    const seen = wanted.length > 0 ? await this.ports.store.fetch(wanted) : null;
    return { seen, rest: await this.nextRest() };
  }

  /** What is decided next: all strikes, or one suspect alone, or everything else together. */
  private take(): Envelope[] {
    return this.charges.next() ?? this.inTime(this.inbox.drain(PER_TURN));
  }

  /** Keeps back what depends on runs that are not loaded yet, and takes what was kept back for those that are by now (I7). */
  private inTime(drained: readonly Envelope[]): Envelope[] {
    const all = [...this.early.filter((envelope) => envelope.isVoid?.() !== true), ...drained];
    this.early = all.filter(({ command }) => commandWaitsForLoad(this.state!, command));
    return this.early.length === 0 ? all : all.filter(({ command }) => !commandWaitsForLoad(this.state!, command));
  }

  private withTick(envelopes: Envelope[]): Envelope[] {
    this.hasMore = false;
    return this.isDue() ? [...envelopes, { command: { kind: 'Tick' }, reply: null }] : envelopes;
  }

  private async nextRest() {
    const asked = this.rest;
    if (asked === null) return null;
    const { shards, after } = asked;
    const loaded = await this.ports.store.loadRest(shards, after, this.ports.loadSizes.restPerTurn);
    // More shards may have come meanwhile: then all begin again, and what is in memory is passed over.
    if (this.rest === asked) this.rest = loaded.next === null ? null : { shards, after: loaded.next };
    if (loaded.next === null) this.ports.log('info', 'All live runs are loaded.', { shards: shards.length });
    return loaded;
  }

  private restore(state: State, rest: Parameters<typeof restoreRuns>[1]): void {
    try {
      restoreRuns(state, rest);
      if (this.rest === null) {
        noteAllLoaded(state);
        // The next turn decides what waited for this.
        this.hasMore = true;
      }
    } catch (error) {
      if (state.currentRun !== null) this.charges.strikeRun(state.currentRun, describe(error), true);
      throw error;
    }
  }

  private decide(state: State, batch: readonly Envelope[], seen: Parameters<typeof step>[2]['seen']): void {
    const { clock, random } = this.ports;
    const { settledBatchNo } = this;
    const { windowsPerStep } = this.pace;
    const inRowBefore = state.windowsInRow;
    const now = clock.wall();
    const result = step(
      state,
      batch.map((envelope) => envelope.command),
      { now, mono: clock.mono(), seed: random.uint32(), settledBatchNo, seen, windowsPerStep },
    );
    this.hasMore = this.hasMore || result.more;
    this.noteLost(result.changes);
    const beganAt = clock.mono();
    // The last step of a burst counts as none.
    const windows = (state.windowsInRow - inRowBefore) / 2;
    const committed = this.commit(state, batch, result, now);
    this.outbox.sendAfter({
      batchNo: result.batchNo,
      committed,
      send: () => {
        const tookMs = clock.mono() - beganAt;
        this.pace.note({ windows, tookMs });
        this.ports.onCommitted(result.changes, { commandCount: batch.length, tookMs });
        this.charges.done(batch);
        batch.forEach(({ reply }, i) => reply?.({ status: 'answered', answer: result.answers[i]! }));
        if (result.effects.length > 0) this.ports.onEffects(result.effects);
      },
      fail: (reason) => {
        this.charges.undone(batch);
        for (const { reply } of batch) reply?.({ status: 'unknown', reason });
      },
    });
    this.ports.onTurn(state);
  }

  /** An attempt that is given up may run twice: whoever is on call wants to know why. */
  private noteLost(changes: readonly Change[]): void {
    const lost = changes.filter(
      (change) =>
        (change.kind === 'AttemptEnded' ||
          change.kind === 'SpeculativeEnded' ||
          change.kind === 'SpeculativeTookOver') &&
        change.outcome === 'lost',
    ) as readonly SpeculativeEnded[];
    const [first] = lost;
    if (first === undefined) return;
    const { workerId, runId, error } = first;
    this.ports.log('warn', 'Attempts were given up.', { count: lost.length, first: { workerId, runId, error } });
  }

  private commit(state: State, batch: readonly Envelope[], result: StepResult, at: State['now']): Promise<void> {
    const { changes } = result;
    const shards = changes.length === 0 ? [] : stampShards(state, changes);
    const waits: Promise<void>[] = changes.length === 0 ? [] : [this.chain!.commit({ shards, changes, at })];
    const unproven = unprovenShards(state, batch, result, shards);
    if (unproven.size > 0) waits.push(this.proveOwned(unproven));
    const committed = waits.length === 0 ? Promise.resolve() : this.answeredInTime(Promise.all(waits));
    // The outbox waits for it; until then a rejection must not count as unhandled.
    committed.catch(() => undefined);
    return committed;
  }

  /** A commit is never cancelled: one that is not answered in time has an unknown end, as if its connection were lost (I72). */
  private answeredInTime(committed: Promise<unknown>): Promise<void> {
    const { clock } = this.ports;
    const lateAt = clock.mono() + LONGEST_COMMIT_MS;
    return new Promise((resolve, reject) => {
      const look = () => {
        const leftMs = lateAt - clock.mono();
        // This process itself stood still: the answer may be there, and is read next.
        if (leftMs > 0) cancel = clock.after(leftMs, look);
        else reject(new Error(`the database gave no answer within ${LONGEST_COMMIT_MS} ms`));
      };
      let cancel = clock.after(LONGEST_COMMIT_MS, look);
      committed.then(
        () => {
          cancel();
          resolve();
        },
        (error: unknown) => {
          cancel();
          reject(error);
        },
      );
    });
  }

  /**
   * What is told without a commit rests on memory alone, and another node may have taken the shard since. A look at its
   * epoch, after the decision, shows that nobody had (I16).
   */
  private async proveOwned(unproven: ReadonlyMap<ShardNo, Epoch>): Promise<void> {
    const { shards } = await this.ports.store.observe();
    for (const { shard, epoch } of shards) {
      if ((unproven.get(shard) ?? epoch) !== epoch) throw new Error(`another node has taken shard ${shard}`);
    }
  }

  /** The engine is gone: what somebody waits for is for the next one, what was only told is not. */
  private giveBack(envelopes: Envelope[]): void {
    this.inbox.restore(envelopes.filter(({ reply }) => reply !== null));
    this.charges.giveBack(envelopes);
  }

  /** Wakes the loop when something is due. */
  private setTimer(): void {
    this.cancelTimer?.();
    this.cancelTimer = null;
    if (this.state === null) return;
    const { clock } = this.ports;
    const due = nextDue({ state: this.state });
    const waits = [
      due.mono === null ? null : due.mono - clock.mono(),
      due.wall === null ? null : due.wall - clock.wall(),
    ];
    const soonest = Math.min(...waits.filter((ms) => ms !== null), LONGEST_WAIT_MS);
    this.cancelTimer = clock.after(Math.max(0, soonest), () => {
      this.cancelTimer = null;
      if (this.isDue()) this.wake();
      else if (!this.isTurning) this.setTimer();
    });
  }

  private makeOutbox(): Outbox {
    return new Outbox(
      (batchNo) => {
        this.settledBatchNo = batchNo;
        this.charges.settled();
        // The time in which a worker must show its claims begins with the step that hears of their commit.
        if (this.state?.sent.awaitsStepAfter(batchNo) === true) {
          this.hasMore = true;
          this.wake();
        }
      },
      (error) => this.ports.onFailure(`a commit failed: ${describe(error)}`),
    );
  }
}

/** The wall clock may leap: it is looked at again at least this often (I4, I5). */
const LONGEST_WAIT_MS = 200;

/** Each shard that the changes touch, with the number that this commit gives it. */
function stampShards(state: State, changes: readonly Change[]): ShardStamp[] {
  const touched = new Set<ShardNo>();
  for (const change of changes) touched.add('shard' in change ? change.shard : shardOfRun(change.runId));
  return [...touched]
    .sort((a, b) => a - b)
    .map((no) => {
      const shard = state.shards.get(no)!;
      shard.commitNo += 1;
      const { epoch, commitNo, lastRunId, lastDagNo } = shard;
      return { shard: no, epoch, commitNo, lastRunId, lastDagNo };
    });
}

/** The shards that answers and kills speak of and that no change of the batch touches, with the epochs that we know. */
function unprovenShards(
  state: State,
  batch: readonly Envelope[],
  { effects }: StepResult,
  stamped: readonly ShardStamp[],
): Map<ShardNo, Epoch> {
  const unproven = new Map<ShardNo, Epoch>();
  const add = (no: ShardNo | null) => {
    const held = no === null ? undefined : state.shards.get(no);
    if (held !== undefined) unproven.set(held.shard, held.epoch);
  };
  for (const { command, reply } of batch) if (reply !== null) add(shardOfCommand(command));
  for (const effect of effects) if (effect.kind === 'KillAttempt') add(shardOfRun(effect.claim.runId));
  for (const { shard } of stamped) unproven.delete(shard);
  return unproven;
}
