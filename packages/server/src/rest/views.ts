/** From rows to what people see. States are derived by the engine's own function, the one that decides by them. */
import { deriveFaults, deriveTaskStates, Graph, type Instant, type TaskNo } from '@signalbox/engine';
import type {
  AttemptView as AttemptAnswer,
  RunView as RunAnswer,
  RunSummary,
  TaskView as TaskAnswer,
} from '@signalbox/protocol';
import type { AttemptView, RunDetails, RunPayloads, RunView } from '@signalbox/store';

export const iso = (at: Instant | null): string | null => (at === null ? null : new Date(at).toISOString());
const surely = (at: Instant): string => new Date(at).toISOString();

export function stateOf(run: Pick<RunView, 'phase' | 'admitted' | 'setAside'>): RunSummary['state'] {
  if (run.phase === 'ended') return 'ended';
  if (run.setAside) return 'set_aside';
  return run.phase === 'open' && !run.admitted ? 'queued' : run.phase;
}

export function runSummary(run: RunView): RunSummary {
  return {
    id: run.uid,
    dag: run.dagName,
    version: run.versionNo,
    state: stateOf(run),
    outcome: run.outcome,
    priority: run.priority,
    cause: run.cause,
    window: iso(run.firesAt),
    createdAt: surely(run.createdAt),
    endedAt: iso(run.endedAt),
    actor: run.createdBy,
  };
}

/** Params and outputs are JSON text. */
export function runAnswer(run: RunDetails, { params, outputs }: RunPayloads): RunAnswer {
  const graph = new Graph(run.spec);
  const states = deriveTaskStates(graph, run.tasks, run);
  const faults = deriveFaults(graph, run.tasks, run);
  const rows = new Map(run.tasks.map((task) => [task.taskNo as number, task]));
  const earlier = new Map<number, AttemptView[]>();
  for (const attempt of run.supersededAttempts) {
    const list = earlier.get(attempt.taskNo);
    if (list === undefined) earlier.set(attempt.taskNo, [attempt]);
    else list.push(attempt);
  }
  const tasks = run.spec.tasks.map(({ name }, no): TaskAnswer => {
    const row = rows.get(no);
    const output = outputs.get(no as TaskNo);
    const state = states[no]!;
    const attempts = [...(earlier.get(no) ?? []), ...(row === undefined ? [] : [row])].map(attemptAnswer);
    const error = faults.get(no) ?? null;
    if (row === undefined) return { ...UNCLAIMED, name, state, error, output: null, attempts };
    return {
      name,
      state,
      attempt: row.attemptNo,
      worker: row.workerId,
      claimedAt: iso(row.claimedAt),
      startedAt: iso(row.startedAt),
      endedAt: iso(row.endedAt),
      retryAt: state === 'retrying' ? iso(row.retryAt) : null,
      outcome: row.outcome,
      code: row.code,
      error: error ?? row.error,
      output: output === undefined ? null : JSON.parse(output),
      attempts,
    };
  });
  return { ...runSummary(run), params: params === null ? null : JSON.parse(params), tasks };
}

const UNCLAIMED = {
  attempt: 0,
  worker: null,
  claimedAt: null,
  startedAt: null,
  endedAt: null,
  retryAt: null,
  outcome: null,
  code: null,
} as const;

function attemptAnswer(row: AttemptView): AttemptAnswer {
  return {
    attempt: row.attemptNo,
    worker: row.workerId,
    claimedAt: iso(row.claimedAt),
    startedAt: iso(row.startedAt),
    endedAt: iso(row.endedAt),
    outcome: row.outcome,
    code: row.code,
    error: row.error,
  };
}
