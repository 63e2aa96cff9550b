import { type Answer, refuse } from '../../model/answer.ts';
import type { SubmitRuns } from '../../model/command.ts';
import type { DagSpec } from '../../model/dag/spec.ts';
import { untilFaultText } from '../../model/dag/until.ts';
import { isOwnRunId, MAX_SCHEDULE_NO, nextRunId, type RunId, uidOfItem, type VersionNo } from '../../model/ids.ts';
import { keyName } from '../../model/key-name.ts';
import type { Dag } from '../../tables/dag/dag.ts';
import { Version } from '../../tables/dag/dag.ts';
import { keyOfNew } from '../../tables/run/may-have-key.ts';
import { refuseUnlessOpen } from '../dead-letter/replay.ts';
import { askQuota, takeRuns } from '../quota/ask-quota.ts';
import type { Recorder } from '../recorder.ts';
import { addDelayedRun, nextDelayedNo, timeFault } from '../schedule/delayed-run.ts';
import { areChecked, createRun } from './create.ts';
import { describeTaken, takenKey } from './key-policy.ts';
import { submitWindow } from './submit-window.ts';

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
  // Stored, or in a batch in flight, which the database does not show yet. A key would have been found above; a uid that goes with
  // one may be the caller's own, and that of a run of another tenant.
  if (
    command.mayRepeat &&
    command.key === null &&
    (recorder.runsByUid.has(command.uid) || state.recentUids.has(command.uid))
  ) {
    return { ok: true, kind: 'submitted', uid: command.uid, count, repeated: true };
  }
  if (dag.isRetired) return refuse('DAG_NOT_FOUND', dag.name);
  const version = command.versionNo === undefined ? dag.current : olderVersion(recorder, dag, command.versionNo);
  if (version === null) return refuse('DAG_NOT_FOUND', dag.name);
  // Another version has come since the edge looked: whoever asked checks again. Params of a run were checked with its version.
  if (version === dag.current && !areChecked(dag, command.checkedFor))
    return refuse('PARAMS_UNCHECKED', String(dag.current.no));
  const refused = command.replays === undefined ? null : refuseUnlessOpen(recorder, command.tenantId, command.replays);
  if (refused !== null) return refused;
  const fault = untilFaultIn(version.spec, command);
  if (fault !== null) return refuse('UNTIL_INVALID', fault);
  const refusedTime = refuseTimes(recorder, dag, command);
  if (refusedTime !== null) return refusedTime;
  if (isNameTaken(recorder, command)) return refuse('IDEMPOTENCY_CONFLICT', command.uid);
  if (command.window !== undefined) return submitWindow(recorder, dag, command, command.window);
  const taken = firstTakenKey(recorder, dag, version, command);
  if (taken !== null) return refuse('RUN_KEY_TAKEN', taken);
  const refusedByQuota = askQuota(recorder, command, 'submits') ?? takeRuns(recorder, dag, count);
  if (refusedByQuota !== null) return refusedByQuota;
  state.recentUids.set(command.uid, state.batchNo);
  for (let index = 0; index < count; index++) {
    const { params, priority, until, at } = command.items[index]!;
    const uid = index === 0 ? command.uid : uidOfItem(command.uid, index);
    if (at !== undefined && at > state.now) {
      addDelayedRun(recorder, dag, {
        uid,
        at,
        params,
        priority,
        ...(until !== undefined && { until }),
        actor: command.actor,
      });
      // It has no id yet. Keys are kept by the age of a run id: that of a run of then is as good.
      const then = nextRunId(dag.shard, 0 as RunId, at);
      if (index === 0 && command.key !== null) storeKey(recorder, command, command.key, then);
      continue;
    }
    const runId = createRun(recorder, dag, {
      uid,
      version,
      priority: priority ?? version.spec.priority,
      cause: command.cause ?? 'api',
      firesAt: null,
      params,
      ...(until === undefined ? {} : { until }),
      ...(at === undefined ? {} : { dueAt: at }),
      actor: command.actor,
    });
    if (index === 0 && command.key !== null) storeKey(recorder, command, command.key, runId);
  }
  if (command.replays !== undefined) {
    const used = { as: 'replayed', newUid: command.uid, actor: command.actor, at: state.now } as const;
    recorder.record({ kind: 'DeadLetterClosed', ...command.replays, ...used });
  }
  return { ok: true, kind: 'submitted', uid: command.uid, count, repeated: false };
}

/** The key of an item that is not created, because the key has as many runs as it may: then none is (I13). Delayed ones are looked at in their time. */
function firstTakenKey({ state }: Recorder, dag: Dag, version: Version, { items }: SubmitRuns): string | null {
  if (dag.current.spec.concurrency?.onFull !== 'skip') return null;
  const before = new Map<string, number>();
  for (const { params, at } of items) {
    const key = keyOfNew(version, params);
    if (key === undefined || (at !== undefined && at > state.now)) continue;
    const more = before.get(key) ?? 0;
    const taken = takenKey(state, dag, version, params, more);
    if (taken !== null) return describeTaken(state, taken);
    before.set(key, more + 1);
  }
  return null;
}

/** Delayed runs whose time has passed, or that the dag has no numbers for. */
function refuseTimes(recorder: Recorder, dag: Dag, { items }: SubmitRuns): Answer | null {
  let delayed = 0;
  for (const { at } of items) {
    if (at === undefined) continue;
    const fault = timeFault(recorder, at);
    if (fault !== null) return refuse('RUN_TIME_INVALID', fault);
    delayed += 1;
  }
  if (delayed === 0 || nextDelayedNo(dag) + delayed - 1 <= MAX_SCHEDULE_NO) return null;
  return refuse('TOO_MANY_SCHEDULES', String(MAX_SCHEDULE_NO));
}

/** A schedule of the dag has the id that the caller chose for a delayed run, which would have it as its name. */
function isNameTaken({ state }: Recorder, { dagId, uid, items }: SubmitRuns): boolean {
  if (items[0]?.at === undefined || !isOwnRunId(uid)) return false;
  return state.schedules.named(dagId, uid) !== undefined;
}

/** Why a run can't go up to the task that one of the items names; null when all can. */
function untilFaultIn(spec: DagSpec, { items }: SubmitRuns): string | null {
  for (const { until } of items) {
    const fault = until === undefined ? null : untilFaultText(spec, until);
    if (fault !== null) return fault;
  }
  return null;
}

/** Fetched with the command unless it is in memory; from its first run on it is kept like any other that has runs. */
function olderVersion(recorder: Recorder, dag: Dag, versionNo: VersionNo): Version | null {
  const known = dag.versions.get(versionNo);
  if (known !== undefined) return known;
  const found = recorder.seenVersions.find((one) => one.dagId === dag.id && one.versionNo === versionNo);
  if (found === undefined) return null;
  const version = new Version(dag, found.versionNo, found.hash, found.spec);
  dag.versions.set(versionNo, version);
  return version;
}

function storeKey(
  recorder: Recorder,
  { shard, tenantId, dagId: target, uid }: SubmitRuns,
  { key, bodyHash }: NonNullable<SubmitRuns['key']>,
  runId: RunId,
): void {
  const [operation, at] = ['submit', recorder.state.now];
  recorder.record({ kind: 'KeyStored', shard, tenantId, operation, target, key, bodyHash, runId, uid, at });
}

function findKey(recorder: Recorder, { key, tenantId, dagId }: SubmitRuns) {
  if (key === null) return undefined;
  const name = keyName({ tenantId, operation: 'submit', target: dagId, key: key.key });
  return recorder.state.recentKeys.get(name)?.stored ?? recorder.keys.get(name);
}
