/**
 * One stream between two processes. In each direction what is sent arrives in order, late or not at all; never out of order,
 * never twice. Where the way is cut, what was sent waits; an end that hears nothing for long enough takes the stream for
 * lost, each end by itself, so that for a while one of them may still believe in it. What waited for the way to open arrives
 * then, also when the sender has given up on the stream since.
 */
import type { Chance } from './chance.ts';
import type { Events } from './events.ts';

export interface LineEnd {
  /** The machine. */
  readonly at: string;
  onFrame(frame: unknown): void;
  onClose(): void;
}

export interface Ways {
  readonly events: Events;
  readonly chance: Chance;
  isCut(from: string, to: string): boolean;
  delayMs(): number;
  /** How long an end waits before it takes a silent stream for lost. */
  detectMs(): number;
  forget(line: Line): void;
}

type Side = 0 | 1;
const CLOSED = Symbol('the other end has closed');

export class Line {
  readonly #ways: Ways;
  readonly #ends: readonly [LineEnd, LineEnd];
  readonly #open: [boolean, boolean] = [true, true];
  /** By direction: what the cut keeps back, and when the last one arrives. */
  readonly #waiting: [unknown[], unknown[]] = [[], []];
  readonly #lastAt: [number, number] = [0, 0];
  #isDark = false;
  #troubleNo = 0;
  #isTroubled = false;

  constructor(ways: Ways, from: LineEnd, to: LineEnd) {
    this.#ways = ways;
    this.#ends = [from, to];
    this.look();
  }

  touches(machine: string): boolean {
    return this.#ends.some((end) => end.at === machine);
  }

  send(side: Side, frame: unknown): void {
    if (this.#open[side]) this.#carry(side, frame);
  }

  /** This end closes it; the other one hears of it if the way is open. False when it was closed before. */
  close(side: Side): boolean {
    if (!this.#open[side]) return false;
    this.#open[side] = false;
    this.#carry(side, CLOSED);
    this.#forgetIfOver();
    return true;
  }

  /** The process at this end is gone. With its machine gone too, nobody tells the other end. */
  dieAt(machine: string, isTold: boolean): void {
    for (const side of [0, 1] as const) {
      if (this.#ends[side].at !== machine || !this.#open[side]) continue;
      if (isTold) this.close(side);
      else {
        this.#open[side] = false;
        this.#goDark();
      }
    }
    this.#forgetIfOver();
  }

  /** Both directions are lost without a word. */
  #goDark(): void {
    this.#isDark = true;
    this.#waiting[0].length = 0;
    this.#waiting[1].length = 0;
    this.look();
  }

  goDark(): void {
    this.#goDark();
  }

  /** The ways have changed, or a process has been silent for long: see what that means here. */
  look(isUnheard = false): void {
    const isTroubled = isUnheard || this.#isDark || this.#isBlocked(0) || this.#isBlocked(1);
    if (!isTroubled) {
      this.#isTroubled = false;
      this.#troubleNo += 1;
      for (const side of [0, 1] as const) {
        for (const frame of this.#waiting[side].splice(0)) this.#carry(side, frame);
      }
      return;
    }
    for (const side of [0, 1] as const) {
      if (this.#isBlocked(side)) continue;
      for (const frame of this.#waiting[side].splice(0)) this.#carry(side, frame);
    }
    if (this.#isTroubled) return;
    this.#isTroubled = true;
    this.#troubleNo += 1;
    const no = this.#troubleNo;
    for (const side of [0, 1] as const) {
      this.#ways.events.in(this.#ways.detectMs(), () => {
        if (no === this.#troubleNo && this.#open[side]) this.#lose(side);
      });
    }
  }

  #lose(side: Side): void {
    this.#open[side] = false;
    this.#carry(side, CLOSED);
    this.#ends[side].onClose();
    this.#forgetIfOver();
  }

  #isBlocked(side: Side): boolean {
    return this.#ways.isCut(this.#ends[side].at, this.#ends[1 - side]!.at);
  }

  #carry(side: Side, frame: unknown): void {
    if (this.#isDark) return;
    if (this.#isBlocked(side)) return void this.#waiting[side].push(frame);
    const { events } = this.#ways;
    const at = Math.max(events.now() + this.#ways.delayMs(), this.#lastAt[side]);
    this.#lastAt[side] = at;
    events.in(at - events.now(), () => this.#arrive(side, frame));
  }

  #arrive(side: Side, frame: unknown): void {
    const other = (1 - side) as Side;
    if (!this.#open[other] || this.#isDark) return;
    if (frame !== CLOSED) return this.#ends[other].onFrame(frame);
    this.#open[other] = false;
    this.#ends[other].onClose();
    this.#forgetIfOver();
  }

  #forgetIfOver(): void {
    if (!this.#open[0] && !this.#open[1]) this.#ways.forget(this);
  }
}
