/** The exit codes. The reference page is made from this table. */
export const EXIT = {
  ok: 0,
  failed: 1,
  usage: 2,
  unreachable: 3,
  refused: 4,
  timedOut: 124,
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

export const EXIT_MEANINGS: readonly (readonly [ExitCode, string])[] = [
  [EXIT.ok, 'done; with `--wait` or `watch`: the run succeeded'],
  [
    EXIT.failed,
    'failed: a run did not succeed, a file has problems, a check of `doctor` failed, a server did not start',
  ],
  [EXIT.usage, 'the command line or a setting is invalid; nothing was done'],
  [EXIT.unreachable, 'no server answered, or it is not ready; try again'],
  [EXIT.refused, 'the server refused: not found, no valid token, not allowed, invalid'],
  [EXIT.timedOut, '`--timeout` passed before the run ended; the run continues'],
  [EXIT.interrupted, 'Ctrl-C while waiting or following; the run continues'],
];
