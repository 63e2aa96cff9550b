/**
 * A worker as the wire knows it: several slots, one stream to one gateway, claims held until their report is answered. It
 * keeps what the real one promises (epochs, heartbeats, refusals, resends), without its code.
 */
import type { WorkerId } from '@signalbox/engine';
import type { Environment } from './environment.ts';
import { type ClockFaults, type PauseKind, Process } from './process.ts';
import { WorkerLife } from './worker-life.ts';
import type { WorkerShape } from './worker-shape.ts';

/** The machine that a worker runs on: when the process dies another one begins, under another id. */
export class SimWorker {
  readonly machine: string;
  readonly shape: WorkerShape;
  life: WorkerLife | null = null;
  process: Process;
  /** It is to be there; whoever dies begins again. */
  isWanted = true;
  /** How often it says things twice. */
  repeats = 0;
  readonly #world: Environment;
  readonly #clocks: ClockFaults;
  #startCount = 0;

  constructor(world: Environment, machine: string, shape: WorkerShape, clocks: ClockFaults) {
    this.machine = machine;
    this.shape = shape;
    this.#world = world;
    this.#clocks = clocks;
    this.process = new Process(machine, world.events, clocks, 0);
    this.process.kill();
  }

  get isUp(): boolean {
    return this.process.isAlive;
  }

  start(): void {
    if (this.isUp) return;
    this.#startCount += 1;
    const workerId = `${this.machine}.${this.#startCount}` as WorkerId;
    const draw = this.#world.chance.fork(workerId);
    this.process = new Process(this.machine, this.#world.events, this.#clocks, draw.between(0, 1e7));
    this.life = new WorkerLife(this.#world, this, workerId, this.process, draw);
    this.life.begin();
  }

  crash(how: 'kill' | 'power'): void {
    if (!this.isUp) return;
    this.process.kill();
    this.#world.network.died(this.machine, how === 'kill');
    this.life?.died();
    this.life = null;
  }

  /** Takes nothing new, finishes what it has, leaves; then begins again. */
  drain(): void {
    this.life?.drain();
  }

  /** As `drain`, and what it runs stops. */
  evict(): void {
    this.life?.evict();
  }

  pause(kind: PauseKind): void {
    if (!this.isUp) return;
    this.#world.history.add({ kind: 'machine', machine: this.machine, what: `is ${kind}`, id: null });
    this.process.pause(kind);
  }

  resume(timersFirst: boolean): void {
    if (!this.process.isPaused) return;
    this.#world.history.add({ kind: 'machine', machine: this.machine, what: 'goes on', id: null });
    this.process.resume(timersFirst);
    this.#world.network.heardAgain(this.machine);
  }

  /** Its process has ended by itself: a user's function killed it, or it has left. */
  ended(): void {
    this.crash('kill');
    this.beginAgain();
  }

  beginAgain(): void {
    this.#world.events.in(this.#world.chance.fork(`${this.machine} again`).between(200, 2_000), () => {
      if (this.isWanted) this.start();
    });
  }
}
