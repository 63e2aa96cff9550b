/** Waits for a condition, never for a time. The limit only ends a test that would hang. */
const LIMIT_MS = 15_000;

export async function eventually(what: string, holds: () => Promise<boolean>): Promise<void> {
  const limit = performance.now() + LIMIT_MS;
  while (!(await holds())) {
    if (performance.now() > limit) throw new Error(`never came true: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

/** How a commit ended, as a value: so that nothing is left unheard while the test goes on. */
export type Ending = 'done' | 'fenced' | 'refused' | 'unknown';

export function endingOf(commit: Promise<void>): Promise<Ending> {
  return commit.then(
    () => 'done' as const,
    (error: unknown) => {
      const failure = (error as { failure?: unknown }).failure;
      if (failure === 'fenced' || failure === 'refused' || failure === 'unknown') return failure;
      throw error;
    },
  );
}
