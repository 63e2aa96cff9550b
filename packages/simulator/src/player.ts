/** Plays histories one at a time, here or in threads of their own, and tells of each what a person wants to know. */
import { isMainThread, parentPort, Worker } from 'node:worker_threads';
import { playCommands } from './commands/play-commands.ts';
import { type Mode, simulate } from './simulate.ts';
import type { World } from './world/world.ts';

/** Of a whole cluster, or of the engine alone. */
export type PlayMode = Mode | 'engine';

export interface Wanted {
  readonly seed: number;
  readonly mode: PlayMode;
  /** Whether to tell all lines of the history, also when nothing is broken. */
  readonly print: boolean;
  /** With what passes on the wires. */
  readonly wire: boolean;
}

export interface Played {
  readonly seed: number;
  readonly mode: PlayMode;
  readonly cluster: string;
  readonly faults: readonly string[];
  /** What is wrong, or null. */
  readonly finding: string | null;
  readonly lines: readonly string[];
  readonly stepCount: number;
  readonly simulatedMs: number;
  readonly invariants: readonly string[];
}

export interface Player {
  play(wanted: Wanted): Promise<Played>;
  stop(): Promise<unknown>;
}

/** Memory for what dies young: with less a history spends a tenth more of its time on collecting it. */
const YOUNG_MB = 192;

let unhandled: { readonly reason: unknown } | null = null;

/** Call once in each thread: a promise that is rejected and that nobody awaits is a finding. */
function watchRejections(): void {
  process.on('unhandledRejection', (reason) => {
    unhandled ??= { reason };
  });
}

export async function play({ seed, mode, print, wire }: Wanted): Promise<Played> {
  if (mode === 'engine') return playEngine(seed, print);
  const onWorld = (world: World) => {
    world.isVerbose = wire;
  };
  const { broken, history, ...outcome } = await simulate({ seed, mode, onWorld });
  // Rejections that nobody looks at are told when the event loop turns.
  await new Promise((resolve) => setImmediate(resolve));
  const wrong = [
    ...(broken === null
      ? []
      : [`${broken.invariant} is broken at ${(broken.at / 1000).toFixed(6)} s: ${broken.message}`]),
    ...(unhandled === null ? [] : [`a promise was rejected and nobody looked: ${describe(unhandled.reason)}`]),
  ];
  unhandled = null;
  const { cluster, faults, stepCount, simulatedMs, invariants } = outcome;
  return {
    ...{ seed, mode, cluster, faults, stepCount, simulatedMs, invariants },
    finding: wrong.length === 0 ? null : wrong.join('\n'),
    lines: print || wrong.length > 0 ? [...history.lines()] : [],
  };
}

function playEngine(seed: number, print: boolean): Played {
  const { lines, ...played } = playCommands(seed);
  const shown = print || played.finding !== null ? lines : [];
  return {
    seed,
    mode: 'engine',
    cluster: 'the engine alone',
    faults: [],
    invariants: ['I19', 'I72'],
    ...played,
    lines: shown,
  };
}

export function localPlayer(): Player {
  watchRejections();
  return { play, stop: () => Promise.resolve() };
}

export function threadPlayer(): Player {
  const worker = new Worker(new URL(import.meta.url), { resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB } });
  return {
    play: (wanted) =>
      new Promise((resolve, reject) => {
        worker.once('error', reject);
        worker.once('message', (played: Played) => {
          worker.off('error', reject);
          resolve(played);
        });
        worker.postMessage(wanted);
      }),
    stop: () => worker.terminate(),
  };
}

function describe(reason: unknown): string {
  return reason instanceof Error ? (reason.stack ?? reason.message) : String(reason);
}

if (!isMainThread && parentPort !== null) {
  const port = parentPort;
  watchRejections();
  port.on('message', (wanted: Wanted) => void play(wanted).then((played) => port.postMessage(played)));
}
