/** Why a child for functions has ended in the middle of an attempt, in words that say what to do. */
interface End {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly isKilled: boolean;
  readonly stderr: string;
}

export function causeOfEnd({ code, signal, isKilled, stderr }: End): string {
  if (/JavaScript heap out of memory|Allocation failed/.test(stderr)) {
    return 'The function ran out of memory (JavaScript heap): its process has ended. Let it hold less at a time.';
  }
  if (isKilled) return 'The function did not end in its grace; its process was killed.';
  if (signal === 'SIGKILL') {
    return 'The process of the function was killed by SIGKILL, as a system does that has no memory left.';
  }
  if (signal !== null) return `The process of the function was ended by ${signal}.`;
  return `The process of the function ended with exit code ${code ?? 'unknown'} before the function had returned: process.exit() ends the attempt.`;
}
