/** What the command line of the simulator says. */
import { parseArgs } from 'node:util';
import type { PlayMode } from './player.ts';

export interface Options {
  readonly firstSeed: number;
  readonly modes: readonly PlayMode[];
  /** Both end the session; the one that comes first. */
  readonly histories: number;
  readonly minutes: number;
  readonly jobs: number;
  readonly keepGoing: boolean;
  readonly quiet: boolean;
  readonly print: boolean;
  readonly wire: boolean;
}

const MODES: readonly PlayMode[] = ['safety', 'liveness', 'engine'];
/** Those that are played unless one is chosen. */
const USUAL: readonly PlayMode[] = ['safety', 'liveness'];
const DEFAULT_MINUTES = 1;

/** Throws with a sentence for the user. */
export function parseOptions(args: readonly string[], freshSeed: number): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seed: { type: 'string' },
      from: { type: 'string' },
      minutes: { type: 'string' },
      histories: { type: 'string' },
      mode: { type: 'string' },
      jobs: { type: 'string' },
      'keep-going': { type: 'boolean', default: false },
      quiet: { type: 'boolean', default: false },
      print: { type: 'boolean', default: false },
      wire: { type: 'boolean', default: false },
    },
  });
  const modes = values.mode === undefined ? USUAL : MODES.filter((mode) => values.mode === mode);
  if (modes.length === 0) throw new Error(`--mode is "${values.mode}". Use safety, liveness or engine.`);
  if (values.seed !== undefined && values.from !== undefined)
    throw new Error('--seed plays one seed, --from begins with it. Use one of them.');
  const seed = wholeNumber('--seed', values.seed, 0) ?? wholeNumber('--from', values.from, 0);
  const minutes = positive('--minutes', values.minutes);
  const histories = wholeNumber('--histories', values.histories, 1);
  const isBounded = minutes !== undefined || histories !== undefined;
  const ofOneSeed = values.seed !== undefined && !isBounded ? modes.length : Number.POSITIVE_INFINITY;
  return {
    firstSeed: seed ?? freshSeed,
    modes,
    histories: histories ?? ofOneSeed,
    minutes: minutes ?? (isBounded || values.seed !== undefined ? Number.POSITIVE_INFINITY : DEFAULT_MINUTES),
    jobs: wholeNumber('--jobs', values.jobs, 1) ?? 1,
    keepGoing: values['keep-going'],
    quiet: values.quiet,
    print: values.print,
    wire: values.wire,
  };
}

function wholeNumber(name: string, text: string | undefined, least: number): number | undefined {
  if (text === undefined) return undefined;
  const number = Number(text);
  if (text === '' || !Number.isSafeInteger(number) || number < least)
    throw new Error(`${name} is "${text}". Use a whole number, ${least} or more.`);
  return number;
}

function positive(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const number = Number(text);
  if (!(number > 0)) throw new Error(`${name} is "${text}". Use a number above 0.`);
  return number;
}
