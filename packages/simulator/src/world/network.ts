/** The ways between machines: which are cut, how long messages take, and the streams that go over them. */
import type { Chance } from './chance.ts';
import type { Events } from './events.ts';
import { Line, type LineEnd, type Ways } from './line.ts';

export class Network implements Ways {
  readonly events: Events;
  readonly chance: Chance;
  /** All messages take so many times longer. */
  slowness = 1;
  readonly #cuts = new Map<string, number>();
  readonly #lines = new Set<Line>();

  constructor(events: Events, chance: Chance) {
    this.events = events;
    this.chance = chance;
  }

  open(from: LineEnd, to: LineEnd): Line {
    const line = new Line(this, from, to);
    this.#lines.add(line);
    return line;
  }

  isCut(from: string, to: string): boolean {
    return this.#cuts.has(`${from}>${to}`);
  }

  /** One direction. Cuts of the same way may overlap: it opens when the last one heals. */
  cut(from: string, to: string): () => void {
    const way = `${from}>${to}`;
    this.#cuts.set(way, (this.#cuts.get(way) ?? 0) + 1);
    this.#lookAt(from);
    return () => {
      const left = (this.#cuts.get(way) ?? 1) - 1;
      if (left > 0) this.#cuts.set(way, left);
      else this.#cuts.delete(way);
      this.#lookAt(from);
    };
  }

  /** Streams of this machine end without a word: a box in between has forgotten them. */
  darken(machine: string): void {
    for (const line of [...this.#lines]) if (line.touches(machine)) line.goDark();
  }

  /** Others hear no keepalive of this machine's process: some streams are given up. */
  unheard(machine: string): void {
    for (const line of [...this.#lines]) if (line.touches(machine)) line.look(true);
  }

  heardAgain(machine: string): void {
    this.#lookAt(machine);
  }

  died(machine: string, isTold: boolean): void {
    for (const line of [...this.#lines]) line.dieAt(machine, isTold);
  }

  delayMs(): number {
    const ms = this.chance.happens(0.02) ? this.chance.between(5, 120) : this.chance.between(0.1, 3);
    // A stream that shows nothing for longer than this is given up by its pings.
    return Math.min(ms * this.slowness, 2_500);
  }

  detectMs(): number {
    return this.chance.between(1_000, 8_000);
  }

  forget(line: Line): void {
    this.#lines.delete(line);
  }

  #lookAt(machine: string): void {
    for (const line of [...this.#lines]) if (line.touches(machine)) line.look();
  }
}
