import { keyName } from '../apply.ts';
import { type Answer, refuse, type SubmitRuns } from '../command.ts';
import { uidOfItem } from '../ids.ts';
import type { Recorder } from '../recorder.ts';
import { createRun } from './create.ts';

/** Runs on demand, all of them or none (I13). The same key and body always give the same answer (I11). */
export function submitRuns(recorder: Recorder, command: SubmitRuns): Answer {
  const { state } = recorder;
  const dag = state.dags.get(command.dagId);
  if (dag === undefined || dag.tenantId !== command.tenantId) return refuse('DAG_NOT_FOUND');
  const count = command.items.length;
  const earlier = findKey(recorder, command);
  if (earlier !== undefined) {
    if (earlier.bodyHash !== command.key?.bodyHash) return refuse('IDEMPOTENCY_CONFLICT', command.key?.key);
    return { ok: true, kind: 'submitted', uid: earlier.uid, count, repeated: true };
  }
  // Stored, or in a batch in flight, which the database does not show yet.
  if (command.mayRepeat && (recorder.runsByUid.has(command.uid) || state.recentUids.has(command.uid))) {
    return { ok: true, kind: 'submitted', uid: command.uid, count, repeated: true };
  }
  state.recentUids.set(command.uid, state.batchNo);
  command.items.forEach(({ params, priority }, index) => {
    const runId = createRun(recorder, dag, {
      uid: uidOfItem(command.uid, index),
      priority: priority ?? dag.current.spec.priority,
      cause: 'api',
      firesAt: null,
      params,
      actor: command.actor,
    });
    if (index === 0 && command.key !== null) {
      const { tenantId, key, uid } = command;
      const [shard, target, operation] = [dag.shard, dag.id, 'submit'];
      recorder.record({ kind: 'KeyStored', shard, tenantId, operation, target, ...key, runId, uid, at: state.now });
    }
  });
  return { ok: true, kind: 'submitted', uid: command.uid, count, repeated: false };
}

function findKey(recorder: Recorder, { key, tenantId, dagId }: SubmitRuns) {
  if (key === null) return undefined;
  const name = keyName({ tenantId, operation: 'submit', target: dagId, key: key.key });
  return recorder.state.recentKeys.get(name)?.stored ?? recorder.keys.get(name);
}
