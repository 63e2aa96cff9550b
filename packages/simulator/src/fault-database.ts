/** What goes wrong between nodes and their database: it is gone, slow, full; commits fail, hang, or end unknown. */
import type { DatabaseFaults, Step, StepFault, StepPoint } from './fake-store/index.ts';
import type { Fault } from './fault.ts';
import type { Chance } from './world/chance.ts';
import type { World } from './world/world.ts';

type Trouble = (step: Step) => StepFault;

const span = (chance: Chance, min: number, max: number) => Math.round(min * (max / min) ** chance.next());

export class DatabaseTroubles implements DatabaseFaults {
  readonly #troubles = new Set<Trouble>();

  constructor(world: World) {
    world.database.faults = this;
  }

  onStep(step: Step): StepFault {
    for (const trouble of this.#troubles) {
      const fault = trouble(step);
      if (fault !== 'ok') return fault;
    }
    return 'ok';
  }

  /** One machine does not reach it. */
  isolate(machine: string, how: 'cut' | 'half-open' | 'refuse'): () => void {
    return this.#add((step) => (step.store === machine ? how : 'ok'));
  }

  /** Now and then a step fails, at any point of what is sent. */
  drawSteps(chance: Chance): Omit<Fault, 'at'> {
    const points: readonly StepPoint[] = ['connect', 'begin', 'fence', 'write', 'commit', 'answer'];
    const chosen = points.filter(() => chance.happens(0.4));
    const at = chosen.length === 0 ? (['commit'] as const) : chosen;
    const how = chance.pick(['cut', 'half-open', 'refuse', 'slow', 'any'] as const);
    const often = chance.pick([0.02, 0.1, 0.4]);
    const onlyCommits = chance.happens(0.6);
    const draw = chance.fork('steps');
    const fault = (): StepFault => {
      const kind = how === 'any' ? draw.pick(['cut', 'half-open', 'refuse', 'slow'] as const) : how;
      return kind === 'slow' ? { delayMs: span(draw, 20, 4_000) } : kind;
    };
    const trouble: Trouble = (step) => {
      if ((onlyCommits && step.call !== 'commit') || !at.some((point) => point === step.point)) return 'ok';
      return draw.happens(often) ? fault() : 'ok';
    };
    return {
      what: `${onlyCommits ? 'commits' : 'all calls'} go wrong (${how}) ${often * 100} % of the time at ${at.join(', ')}`,
      forMs: span(chance, 500, 12_000),
      begin: () => this.#add(trouble),
    };
  }

  draw({ database }: World, chance: Chance): Omit<Fault, 'at'> {
    const kind = chance.pick([
      'refuses',
      'is silent',
      'restarts',
      'is read-only',
      'is slow',
      'sets its clock',
    ] as const);
    const over = () => database.start();
    const giveUpMs = span(chance, 500, 5_000);
    const factor = chance.pick([10, 100, 400]);
    const byMs = span(chance, 100, 100_000) * (chance.happens(0.5) ? 1 : -1);
    const begin = (): (() => void) | null => {
      switch (kind) {
        case 'refuses':
          database.stop();
          return over;
        case 'is silent':
          database.stop({ kind: 'silent', giveUpMs });
          return over;
        case 'restarts':
          database.restart();
          return null;
        case 'is read-only':
          database.readOnly = true;
          return () => {
            database.readOnly = false;
          };
        case 'is slow':
          database.slowness = factor;
          return () => {
            database.slowness = 1;
          };
        case 'sets its clock':
          database.jumpClock(byMs);
          return null;
      }
    };
    return { what: `the database ${kind}`, forMs: span(chance, 200, 10_000), begin };
  }

  #add(trouble: Trouble): () => void {
    this.#troubles.add(trouble);
    return () => this.#troubles.delete(trouble);
  }
}
