/** One machine that runs the production host over fake ports: begins, is paused or blocked, dies, begins again as another node. */

import type { NodeId } from '@signalbox/engine';
import { Host } from '@signalbox/host';
import { FakeStore } from '../fake-store/index.ts';
import type { Environment } from './environment.ts';
import { capsIn } from './limits.ts';
import { NodeLines } from './node-lines.ts';
import { type ClockFaults, type PauseKind, Process } from './process.ts';
import { quotasIn } from './quotas.ts';
import { SimRenewer } from './renewer.ts';

export interface NodeHooks {
  /** Sabotage, for tests of the tests. */
  readonly onHost?: (host: Host, node: SimNode) => void;
}

export class SimNode {
  readonly machine: string;
  readonly clocks: ClockFaults;
  process: Process;
  host: Host | null = null;
  nodeId: NodeId | null = null;
  /** How the wall clock has been set since the start, over all processes of the machine. */
  skewMs: number;
  isLeaving = false;
  /** It is to be there; whoever dies begins again. */
  isWanted = true;
  readonly #world: Environment;
  readonly #hooks: NodeHooks;
  #thread: Process;
  #store: FakeStore | null = null;
  #renewalStore: FakeStore | null = null;
  #startCount = 0;

  constructor(world: Environment, machine: string, clocks: ClockFaults, hooks: NodeHooks = {}) {
    this.machine = machine;
    this.clocks = clocks;
    this.skewMs = clocks.skewMs;
    this.#world = world;
    this.#hooks = hooks;
    this.process = new Process(machine, world.events, clocks, 0);
    this.#thread = this.process;
    this.process.kill();
  }

  get isUp(): boolean {
    return this.process.isAlive;
  }

  start(): void {
    const { events, chance, database, history, settings, tokens, network } = this.#world;
    this.#startCount += 1;
    this.isLeaving = false;
    const nodeId = `${this.machine}.${this.#startCount}` as NodeId;
    const draw = chance.fork(nodeId);
    const clocks = { ...this.clocks, skewMs: this.skewMs };
    const process = new Process(this.machine, events, clocks, draw.between(0, 1e7));
    const thread = new Process(`${this.machine} renewal`, events, clocks, draw.between(0, 1e7));
    this.process = process;
    this.#thread = thread;
    this.nodeId = nodeId;
    this.#store = new FakeStore(database, { name: this.machine, deliver: (run) => process.deliver(run) });
    this.#renewalStore = new FakeStore(database, { name: this.machine, deliver: (run) => thread.deliver(run) });
    const lines = new NodeLines(this.#world, this.machine, process, nodeId);
    // With the production value commits would hardly ever overlap: a simulated node has little to do.
    const worthACommit = chance.fork(`${nodeId} commits`).pick([1, 2, 10, 200]);
    // The same of loads: a few runs are all that there is.
    const parts = chance.fork(`${nodeId} loads`);
    const loadSizes = parts.happens(0.4) ? { heads: parts.int(1, 2), restPerTurn: parts.int(1, 3) } : undefined;
    const addresses = {
      peerAddress: this.machine,
      gatewayAddress: this.machine,
      dataAddress: '',
      version: 'simulated',
    };
    const host = new Host(
      { nodeId, ...addresses, settings, worthACommit, ...(loadSizes !== undefined && { loadSizes }) },
      {
        store: this.#store,
        clock: process,
        random: draw,
        tokens,
        childParams: () => ({ ok: true, params: null }),
        unfit: () => null,
        readTenants: () => Promise.resolve(this.#world.tenants.rules()),
        readCaps: () => Promise.resolve(capsIn(this.#world.database.tables)),
        readQuotas: () => Promise.resolve(quotasIn(this.#world.database.tables, this.process.wall())),
        readKept: () => Promise.resolve(this.#world.tenants.kept()),
        readFrozen: () => Promise.resolve(this.#world.tenants.frozen()),
        network: lines,
        renewer: new SimRenewer(thread, this.#renewalStore, settings.windowGraceMs),
        log: (level, message, details) => {
          this.#world.tellWire(() => `${nodeId} logs ${level}: ${message} ${JSON.stringify(details)}`);
          if (level !== 'error' || !process.isAlive || this.#world.mayLogErrors) return;
          history.breaks('D3', `${nodeId} logged an error: ${message} ${JSON.stringify(details)}`);
        },
      },
    );
    this.host = host;
    this.#hooks.onHost?.(host, this);
    lines.serve(host);
    network.heardAgain(this.machine);
    history.add({ kind: 'machine', machine: this.machine, what: 'begins', id: nodeId });
    this.#begin(host, process);
  }

  /** A process manager starts it again when its start failed. */
  #begin(host: Host, process: Process): void {
    host.start().catch(() => {
      if (process.isAlive && this.process === process) this.crash('kill');
      this.#world.events.in(1_000, () => {
        if (!this.isUp && this.isWanted) this.start();
      });
    });
  }

  /** Leaves in order, then begins again when told. */
  leave(): void {
    const { host, process } = this;
    if (host === null || !process.isAlive || this.isLeaving) return;
    this.isLeaving = true;
    this.#world.history.add({ kind: 'machine', machine: this.machine, what: 'leaves in order', id: this.nodeId });
    process.deliver(() => {
      void host.stop().then(() => {
        if (this.process === process && process.isAlive) this.crash('kill');
      });
    });
  }

  /** `kill`: others see its connections close. `power`: nobody is told. */
  crash(how: 'kill' | 'power'): void {
    if (!this.process.isAlive) return;
    this.process.kill();
    this.#thread.kill();
    for (const store of [this.#store, this.#renewalStore]) {
      if (how === 'kill') store?.kill();
      else store?.losePower();
    }
    this.host = null;
    this.#world.network.died(this.machine, how === 'kill');
    this.#world.history.add({ kind: 'machine', machine: this.machine, what: `dies (${how})`, id: this.nodeId });
  }

  /** Dies between two messages, wherever that is in what it does. */
  crashAfterMessages(count: number): void {
    this.process.dies = { afterMessages: count, run: () => this.crash('kill') };
  }

  pause(kind: PauseKind): void {
    if (!this.isUp) return;
    this.#world.history.add({ kind: 'machine', machine: this.machine, what: `is ${kind}`, id: null });
    this.process.pause(kind);
    this.#thread.pause(kind);
  }

  /** Only the main loop: its renewal thread goes on. */
  block(): void {
    if (!this.isUp) return;
    this.#world.history.add({ kind: 'machine', machine: this.machine, what: 'has a blocked loop', id: null });
    this.process.pause('stopped');
  }

  resume(timersFirst: boolean): void {
    if (!this.process.isPaused) return;
    this.#world.history.add({ kind: 'machine', machine: this.machine, what: 'goes on', id: null });
    this.process.resume(timersFirst);
    this.#thread.resume(timersFirst);
    this.#world.network.heardAgain(this.machine);
  }

  /** The wall clock is set. */
  jumpClock(byMs: number): void {
    this.skewMs += byMs;
    this.process.skewMs += byMs;
    this.#thread.skewMs += byMs;
  }
}
