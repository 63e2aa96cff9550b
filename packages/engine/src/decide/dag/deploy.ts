import { type Answer, refuse } from '../../model/answer.ts';
import type { DeployDag } from '../../model/command.ts';
import { nextDagId } from '../../model/dag/dag-id.ts';
import type { VersionNo } from '../../model/ids.ts';
import { scheduleFault } from '../../model/schedule/schedule-fault.ts';
import type { Recorder } from '../recorder.ts';
import { setSchedule } from '../schedule/set-schedule.ts';
import { reviveDag } from './retire.ts';

/** Creates a version if the meaning changed. The same hash again changes nothing, unless the dag was retired. */
export function deployDag(recorder: Recorder, command: DeployDag): Answer {
  const { state } = recorder;
  const { shard, tenantId, name, hash, spec, actor } = command;
  if (spec.schedule !== null) {
    const fault = scheduleFault(spec.schedule, state.now, state.settings.zoneData);
    if (fault !== null) return refuse('SCHEDULE_INVALID', `${fault.message} ${fault.remedy}`);
  }
  state.tenantNames.set(tenantId, command.tenant);
  const known = state.dags.named(tenantId, name);
  if (known !== undefined && known.current.hash === hash) {
    const changed = known.isRetired;
    if (known.isRetired) reviveDag(recorder, known, actor);
    return { ok: true, kind: 'deployed', dagId: known.id, versionNo: known.current.no, changed };
  }
  const dagId = known?.id ?? nextDagId(shard, state.shards.get(shard)?.lastDagNo ?? 0);
  const versionNo = ((known?.current.no ?? 0) + 1) as VersionNo;
  const at = state.now;
  recorder.record({ kind: 'DagDeployed', shard, tenantId, dagId, name, versionNo, hash, spec, actor, at });
  setSchedule(recorder, { shard, dagId, spec: spec.schedule, actor });
  return { ok: true, kind: 'deployed', dagId, versionNo, changed: true };
}
