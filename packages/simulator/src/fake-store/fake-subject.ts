/** The fake store as the conformance suite wants it: in real time, with holds made by its own faults. */
import type { Store } from '@signalbox/store';
import type { Held, HoldPoint, StoreSubject } from '@signalbox/store/conformance';
import { FakeDatabase, type FakeDatabaseOptions } from './database.ts';
import { FakeStore } from './fake-store.ts';
import type { DatabaseFaults, Step, StepFault } from './faults.ts';
import type { SimScheduler } from './scheduler.ts';
import { VirtualScheduler } from './virtual-scheduler.ts';

const STOPPED_AT: Record<HoldPoint, (step: Step) => boolean> = {
  'before begin': ({ point }) => point === 'begin',
  'after fence': ({ point, writeNo }) => point === 'write' && writeNo === 1,
  'between writes': ({ point, writeNo }) => point === 'write' && writeNo === 2,
  'before commit': ({ point }) => point === 'commit',
  'after commit before the answer': ({ point }) => point === 'answer',
};

/** The suite waits on promises and on the clock of the process, so events happen by themselves here. */
class RealTimeScheduler implements SimScheduler {
  readonly #chance = new VirtualScheduler(1);

  now(): number {
    return performance.now();
  }

  after(ms: number, _what: string, run: () => void): void {
    if (ms < 1) setImmediate(run);
    else setTimeout(run, ms);
  }

  random(): number {
    return this.#chance.random();
  }
}

interface Trap {
  readonly store: string;
  readonly point: HoldPoint;
  spring(resume: (how: 'ok' | 'cut') => void): void;
}

class Traps implements DatabaseFaults {
  readonly #traps: Trap[] = [];

  set(trap: Trap): void {
    this.#traps.push(trap);
  }

  onStep(step: Step): StepFault {
    if (step.call !== 'commit') return 'ok';
    const index = this.#traps.findIndex(({ store, point }) => store === step.store && STOPPED_AT[point](step));
    const [trap] = index < 0 ? [] : this.#traps.splice(index, 1);
    return trap === undefined ? 'ok' : { hold: (resume) => trap.spring(resume) };
  }
}

export async function fakeSubject(options: Pick<FakeDatabaseOptions, 'sabotage'> = {}): Promise<StoreSubject> {
  const traps = new Traps();
  const database = new FakeDatabase({
    ...options,
    chainLockTimeoutMs: 100,
    scheduler: new RealTimeScheduler(),
    faults: traps,
  });
  const names = new Map<Store, string>();
  return {
    open: async () => {
      const name = `store ${names.size + 1}`;
      const store = new FakeStore(database, { name });
      names.set(store, name);
      return store;
    },
    hold: async (store, point): Promise<Held> => {
      let resume: (how: 'ok' | 'cut') => void = () => {};
      const reached = new Promise<void>((resolve) => {
        const spring = (go: typeof resume) => {
          resume = go;
          resolve();
        };
        traps.set({ store: names.get(store) ?? '', point, spring });
      });
      return { reached: () => reached, release: () => resume('ok'), cut: () => resume('cut') };
    },
    waitingForLock: async () => database.locks.waiting,
    restartDatabase: async () => database.restart(),
    close: async () => database.stop(),
  };
}
