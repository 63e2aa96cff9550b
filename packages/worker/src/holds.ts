/** The claims that the worker holds: those that it runs, and those whose report is not answered yet. */
import type { Claim, HeldProgress, Report } from '@signalbox/protocol/grpc';
import type { Attempt } from './attempt.ts';
import type { Room } from './room.ts';

const REMEMBERED = 8_192;

const sizeOf = (report: Report): number => report.output.length + report.error.length;

export class Holds {
  readonly #byKey = new Map<string, Attempt>();
  /** Keys of claims that are over, in two generations, so that forgetting the oldest costs nothing each time. */
  #over = new Set<string>();
  #overBefore = new Set<string>();
  activeCount = 0;
  readonly #room: Room;
  unansweredBytes = 0;

  constructor(room: Room) {
    this.#room = room;
  }

  get size(): number {
    return this.#byKey.size;
  }

  get unansweredCount(): number {
    return this.#byKey.size - this.activeCount;
  }

  get(key: string): Attempt | undefined {
    return this.#byKey.get(key);
  }

  /** An assignment that comes again, after its claim was answered or refused, must not be run. */
  isOver(key: string): boolean {
    return this.#over.has(key) || this.#overBefore.has(key);
  }

  all(): IterableIterator<Attempt> {
    return this.#byKey.values();
  }

  /** For a message that tells the server of them: of some shards, or of all. */
  name(shards?: ReadonlyMap<number, number>): Claim[] {
    const claims: Claim[] = [];
    for (const attempt of this.#byKey.values()) {
      if (shards !== undefined && !shards.has(attempt.claim.shard)) continue;
      attempt.named = true;
      claims.push(attempt.claim);
    }
    return claims;
  }

  /** Of those that have told of any. All of them each time: an owner that has just taken over knows of none. */
  progress(now: number): HeldProgress[] {
    const told: HeldProgress[] = [];
    for (const { claim, progress, isActive } of this.#byKey.values()) {
      if (progress === null || !isActive) continue;
      const { fraction, note, at } = progress;
      told.push({ claim, agoMs: Math.max(0, Math.round(now - at)), fraction, note });
    }
    return told;
  }

  add(attempt: Attempt): void {
    this.#byKey.set(attempt.key, attempt);
    this.activeCount++;
    if (attempt.booking !== null) this.#room.take(attempt.booking);
  }

  markReported(attempt: Attempt, report: Report): void {
    attempt.state = 'reported';
    attempt.report = report;
    attempt.dropPayload();
    this.#leave(attempt);
    this.unansweredBytes += sizeOf(report);
  }

  remove(attempt: Attempt): void {
    this.#byKey.delete(attempt.key);
    if (attempt.report === null) this.#leave(attempt);
    else this.unansweredBytes -= sizeOf(attempt.report);
    attempt.state = 'gone';
    this.remember(attempt.key);
  }

  #leave({ booking }: Attempt): void {
    this.activeCount--;
    if (booking !== null) this.#room.release(booking);
  }

  /** A claim that is over, or that was refused: its fence is used up either way (I26). */
  remember(key: string): void {
    this.#over.add(key);
    if (this.#over.size < REMEMBERED) return;
    this.#overBefore = this.#over;
    this.#over = new Set();
  }
}
