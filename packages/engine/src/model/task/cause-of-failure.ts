/**
 * The cause of a failure in one line, and the scope in which that line means something. The error of a function says it in
 * its first line. All failing processes say the same there, their exit code, so what matters is the last line that they
 * wrote to stderr, and that only together with their task and command. An HTTP call says in its first line what it called,
 * and in the response why it failed.
 *
 * Pure and linear in the text, because errors come from user code. Workers have already masked secrets in it.
 */
import type { TaskSpec } from '../dag/spec.ts';
import { type Failure, firstLineOf } from './fingerprint.ts';

const MAX_LOOK = 8_000;
const SHOWN_CHARS = 300;
/** Of an answer in JSON: where services say what is wrong. */
const MESSAGE = /"(?:message|detail|error|title|reason)"\s*:\s*"([^"\\]{1,300})"/;

type Told = Pick<Failure, 'code' | 'error'>;

/** For the fingerprint, in place of the whole error. */
export function causeLine(failure: Told): string | null {
  const { error } = failure;
  if (error === null || !(isProcess(failure) || isCall(failure))) return error;
  const more = detailOf(failure);
  // Not quoted, or it would count as a value that varies.
  return more === null
    ? firstLineOf(error, MAX_LOOK)
    : `${firstLineOf(error, MAX_LOOK)} ${more.replaceAll(/["'`]/g, ' ')}`;
}

/** For lists. */
export function shownCause(failure: Told): string | null {
  const first = firstLineOf(failure.error, SHOWN_CHARS);
  const more = isProcess(failure) || isCall(failure) ? detailOf(failure) : null;
  return first === null || more === null ? first : `${first} ${more}`.slice(0, SHOWN_CHARS);
}

/** Two failures with the same line and different scopes are two causes. Null: the line says it all. */
export function scopeOf(
  { name, work }: Pick<TaskSpec, 'name' | 'work'>,
  failure: Pick<Failure, 'code' | 'outcome'>,
): string | null {
  if (isProcess(failure)) return `${name}\n${JSON.stringify(work !== undefined && 'run' in work ? work.run : '')}`;
  // A service that is down is down for all who call it; what it refuses, it refuses to one.
  return isCall(failure) && failure.outcome === 'permanent' ? name : null;
}

function isProcess({ code }: Pick<Failure, 'code'>): boolean {
  return code !== null && (code.startsWith('exit:') || code.startsWith('signal:'));
}

function isCall({ code }: Pick<Failure, 'code'>): boolean {
  return code !== null && code.startsWith('http:');
}

function detailOf(failure: Told): string | null {
  const text = (failure.error ?? '').slice(0, MAX_LOOK);
  const end = text.indexOf('\n');
  if (end < 0) return null;
  const rest = text.slice(end + 1);
  if (isCall(failure)) return MESSAGE.exec(rest)?.[1] ?? firstMeaningful(rest.split('\n'));
  return firstMeaningful(rest.split('\n').reverse());
}

function firstMeaningful(lines: readonly string[]): string | null {
  for (const line of lines) {
    const words = line.trim();
    if (/\p{L}{2}/u.test(words) && !isNoise(words)) return words;
  }
  return null;
}

/** Frames of a trace, and what runtimes say below it. */
function isNoise(line: string): boolean {
  return (
    line.startsWith('at ') || line.startsWith('File "') || /^Node\.js v\d/.test(line) || line.startsWith('Traceback ')
  );
}
