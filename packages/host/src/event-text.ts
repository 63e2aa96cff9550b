/** What a hook is told, as JSON. It arrives among the outputs that the hook sees, under a name that no task can have. */
import type { HookEvent, HookEventDetails, RunId, SendAssignment, TaskNo } from '@signalbox/engine';
import type { PayloadKey } from '@signalbox/store';

/** The same as in a definition's inputs: see `read-closing.ts` of the protocol. */
export const EVENT_TASK = '@event';

const WORDS: Readonly<Record<HookEvent, string>> = {
  before: 'before',
  after: 'after',
  success: 'on_success',
  failure: 'on_failure',
  retry: 'on_retry',
  slow: 'on_slow',
};

/**
 * Where the error of the attempt is that the hook is about; null when there is none. Not asked for an attempt that may still run
 * (`before`, `on_slow`) or has succeeded.
 */
export function errorKey(runId: RunId, { on, outcome, taskNo, attemptNo }: HookEventDetails): PayloadKey | null {
  if (taskNo === null || attemptNo === 0 || on === 'before' || on === 'slow' || outcome === 'succeeded') return null;
  return { runId, taskNo, errorOf: attemptNo };
}

export function eventText(
  { claim, version }: Pick<SendAssignment, 'claim' | 'version'>,
  hookEvent: HookEventDetails,
  inputs: (key: PayloadKey) => string | null | undefined,
): string {
  const nameOf = (no: number) => version.task(no as TaskNo).name;
  const key = errorKey(claim.runId, hookEvent);
  return JSON.stringify({
    event: WORDS[hookEvent.on],
    task: hookEvent.taskName,
    outcome: hookEvent.outcome,
    attempt: hookEvent.attemptNo,
    error: key === null ? null : (inputs(key) ?? null),
    failed: hookEvent.failed.map(nameOf),
  });
}
