/** `npm run simulate -- --seed 1 --minutes 1 --mode safety|liveness --histories 1 --quiet`: history after history, until one breaks a promise. */
import { parseArgs } from 'node:util';
import { type Mode, type Outcome, simulate } from './simulate.ts';
import type { World } from './world/world.ts';

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    minutes: { type: 'string' },
    histories: { type: 'string' },
    mode: { type: 'string' },
    quiet: { type: 'boolean', default: false },
    print: { type: 'boolean', default: false },
    wire: { type: 'boolean', default: false },
  },
});

const firstSeed = values.seed === undefined ? freshSeed() : Number(values.seed);
const minutes = values.minutes === undefined ? null : Number(values.minutes);
const most =
  values.histories === undefined ? (minutes === null ? 1 : Number.POSITIVE_INFINITY) : Number(values.histories);
const modes: readonly Mode[] =
  values.mode === 'safety' || values.mode === 'liveness' ? [values.mode] : ['safety', 'liveness'];

let unhandled: unknown = null;
process.on('unhandledRejection', (reason) => {
  unhandled ??= reason;
});

/** With `--wire` the history tells what passes on the wires as well. */
const onWorld = (world: World) => {
  world.isVerbose = values.wire;
};

const beganAt = performance.now();
const elapsedMin = () => (performance.now() - beganAt) / 60_000;
let [count, steps, simulated] = [0, 0, 0];
let last: Outcome | null = null;
for (let seed = firstSeed; count < most && (minutes === null || elapsedMin() < minutes); seed++) {
  for (const mode of modes) {
    const outcome = await simulate({ seed, mode, onWorld });
    count += 1;
    steps += outcome.stepCount;
    simulated += outcome.simulatedMs;
    last = outcome;
    if (outcome.broken !== null || unhandled !== null) {
      tellFailure(outcome);
      process.exit(1);
    }
    if (values.print) for (const line of outcome.history.lines()) console.log(line);
  }
}
tellSummary();

function tellFailure({ seed, mode, broken, faults, cluster, history }: Outcome): void {
  console.log(`seed ${seed}, mode ${mode}: ${cluster}`);
  for (const fault of faults) console.log(`  ${fault}`);
  if (!values.quiet) {
    console.log('what happened:');
    for (const line of history.lines()) console.log(line);
  }
  if (unhandled !== null) console.log('a promise was rejected and nobody looked:', unhandled);
  if (broken !== null) {
    console.log(`${broken.invariant} is broken at ${(broken.at / 1000).toFixed(6)} s: ${broken.message}`);
  }
  console.log(`after ${count} histories; again with: npm run simulate -- --seed ${seed} --mode ${mode}`);
}

function tellSummary(): void {
  const perMinute = Math.round(count / elapsedMin());
  console.log(
    `${count} histories from seed ${firstSeed}, all as promised: ${perMinute} a minute, ${Math.round(steps / count)} steps each,`,
  );
  console.log(
    `${Math.round(simulated / count / 1000)} s of simulated time each; looked after: ${last?.invariants.join(' ')}`,
  );
}

/** The one number that does not come from a seed. */
function freshSeed(): number {
  return Math.floor(Date.now() / 1000) % 1_000_000_000;
}
