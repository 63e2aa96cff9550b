/** `npm run simulate`: history after history, until one breaks a promise. The README lists the options. */
import { type Options, parseOptions } from './options.ts';
import { localPlayer, type Played, type Player, threadPlayer } from './player.ts';

const PROGRESS_MS = 10_000;

const options = readOptions();
const players: Player[] =
  options.jobs === 1 ? [localPlayer()] : Array.from({ length: options.jobs }, () => threadPlayer());

const beganAt = performance.now();
const elapsedMin = () => (performance.now() - beganAt) / 60_000;
const findings: Played[] = [];
let [begun, count, steps, simulated, toldAt] = [0, 0, 0, 0, beganAt];
let last: Played | null = null;

await Promise.all(players.map(playOn));
await Promise.all(players.map((player) => player.stop()));
tellSummary();
process.exitCode = findings.length > 0 ? 1 : 0;

/** Each player takes the next seed when it has finished one. */
async function playOn(player: Player): Promise<void> {
  const { modes, histories, minutes, keepGoing, firstSeed, print, wire } = options;
  while (begun < histories && elapsedMin() < minutes && (keepGoing || findings.length === 0)) {
    const mode = modes[begun % modes.length]!;
    const seed = firstSeed + Math.floor(begun / modes.length);
    begun += 1;
    take(await player.play({ seed, mode, print, wire }));
  }
}

function take(played: Played): void {
  count += 1;
  steps += played.stepCount;
  simulated += played.simulatedMs;
  last = played;
  if (played.finding !== null) tellFinding(played);
  else if (options.print) for (const line of played.lines) console.log(line);
  if (performance.now() - toldAt < PROGRESS_MS) return;
  toldAt = performance.now();
  console.log(`${progress()}; last seed ${played.seed}`);
}

function progress(): string {
  const { user, system } = process.cpuUsage();
  const cpuMs = Math.round((user + system) / 1_000 / count);
  const perMin = Math.round(count / elapsedMin());
  return `${elapsedMin().toFixed(1)} min: ${count} histories, ${perMin} a minute, ${cpuMs} ms of CPU each, ${findings.length} findings`;
}

function tellFinding(played: Played): void {
  findings.push(played);
  const { seed, mode, cluster, faults, lines, finding } = played;
  console.log(`seed ${seed}, mode ${mode}: ${cluster}`);
  for (const fault of faults) console.log(`  ${fault}`);
  if (!options.quiet) {
    console.log('what happened:');
    for (const line of lines) console.log(line);
  }
  console.log(finding);
  console.log(`again with: npm run simulate -- --seed ${seed} --mode ${mode}`);
}

function tellSummary(): void {
  console.log(`${progress()}; from seed ${options.firstSeed}, ${options.modes.join(' and ')}`);
  if (last === null) return;
  const [stepsEach, secondsEach] = [Math.round(steps / count), Math.round(simulated / count / 1000)];
  console.log(`${stepsEach} steps and ${secondsEach} s of simulated time each; checked: ${last.invariants.join(' ')}`);
}

function readOptions(): Options {
  try {
    return parseOptions(process.argv.slice(2), freshSeed());
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exit(2);
  }
}

/** The one number that does not come from a seed. */
function freshSeed(): number {
  return Math.floor(Date.now() / 1000) % 1_000_000_000;
}
