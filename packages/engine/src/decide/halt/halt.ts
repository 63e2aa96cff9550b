/**
 * A dag that creates too many tasks is halted: what it has is kept, and waits. Nothing of it starts, its maps make no more instances and
 * its calls no more runs, until somebody resumes it. It is halted when it passes a limit, so what passes it is still created.
 */
import { type Answer, DONE, refuse } from '../../model/answer.ts';
import type { ResumeDag } from '../../model/command.ts';
import type { HaltCause } from '../../model/halt.ts';
import { fanOutCount } from '../../model/quota.ts';
import type { Dag } from '../../tables/dag/dag.ts';
import { countUnder } from '../quota/count.ts';
import type { Recorder } from '../recorder.ts';

/** After they were created. */
export function countTasks(recorder: Recorder, dag: Dag, tasks: number): void {
  const { mostLiveTasks } = recorder.state.settings;
  countFanOut(recorder, dag, tasks);
  // Only who passes it: one that was resumed above it goes on.
  if (dag.liveTasks > mostLiveTasks && dag.liveTasks - tasks <= mostLiveTasks)
    halt(recorder, dag, { cause: 'live_tasks', tasks: dag.liveTasks, most: mostLiveTasks });
}

function countFanOut(recorder: Recorder, dag: Dag, tasks: number): void {
  const { state } = recorder;
  const { shard, tenantId, id } = dag;
  const usual = state.settings.mostFanOut;
  const rule = state.quotas.rule(tenantId, 'fanout');
  if (rule === undefined) {
    const count = dag.fanOut.add(tasks, state.mono);
    if (count > usual) halt(recorder, dag, { cause: 'fan_out', tasks: count, most: usual });
    return;
  }
  const limit = fanOutCount(tenantId, id);
  countUnder(recorder, { shard, limit, quota: 'fanout', count: tasks });
  const [count, most] = [state.quotas.counts.count(limit), rule.hard ?? usual];
  if (count > most) halt(recorder, dag, { cause: 'fan_out', tasks: count, most });
}

function halt(
  recorder: Recorder,
  dag: Dag,
  why: { readonly cause: HaltCause; readonly tasks: number; readonly most: number },
): void {
  if (dag.isHalted) return;
  const { shard, tenantId, id: dagId } = dag;
  recorder.record({ kind: 'DagHalted', shard, tenantId, dagId, ...why, at: recorder.state.now });
}

/** Its fan-out counts from 0: else the next task would halt it again. */
export function resumeDag(recorder: Recorder, { shard, tenantId, dagId, actor }: ResumeDag): Answer {
  const { state } = recorder;
  const dag = state.dags.get(dagId);
  if (dag === undefined || dag.tenantId !== tenantId) return refuse('DAG_NOT_FOUND');
  if (!dag.isHalted) return DONE;
  const limit = fanOutCount(tenantId, dagId);
  if (state.quotas.counts.count(limit) > 0)
    for (const fromAt of state.quotas.counts.getOrAdd(shard, limit).starts())
      recorder.record({ kind: 'RateFreed', shard, limit, fromAt });
  recorder.record({ kind: 'DagResumed', shard, tenantId, dagId, actor, at: state.now });
  return DONE;
}
