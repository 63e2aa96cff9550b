/** An error in the definition of a dag. It says where the dag was written, which is what the author needs first. */

/** Where something was written: a file, and a line and column that count from 1. */
export interface Place {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

type Callee = (...args: never) => unknown;

/** Where the function that is running now was called from; null where the runtime does not tell. */
export function placeOfCall(callee: Callee): Place | null {
  const holder: { stack?: string } = {};
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 3; // Frames of the runtime itself, such as that of String(), may come first.
  Error.captureStackTrace(holder, callee);
  Error.stackTraceLimit = limit;
  for (const frame of String(holder.stack ?? '').split('\n')) {
    const place = placeInFrame(frame);
    if (place !== null) return place;
  }
  return null;
}

function placeInFrame(frame: string): Place | null {
  const match = /^\s*at (?:.*\()?(.+?):(\d+):(\d+)\)?$/.exec(frame);
  if (match === null) return null;
  return { file: match[1]?.replace(/^async /, '') ?? '', line: Number(match[2]), column: Number(match[3]) };
}

const MISTAKE: unique symbol = Symbol.for('signalbox.mistake');

export class DagMistake extends Error {
  // Seen by its mark: the compiler loads another copy of this package than the dag does.
  readonly [MISTAKE] = true;
  /** The sentence alone, without the place. */
  readonly reason: string;
  readonly remedy: string | null;
  readonly place: Place | null;

  /** `callee` is what the author called, or the place of an earlier call of theirs. */
  constructor(reason: string, remedy: string | null, callee: Callee | Place | null) {
    const place = typeof callee === 'function' ? placeOfCall(callee) : callee;
    const where = place === null ? '' : ` (at ${place.file}:${place.line}:${place.column})`;
    super(`${reason}.${remedy === null ? '' : ` ${remedy}`}${where}`);
    this.name = 'DagMistake';
    this.reason = reason;
    this.remedy = remedy;
    this.place = place;
  }
}
