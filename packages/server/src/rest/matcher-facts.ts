/** What the matcher says of a ready task: the owner of its shard is asked, and all servers for what goes first. */
import type { QueueName, TaskNo, TenantId } from '@signalbox/engine';
import type { TaskView } from '@signalbox/protocol';
import type { RunDetails } from '@signalbox/store';
import type { RestParts } from './rest-parts.ts';
import type { RunFacts, WaitFact } from './why.ts';

/** A view is shown without it rather than late. */
const PATIENCE_MS = 1_000;

export interface MatcherFacts {
  /** Null: no server that answered has the run in memory. */
  readonly wait: WaitFact | null;
  readonly missing: readonly string[];
}

interface Asked {
  readonly tenantId: TenantId;
  readonly run: RunDetails;
  readonly task: TaskView;
  readonly taskNo: number;
  readonly queue: string;
  readonly facts: Pick<RunFacts, 'state' | 'paused'>;
}

/** Null when the task is not ready, so that the matcher has nothing to do with it, or nobody answered. */
export async function askMatcher({ main }: Pick<RestParts, 'main'>, asked: Asked): Promise<MatcherFacts | null> {
  const { tenantId, run, task, taskNo, queue, facts } = asked;
  if (task.state !== 'ready' || task.paused !== null || facts.state !== 'open' || facts.paused !== null) return null;
  const { runId, priority, notes } = run;
  const isOfBackfill = notes.backfill !== undefined;
  const wanted = { tenantId, runId, priority, queue: queue as QueueName, taskNo: taskNo as TaskNo, isOfBackfill };
  try {
    const { blockers, ahead, missing } = await main.wait(wanted, PATIENCE_MS);
    return { wait: blockers === null ? null : { blockers, ahead }, missing };
  } catch {
    return null;
  }
}
