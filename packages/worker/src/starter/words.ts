/**
 * The messages between a worker and its starter, on two pipes, in the frames of `child/frames.ts`. Their number is that of the
 * program within its starter.
 */

/** To the starter: a `ProgramOrder`. */
export const BEGIN = 1;
/** Answered with `PONG`, so that the worker notices a starter that hangs. */
export const PING = 2;
/** From the starter. */
export const READY = 11;
/** The pid, in digits. */
export const BEGUN = 12;
/** A `ProgramEnd`. */
export const ENDED = 13;
/** A `StartFault`: the program could not be started. */
export const FAILED = 14;
/** The starter has no connection for the output. The program was not started; the content says why. */
export const NO_OUTPUT = 15;
export const PONG = 16;

/** What a connection begins with: the token of the program, and which stream it is. */
export const TOKEN_CHARS = 32;
export const STDOUT = '1';
export const STDERR = '2';

export interface ProgramOrder {
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** All of it: nothing of the starter's own is added. */
  readonly env: Readonly<Record<string, string>>;
  /** Known to nobody else: whoever has it may connect as the output of the program. */
  readonly token: string;
}

export interface ProgramEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Null where nothing is known. */
  readonly cpuMicros: number | null;
}

/** An error of `spawn`: emitted, as most are, or thrown. */
export interface StartFault {
  readonly name: string;
  readonly message: string;
  readonly code: string;
  readonly isThrown: boolean;
}
