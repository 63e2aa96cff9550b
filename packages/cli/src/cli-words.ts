/**
 * Errors of the server, told in the words of the command line. The table of errors speaks to programs: it names fields, headers
 * and bodies. Somebody at a prompt has flags, arguments and commands.
 */
import type { ErrorCode, Problem } from '@signalbox/protocol/errors';
import type { CommandDefinition } from './define.ts';
import { next } from './program-name.ts';

/** Only for entries whose own remedy does not help at a prompt; a test finds those that lack here. */
const REMEDIES: Readonly<Partial<Record<ErrorCode, () => string>>> = {
  BAD_REQUEST: () => 'Correct what is named above and run the command again.',
  PARAMS_INVALID: () => 'Correct --params. "dags show" prints which params the dag takes.',
  DAG_INVALID: () => 'Correct the file and deploy it again. What was deployed before is unchanged.',
  DAG_NOT_FOUND: () => `Check the name with: ${next('dags')}, or deploy the dag first.`,
  RUN_NOT_FOUND: () => `Check the id with: ${next('runs list')}. Runs past their retention are removed.`,
  TASK_NOT_FOUND: () =>
    'Check the name with "runs show": a run keeps the tasks of the version of the dag that it started with.',
  CALLBACK_NOT_FOUND: () =>
    'Calls are made when a run of a dag with a callbackUrl has ended; they are removed a week after they were answered.',
  TOKEN_NOT_FOUND: () => `See which tokens there are: ${next('tokens')}`,
  VERSION_NOT_FOUND: () => 'See which versions there are with "dags versions".',
  ATTEMPT_NOT_FOUND: () => 'See which attempts there were with "runs show"; without --attempt you get the last one.',
  WORKER_NOT_FOUND: () => `See which workers are connected: ${next('workers')}`,
  BUNDLE_NOT_FOUND: () => 'Deploy the dag again: that sends its code too.',
  BUNDLE_MISMATCH: () => 'Deploy again. If it happens again, something on the way to the server changes what is sent.',
  ROUTE_NOT_FOUND: () =>
    `The server does not have this command: it may be older than this program. See: ${next('doctor')}`,
  EVENTS_EXPIRED: () => 'Leave out --after to see the events that are kept.',
  IDEMPOTENCY_CONFLICT: () =>
    'Use the same --params (or --payload) again to get the first answer, or choose a new --key for a new request.',
  STALE_TOKEN: () => 'Its result is not recorded. "runs show" says which attempt holds the task.',
  TASK_BUSY: () => 'Wait for it to end, or add --force: its attempt is stopped then, and its result is not recorded.',
  TASK_NOT_RETRYABLE: () =>
    'Only a task that failed, or waits for its next attempt, can be retried. See its state with "runs show"; "runs clear" runs it again whatever its state.',
  RUN_WOULD_CLOSE: () => 'Clear these tasks as well: "runs clear <run> --state failed,cancelled" takes all of them.',
  RUN_ENDED: () => 'Nothing is left to do. "runs rerun" makes the same run again.',
  LETTER_NOT_FOUND: () => `See which there are: ${next('dead-letters')}. Closed ones are removed after a time.`,
  BREAKER_NOT_FOUND: () => `See which are open: ${next('breakers')}. One that has closed by itself is not listed.`,
  WRONG_HOST: () => 'Use the address that the server printed at its start, or add the name to SIGNALBOX_ALLOWED_HOSTS.',
  RATE_LIMITED: () => 'Wait some seconds and try again, with fewer at a time.',
  OVERLOADED: () => 'Wait some seconds and try again.',
  UNAVAILABLE: () => 'Wait some seconds and try again.',
  UNKNOWN_OUTCOME: () =>
    'Look whether it was done before you try again. With --key, the same command is never done twice.',
  TOO_LARGE: () => 'Send less at a time, or store the data elsewhere and pass a reference to it.',
};

export function remedyAtPrompt(code: string, remedy: string): string {
  return REMEDIES[code as ErrorCode]?.() ?? remedy;
}

/** Texts of the table that name a field of a request, as a flag. */
export function messageAtPrompt(message: string): string {
  return message
    .replace(/\bwithout force\b/, 'without --force')
    .replace('The request is not well-formed.', 'The server refused what was given.')
    .replace(
      /^The idempotency key (.*) was used before with another body\.$/,
      'The key $1 was used before with other params.',
    );
}

const LONGEST_LIST = 10;

/** `--params: cups must be an integer`, where the API says `params.cups must be an integer`. */
export function problemsAtPrompt(problems: readonly Problem[], definition: CommandDefinition | null): string[] {
  const shown = problems
    .slice(0, LONGEST_LIST)
    .map(({ path, message }) => `${placeAtPrompt(path, definition)} ${message}`);
  return problems.length > LONGEST_LIST ? [...shown, `… and ${problems.length - LONGEST_LIST} more`] : shown;
}

/** The first word of a path is a field of the request; what follows is a place in the value that the user gave. */
function placeAtPrompt(path: string, definition: CommandDefinition | null): string {
  const match = /^(?:runs\[0\]\.)?([A-Za-z]+)\.?(.*)$/.exec(path);
  const [field, rest] = [match?.[1], match?.[2] ?? ''];
  const name = field === undefined || definition === null ? null : nameOf(field, definition);
  if (name === null) return path;
  return rest === '' ? name : `${name}: ${rest}`;
}

function nameOf(field: string, definition: CommandDefinition): string | null {
  const flag = definition.flags.find((one) => (one.field ?? fieldOf(one.flags)) === field);
  if (flag !== undefined) return longOf(flag.flags);
  const argument = definition.arguments?.find(({ name }) => name === field || `${name}s` === field);
  return argument === undefined ? null : `<${argument.name}>`;
}

/** `-w, --wait` → `--wait`. */
const longOf = (flags: string): string => /--[a-z-]+/.exec(flags)?.[0] ?? flags;

/** `--dry-run` is the field `dryRun`. */
const fieldOf = (flags: string): string =>
  longOf(flags)
    .slice(2)
    .replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
