/** Everything that one history has: time, chance, ways between machines, a database, and what is seen of it all. */
import { DEFAULT_SETTINGS, type EngineSettings } from '@signalbox/engine';
import { FakeDatabase, type Sabotage } from '../fake-store/index.ts';
import { Chance } from './chance.ts';
import type { Door } from './door.ts';
import type { Environment } from './environment.ts';
import { Events } from './events.ts';
import { haltSettings } from './halts.ts';
import { History } from './history.ts';
import { Network } from './network.ts';
import type { SimNode } from './node.ts';
import { SimTenants } from './tenants.ts';
import { SimTokens } from './tokens.ts';
import type { SimWorker } from './worker.ts';
import { SimZones } from './zone.ts';

/** Breakers that open after few failures and try again soon: histories are short. */
const SOON = {
  retriesPerSecond: 50,
  causeBreaker: { tasks: 3, withinMs: 60_000, pauseMs: 1_000, maxPauseMs: 4_000 },
} as const;

/**
 * Events between two turns of the event loop, so that signals, timers of a test runner and unhandled rejections are not held up.
 * A tick costs a fraction of a turn.
 */
const TURN_EVERY = 500;

/** The longest jitter that a cluster has by default. */
export const MAX_DEFAULT_JITTER_MS = 5_000;

interface WorldOptions {
  readonly seed: number;
  readonly settings?: Partial<EngineSettings>;
  readonly sabotage?: Partial<Sabotage>;
}

export class World implements Environment {
  readonly seed: number;
  readonly chance: Chance;
  readonly events: Events;
  readonly network: Network;
  readonly database: FakeDatabase;
  readonly history: History;
  readonly tokens = new SimTokens(1);
  readonly tenants: SimTenants;
  readonly settings: EngineSettings;
  readonly zones: SimZones;
  /** All nodes of a cluster use the same one. */
  defaultJitterMs = 0;
  /** By machine. */
  readonly doors = new Map<string, Door>();
  readonly nodes: SimNode[] = [];
  readonly workers: SimWorker[] = [];
  /** Whether histories tell what passes on the wires. */
  isVerbose = false;
  /** A node that logs an error breaks the history, unless that is what it is about. */
  mayLogErrors = false;
  #journaled = 0;
  /** How many `runUntil` are under way. */
  #loops = 0;

  constructor({ seed, settings, sabotage }: WorldOptions) {
    this.seed = seed;
    this.chance = new Chance(seed);
    this.events = new Events(this.chance.fork('events'));
    this.network = new Network(this.events, this.chance.fork('network'));
    this.history = new History(this.events);
    const zones = this.chance.fork('zones');
    const change = () => ({ afterMs: zones.between(0, 60_000), byHours: zones.pick([-1, 1]) });
    const laterMs = this.chance.fork('times of the day').pick([-20_000, -7_000, 6_000, 15_000, 30_000]);
    this.zones = new SimZones([change(), change()], laterMs);
    const zoned = {
      zoneData: this.zones.data,
      zoneVersion: this.zones.version,
      zoneDataOf: this.zones.dataOf,
      defaultJitterMs: () => this.defaultJitterMs,
    };
    const jitter = this.chance.fork('default jitter');
    if (jitter.happens(0.3)) this.defaultJitterMs = jitter.int(1, MAX_DEFAULT_JITTER_MS);
    // With a short one, schedules leave memory after each window and come back before the next.
    const horizonMs = this.chance.fork('horizon').pick([1_000, 4_000, 15_000, 600_000]);
    const reserveAfterMs = this.chance.fork('reservations').pick([1_000, 3_000, 10_000]);
    const drawn = { horizonMs, reserveAfterMs, ...haltSettings(this.chance) };
    this.settings = { ...DEFAULT_SETTINGS, ...SOON, ...zoned, ...drawn, ...settings };
    this.tenants = new SimTenants(this.chance.fork('tenants'));
    this.database = new FakeDatabase({
      scheduler: this.events,
      tenants: this.tenants.ids.slice(1).map((tenantId) => ({ tenantId, name: `tenant-${tenantId}` })),
      ...(sabotage !== undefined && { sabotage }),
      onViolation: ({ message, change }) =>
        this.history.breaks('D1', `a constraint was broken: ${message}: ${JSON.stringify(change)}`),
    });
  }

  tellWire(what: () => string): void {
    if (this.isVerbose) this.history.add({ kind: 'wire', what: what() });
  }

  get now(): number {
    return this.events.now();
  }

  /** Goes on until then, or until something is wrong. Promises go on between two events, also where two wait for the world at once. */
  runUntil(until: number): Promise<void> {
    this.#loops += 1;
    return new Promise<void>((resolve, reject) => {
      const runNext = (): void => {
        if (this.history.broken !== null || !this.events.runNext(until)) return resolve();
        // Ticks of two loops would run in a row, with nothing settled between their events.
        const isTurn = this.#loops > 1 || this.events.stepCount % TURN_EVERY === 0;
        if (isTurn) setImmediate(goOn);
        else void SETTLED.then(tickLater);
      };
      const goOn = (): void => {
        try {
          this.#tellJournal();
          runNext();
        } catch (error) {
          reject(error);
        }
      };
      // A tick is run when no promise is left to go on. One that is asked for by a tick would run before promises do.
      const tickLater = (): void => process.nextTick(goOn);
      try {
        runNext();
      } catch (error) {
        reject(error);
      }
    }).finally(() => {
      this.#loops -= 1;
    });
  }

  #tellJournal(): void {
    const { journal } = this.database;
    while (this.#journaled < journal.length) {
      const entry = journal[this.#journaled]!;
      this.#journaled += 1;
      this.history.add({ kind: 'journal', entry });
    }
  }
}

const SETTLED = Promise.resolve();
