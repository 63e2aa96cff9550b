/** Requests that are repeated until the answer is there, and the one that is sent once. */
import type { Health, RunView } from '@signalbox/protocol';
import { SignalboxError } from '@signalbox/protocol/errors';
import { type CallOptions, type Client, type WaitOptions, WaitTimedOut } from './client-types.ts';
import { type RetryTiming, send, type Target } from './request.ts';
import { loadSchemas } from './schemas.ts';

const FIRST_POLL_MS = 25;
const LONGEST_POLL_MS = 2_000;

/** One try, and a server that is away or not ready is an answer, not an error. */
export async function askHealth(target: Target, { signal }: CallOptions): Promise<Health> {
  const once = { ...target, timing: { ...target.timing, retryForMs: 0 } };
  try {
    const { healthSchema } = await loadSchemas();
    const health = healthSchema.safeParse(await send(once, { method: 'GET', path: '/readyz', signal }));
    return health.success ? health.data : { status: 'unavailable' };
  } catch (error) {
    if (error instanceof SignalboxError) return { status: 'unavailable' };
    throw error;
  }
}

/** Asks quickly at first and then ever more slowly: a tenth of the time waited so far, within bounds. */
export async function pollRun(client: Client, id: string, options: WaitOptions, timing: RetryTiming): Promise<RunView> {
  const { timeoutMs = Number.POSITIVE_INFINITY, signal } = options;
  const startedAt = timing.now();
  for (;;) {
    const run = await client.getRun(id, signal === undefined ? {} : { signal });
    if (run.state === 'ended' || run.state === 'set_aside') return run;
    const waitedMs = timing.now() - startedAt;
    if (waitedMs >= timeoutMs) throw new WaitTimedOut(run, timeoutMs);
    const pauseMs = Math.min(LONGEST_POLL_MS, Math.max(FIRST_POLL_MS, waitedMs / 10));
    await timing.sleep(Math.min(pauseMs, timeoutMs - waitedMs), signal);
  }
}
