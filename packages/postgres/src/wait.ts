import { setTimeout as pause } from 'node:timers/promises';

const POLL_MS = 10;

/** Asks until there is an answer, or until the time is up; then the answer is `undefined`. */
export async function waitFor<T>(
  withinMs: number,
  ask: () => T | undefined | Promise<T | undefined>,
): Promise<T | undefined> {
  const until = performance.now() + withinMs;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    if (performance.now() >= until) return undefined;
    await pause(POLL_MS);
  }
}
