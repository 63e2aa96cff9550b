/** What scripts are told by the way a command ends. The reference page is made from this table. */
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
    'it failed: a run that did not succeed, a file with problems, a check of `doctor`, a server that did not start',
  ],
  [EXIT.usage, 'the command line or a setting was not understood; nothing was done'],
  [EXIT.unreachable, 'no server answered, or it could not serve at that moment; worth another try'],
  [EXIT.refused, 'the server refused it: not found, no valid token, not allowed, not well-formed'],
  [EXIT.timedOut, '`--timeout` passed before the run had ended; the run goes on'],
  [EXIT.interrupted, 'Ctrl-C while waiting or following; what was being followed goes on'],
];
