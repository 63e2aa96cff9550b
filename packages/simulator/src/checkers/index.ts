/** All checkers, and how they are fed: the journal change by change, everything else as it happens. */
import type { World } from '../world/world.ts';
import { backfills } from './a-backfills.ts';
import { delayedRuns } from './a-delayed.ts';
import { past } from './a-past.ts';
import { requirements } from './a-requires.ts';
import { schedules } from './a-schedules.ts';
import { assets } from './b-assets.ts';
import { heldEvents } from './b-events.ts';
import { expected } from './b-expect.ts';
import { submission } from './b-submission.ts';
import { ownership } from './c-ownership.ts';
import { replay } from './c-replay.ts';
import type { Checker, CheckerMaker, Scene } from './checker.ts';
import { asks } from './d-attempt-requests.ts';
import { dispatch } from './d-dispatch.ts';
import { leases } from './d-leases.ts';
import { adding } from './e-adding.ts';
import { children } from './e-children.ts';
import { dags } from './e-dags.ts';
import { hooks } from './e-hooks.ts';
import { hands } from './e-manual.ts';
import { maps } from './e-maps.ts';
import { deadLetters } from './f-dead-letters.ts';
import { limits as times } from './f-deadlines.ts';
import { retries } from './f-retries.ts';
import { budgets } from './g-budgets.ts';
import { freezes } from './g-freezes.ts';
import { gangs } from './g-gangs.ts';
import { halts } from './g-halts.ts';
import { runKeys } from './g-keys.ts';
import { limits } from './g-limits.ts';
import { preemption } from './g-preemption.ts';
import { quotas } from './g-quotas.ts';
import { rates } from './g-rates.ts';
import { reservations } from './g-reservations.ts';
import { slots } from './g-slots.ts';
import { starts } from './g-starts.ts';
import { tenants } from './g-tenants.ts';
import { Health, LOOK_MS } from './health.ts';
import { reads } from './i-reads.ts';
import { recovery } from './k-recovery.ts';
import { Ledger } from './ledger.ts';

const ALL: readonly CheckerMaker[] = [
  schedules,
  delayedRuns,
  backfills,
  past,
  requirements,
  submission,
  heldEvents,
  assets,
  expected,
  ownership,
  replay,
  dispatch,
  asks,
  leases,
  dags,
  maps,
  adding,
  children,
  hands,
  hooks,
  retries,
  times,
  deadLetters,
  limits,
  preemption,
  gangs,
  runKeys,
  slots,
  quotas,
  rates,
  starts,
  freezes,
  reservations,
  halts,
  budgets,
  tenants,
  reads,
  recovery,
];

export class Watch {
  readonly health: Health;
  readonly ledger = new Ledger();
  readonly #world: World;
  readonly #checkers: readonly Checker[];
  /** Those that have something to do then: most have not, and there is much that happens. */
  readonly #onChange: readonly Checker[];
  readonly #onLook: readonly Checker[];

  constructor(world: World) {
    this.#world = world;
    this.health = new Health(world, this.ledger);
    const scene: Scene = {
      world,
      ledger: this.ledger,
      health: this.health,
      fail: (invariant, message) => world.history.breaks(invariant, message),
    };
    this.#checkers = ALL.map((make) => make(scene));
    this.#onChange = this.#checkers.filter((one) => one.onChange !== undefined);
    this.#onLook = this.#checkers.filter((one) => one.onLook !== undefined);
    const onHappening = this.#checkers.filter((one) => one.onHappening !== undefined);
    world.history.watch((happening) => {
      // No checker looks at these but by their changes.
      if (happening.kind === 'journal') return this.#enter(happening.entry);
      for (const checker of onHappening) checker.onHappening?.(happening);
    });
    this.#look();
  }

  /** The promises that are looked after. */
  get invariants(): readonly string[] {
    const all = new Set(this.#checkers.flatMap(({ invariants }) => invariants));
    return [...all].sort((a, b) => Number(a.slice(1)) - Number(b.slice(1)));
  }

  healed(): void {
    this.health.disturbed();
    for (const checker of this.#checkers) checker.onHealed?.();
  }

  end(): void {
    if (this.#world.history.broken !== null) return;
    for (const checker of this.#checkers) checker.atEnd?.();
  }

  #enter(entry: World['database']['journal'][number]): void {
    if (this.#world.history.broken !== null) return;
    this.ledger.at = entry.committedAt;
    if (entry.kind !== 'commit') {
      for (const checker of this.#checkers) checker.onTake?.(entry);
      return this.ledger.take(entry);
    }
    for (const change of entry.changes) {
      for (const checker of this.#onChange) checker.onChange?.(change, entry);
      if (this.#world.history.broken !== null) return;
      this.ledger.apply(change);
    }
    for (const checker of this.#checkers) checker.onCommit?.(entry);
  }

  #look(): void {
    this.#world.events.in(LOOK_MS, () => {
      this.health.look();
      for (const checker of this.#onLook) checker.onLook?.();
      this.#look();
    });
  }
}
