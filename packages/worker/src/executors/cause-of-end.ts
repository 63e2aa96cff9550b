/**
 * Why a child process for functions ended in the middle of an attempt: a sentence that says what to do, and the class of the
 * failure.
 */
import { failure, type Result } from '../result.ts';

interface End {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly isKilled: boolean;
  /** Whether the kernel has ended something for want of memory meanwhile; null where nobody can say. */
  readonly ranOut: boolean | null;
  readonly stderr: string;
}

export function causeOfEnd({ code, signal, isKilled, ranOut, stderr }: End): Result {
  if (/JavaScript heap out of memory|Allocation failed/.test(stderr)) {
    const text =
      'The function ran out of memory (JavaScript heap): its process has ended. Let it hold less at a time, or give the task more memory.';
    return failure('resource', text, 'memory');
  }
  if (isKilled)
    return failure('transient', 'The function did not end within its grace period; its process was killed.');
  if (signal === 'SIGKILL') {
    const text = 'The process of the function was killed by SIGKILL';
    if (ranOut === false) return failure('transient', `${text}.`, 'signal:SIGKILL');
    const why = ranOut === true ? ': the system had no memory left.' : ', as a system does that has no memory left.';
    return failure('resource', `${text}${why}`, 'signal:SIGKILL');
  }
  if (signal !== null) {
    return failure('transient', `The process of the function was ended by ${signal}.`, `signal:${signal}`);
  }
  const text = `The process of the function ended with exit code ${code ?? 'unknown'} before the function had returned: process.exit() ends the attempt.`;
  return failure('transient', text, `exit:${code ?? 'unknown'}`);
}
