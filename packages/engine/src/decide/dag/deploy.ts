import { type Answer, refuse } from '../../model/answer.ts';
import { assert } from '../../model/assert.ts';
import type { DeployDag } from '../../model/command.ts';
import { nextDagId } from '../../model/dag/dag-id.ts';
import { schedulesOf } from '../../model/dag/schedules-of.ts';
import type { VersionNo } from '../../model/ids.ts';
import { scheduleFault } from '../../model/schedule/schedule-fault.ts';
import { setExpectations } from '../expect/expect.ts';
import { askQuota } from '../quota/ask-quota.ts';
import type { Recorder } from '../recorder.ts';
import { pastFault, refuseSchedules, setDefinitionSchedules } from '../schedule/definition-schedules.ts';
import { reviveDag } from './retire.ts';

/** Creates a version if the meaning changed. The same hash again changes nothing, unless the dag was retired. */
export function deployDag(recorder: Recorder, command: DeployDag): Answer {
  const { state } = recorder;
  const { shard, tenantId, name, hash, spec, actor } = command;
  const known = state.dags.named(tenantId, name);
  const isSame = known !== undefined && known.current.hash === hash;
  const schedules = schedulesOf(spec);
  const refused = isSame && !known.isRetired ? null : refuseSchedules(state, known?.id ?? null, schedules);
  if (refused !== null) return refused;
  // Those of the definition were compared where it was read.
  const others = known === undefined || isSame ? [] : state.schedules.ofDag(known.id);
  const hasPast = spec.tasks.some(({ past }) => past !== undefined);
  for (const { name: schedule, origin, spec: its } of hasPast ? others : []) {
    const fault = origin === 'api' && its.run === undefined ? pastFault(hasPast, its) : null;
    if (fault !== null) return refuse('SCHEDULE_INVALID', `Schedule ${schedule}: ${fault}`);
  }
  for (const { name: expected, by } of isSame ? [] : (spec.expect ?? [])) {
    const fault = by === undefined ? null : scheduleFault(by, state.now, state.settings.zoneData);
    if (fault !== null)
      return refuse('SCHEDULE_INVALID', `Expected event ${expected}: ${fault.message} ${fault.remedy}`);
  }
  const refusedByQuota = isSame ? null : askQuota(recorder, command, 'deploys');
  if (refusedByQuota !== null) return refusedByQuota;
  state.tenantNames.set(tenantId, command.tenant);
  if (isSame) {
    const changed = known.isRetired;
    if (known.isRetired) reviveDag(recorder, known, actor);
    return { ok: true, kind: 'deployed', dagId: known.id, versionNo: known.current.no, changed };
  }
  const dagId = known?.id ?? nextDagId(shard, state.shards.get(shard)?.lastDagNo ?? 0);
  const versionNo = ((known?.current.no ?? 0) + 1) as VersionNo;
  const at = state.now;
  recorder.record({ kind: 'DagDeployed', shard, tenantId, dagId, name, versionNo, hash, spec, actor, at });
  const dag = state.dags.get(dagId);
  assert(dag !== undefined, 'a dag that was deployed is in memory');
  setDefinitionSchedules(recorder, dag, schedules, actor);
  setExpectations(recorder, dag, spec.expect ?? []);
  return { ok: true, kind: 'deployed', dagId, versionNo, changed: true };
}
