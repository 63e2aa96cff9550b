/**
 * Errors of the server in the terms of the command line. The error table speaks to programs: fields, headers and bodies. A
 * person at a prompt has flags, arguments and commands.
 */
import type { ErrorCode, Problem } from '@signalbox/protocol/errors';
import type { CommandDefinition } from './define.ts';
import { next } from './program-name.ts';

/** Only for entries whose own remedy does not help at a prompt; a test finds those that lack here. */
const REMEDIES: Readonly<Partial<Record<ErrorCode, () => string>>> = {
  BAD_REQUEST: () => 'Fix what is listed above and run the command again.',
  PARAMS_INVALID: () => 'Fix --params. "dags show" prints the params that the dag takes.',
  DAG_INVALID: () => 'Fix the file and deploy it again. The deployed version is unchanged.',
  DAG_NOT_FOUND: () => `Check the name with: ${next('dags')}, or deploy the dag first.`,
  RUN_NOT_FOUND: () => `Check the id with: ${next('runs list')}. Runs are removed after the retention period.`,
  TASK_NOT_FOUND: () => 'Check the name with "runs show". A run keeps the version of the dag that it started with.',
  CALLBACK_NOT_FOUND: () =>
    'A callback is sent when a run of a dag with a callbackUrl ends. It is removed a week after the receiver answered.',
  TOKEN_NOT_FOUND: () => `List the tokens: ${next('tokens')}`,
  VERSION_NOT_FOUND: () => 'List the versions with "dags versions".',
  ATTEMPT_NOT_FOUND: () => 'List the attempts with "runs show". Without --attempt you get the last one.',
  WORKER_NOT_FOUND: () => `List the connected workers: ${next('workers')}`,
  BUNDLE_NOT_FOUND: () => 'Deploy the dag again. This uploads its code too.',
  BUNDLE_MISMATCH: () => 'Deploy again. If it happens again, a proxy on the way to the server changes the upload.',
  ROUTE_NOT_FOUND: () =>
    `The server does not support this command. It may be older than this CLI. Check with: ${next('doctor')}`,
  EVENTS_EXPIRED: () => 'Leave out --after to see the events that are kept.',
  IDEMPOTENCY_CONFLICT: () =>
    'Use the same --params (or --payload) to get the first answer, or use a new --key for a new request.',
  STALE_TOKEN: () => 'Its result is not recorded. "runs show" says which attempt owns the task.',
  TASK_BUSY: () => 'Wait until it ends, or add --force. That stops its attempt and discards its result.',
  TASK_NOT_RETRYABLE: () =>
    'You can retry a task that failed or waits for its next attempt. Check its state with "runs show". "runs clear" runs it again in any state.',
  RUN_WOULD_CLOSE: () => 'Clear these tasks too. "runs clear <run> --state failed,cancelled" selects all of them.',
  RUN_ENDED: () => '"runs rerun" starts the same run again.',
  DEAD_LETTER_NOT_FOUND: () => `List the dead letters: ${next('dead-letters')}. Closed ones are removed after a while.`,
  BREAKER_NOT_FOUND: () =>
    `List the open breakers: ${next('breakers')}. A breaker that closed by itself is not listed.`,
  WRONG_HOST: () =>
    'Use the address that the server printed when it started, or add the name to SIGNALBOX_ALLOWED_HOSTS.',
  RATE_LIMITED: () => 'Wait a few seconds and try again, with fewer at a time.',
  QUOTA_EXCEEDED: () => 'Wait, or ask those who run the installation for a raise.',
  LOAD_SHED: () => 'Wait a few seconds and try again, or use a higher --priority.',
  OVERLOADED: () => 'Wait a few seconds and try again.',
  UNAVAILABLE: () => 'Wait a few seconds and try again.',
  UNKNOWN_OUTCOME: () =>
    'Check whether it took effect before you try again. With --key, the same command never takes effect twice.',
  TOO_LARGE: () => 'Send less data at a time, or store it elsewhere and pass a reference.',
};

export function remedyAtPrompt(code: string, remedy: string): string {
  return REMEDIES[code as ErrorCode]?.() ?? remedy;
}

/** Texts of the table that name a field of a request, as a flag. */
export function messageAtPrompt(message: string): string {
  return message
    .replace('The request is invalid.', 'The server refused the command.')
    .replace(
      /^The idempotency key (.*) was already used with a different body\.$/,
      'The key $1 was already used with different params.',
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
