/**
 * One server around the engine, without threads: clocks that stand still until they are moved, a store in memory, commits
 * that happen at once or are held back. It can lose the shards that it owns, and take them again with a higher epoch.
 */

import { adoptShards } from '../apply/restore.ts';
import type { Effect } from '../decide/effect.ts';
import { nextDue } from '../decide/timer/tick.ts';
import { type StepResult, step } from '../engine.ts';
import type { Answer } from '../model/answer.ts';
import type { Change } from '../model/change.ts';
import type { Command } from '../model/command.ts';
import { type Epoch, type Instant, type MonoMs, type ShardNo, scheduleIdOf } from '../model/ids.ts';
import type { ZoneData } from '../model/schedule/zone.ts';
import type { Seen } from '../model/stored.ts';
import { needs } from '../needs.ts';
import { describeShard } from '../tables/describe.ts';
import { storedOf } from '../tables/schedule/schedule.ts';
import { DEFAULT_SETTINGS, type EngineSettings, State } from '../tables/state.ts';
import { MemoryStore } from './memory-store.ts';

export const START = 1_767_225_600_000 as Instant; // 2026-01-01T00:00:00Z
const DAY_MS = 86_400_000;
/** Longer than in a server: tests pass over days. */
const HORIZON_MS = 12 * 3_600_000;

export interface NodeOptions {
  readonly shards?: readonly number[];
  readonly settings?: Partial<EngineSettings>;
  readonly seed?: number;
  /** After each step with nothing in flight: is what a load would give the same as what is in memory (I19)? */
  readonly audit?: boolean;
}

export class TestNode {
  readonly store = new MemoryStore();
  readonly shards: readonly ShardNo[];
  readonly settings: EngineSettings;
  state: State;
  wall = START;
  mono = 1_000_000;
  /** Time that has passed, whoever was the owner: the clock of the database. */
  passedMs = 0;
  isHolding = false;
  onEffect: (effect: Effect) => void = () => undefined;
  onDecided: (result: StepResult) => void = () => undefined;
  private settledBatchNo = 0;
  private readonly audits: boolean;
  private chance: number;
  private inFlight: StepResult[] = [];

  constructor(options: NodeOptions = {}) {
    this.shards = (options.shards ?? [7]) as readonly ShardNo[];
    this.settings = { ...DEFAULT_SETTINGS, zoneData: utcOnly, horizonMs: HORIZON_MS, ...options.settings };
    this.chance = options.seed ?? 1;
    this.audits = options.audit ?? true;
    this.state = this.takeOver();
  }

  get epoch(): Epoch {
    return this.state.shards.get(this.shards[0]!)!.epoch;
  }

  /** What the store shows of what these commands need to see. */
  fetch(commands: readonly Command[]): Seen | null {
    const wanted = commands.flatMap((command) => needs(this.state, command));
    return wanted.length === 0 ? null : this.store.fetch(wanted);
  }

  decide(commands: readonly Command[], seen = this.fetch(commands)): StepResult {
    const result = step(this.state, commands, {
      now: this.wall,
      mono: this.mono as MonoMs,
      seed: this.draw(),
      settledBatchNo: this.settledBatchNo,
      seen,
    });
    this.inFlight.push(result);
    this.onDecided(result);
    if (!this.isHolding) this.settle();
    return result;
  }

  feed(command: Command): Answer {
    const result = this.decide([command]);
    if (result.more) this.work();
    return result.answers[0]!;
  }

  /** Ticks until nothing is due and no step is left unfinished. */
  work(): void {
    for (let round = 0; round < 10_000; round++) {
      const { more } = this.decide([{ kind: 'Tick' }]);
      if (!more && !this.isDue()) return;
    }
    throw new Error('There is always more to do: a step makes no progress.');
  }

  /** Commits what is in flight, and lets its effects go. */
  settle(): void {
    const settled = this.inFlight;
    this.inFlight = [];
    for (const { batchNo, changes, effects } of settled) {
      this.store.commit(changes, this.passedMs);
      this.settledBatchNo = batchNo;
      for (const effect of effects) this.onEffect(effect);
    }
    if (this.audits) this.audit();
  }

  advance(spanMs: number): void {
    const end = this.mono + spanMs;
    for (;;) {
      const due = nextDue({ state: this.state });
      const wait = Math.min(
        end - this.mono,
        Math.max(0, (due.mono ?? Number.POSITIVE_INFINITY) - this.mono),
        Math.max(0, (due.wall ?? Number.POSITIVE_INFINITY) - this.wall),
      );
      this.mono += wait;
      this.passedMs += wait;
      this.wall = (this.wall + wait) as Instant;
      // A server that runs looks all the time.
      this.state.lookedAt = this.wall;
      this.work();
      if (this.mono >= end) return;
    }
  }

  /**
   * The owner is gone, and with it what was in flight. The next one takes over after `awayMs`, and has another clock that
   * never jumps.
   */
  kill(awayMs = 0): void {
    this.inFlight = [];
    this.isHolding = false;
    this.mono += 123_456;
    this.passedMs += awayMs;
    this.wall = (this.wall + awayMs) as Instant;
    if (awayMs > this.settings.windowGraceMs) this.store.noteBreak(this.shards, this.passedMs);
    this.state = this.takeOver();
    this.settledBatchNo = this.state.batchNo;
    this.work();
  }

  /** A state made of the stored rows alone. */
  restored(before: (state: State) => void = () => undefined): State {
    const state = new State(this.settings);
    before(state);
    adoptShards(state, this.store.heads(this.shards, this.passedMs), { wall: this.wall, mono: this.mono });
    return state;
  }

  /** All changes since the beginning, in order. */
  get journal(): readonly Change[] {
    return this.store.journal;
  }

  private isDue(): boolean {
    const due = nextDue({ state: this.state });
    return (due.mono !== null && due.mono <= this.mono) || (due.wall !== null && due.wall <= this.wall);
  }

  private takeOver(): State {
    const state = new State(this.settings);
    adoptShards(state, this.store.take(this.shards, this.passedMs), { wall: this.wall, mono: this.mono });
    return state;
  }

  private audit(): void {
    const restored = this.restored();
    for (const shard of this.shards) {
      const [live, loaded] = [describeShard(this.state, shard), describeShard(restored, shard)];
      const [a, b] = [JSON.stringify(live), JSON.stringify(loaded)];
      if (a !== b) throw new Error(`What is loaded differs from what is live:\n${b}\n${a}`);
      this.auditSchedules(shard);
    }
  }

  /** What is in memory is as it is stored, and what is due soon is in memory. */
  private auditSchedules(shard: ShardNo): void {
    const { schedules, shards } = this.state;
    const stored = new Map(this.store.schedules.map((row) => [scheduleIdOf(row), row]));
    for (const live of schedules.values()) {
      if (live.shard !== shard) continue;
      const { decidedUntil, dueAt } = live;
      const row = stored.get(live.id);
      const names = Object.keys(row ?? {}).sort();
      const [a, b] = [JSON.stringify({ ...storedOf(live), decidedUntil, dueAt }, names), JSON.stringify(row, names)];
      if (a !== b) throw new Error(`A schedule in memory differs from its row:\n${b}\n${a}`);
    }
    for (const { shard: of, dueAt, dagId, scheduleNo } of stored.values()) {
      if (of !== shard || dueAt === null || dueAt > shards.get(shard)!.nearUntil) continue;
      const isHere = schedules.get(scheduleIdOf({ dagId, scheduleNo })) !== undefined;
      if (!isHere) throw new Error(`Schedule ${dagId}/${scheduleNo} is due at ${dueAt} and not in memory.`);
    }
  }

  private draw(): number {
    this.chance = (Math.imul(this.chance, 1_664_525) + 1_013_904_223) >>> 0;
    return this.chance;
  }
}

function utcOnly(zone: string, from: Instant, until: Instant): ZoneData {
  if (zone !== 'UTC') throw new RangeError(`There is no zone ${zone} here.`);
  const span = { fromMs: from - 3 * DAY_MS, untilMs: until + 3 * DAY_MS };
  return { zone, tzVersion: 'test', initialOffsetMs: 0, transitions: [], ...span };
}
