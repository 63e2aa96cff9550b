/** The columns of a run that people see: its own row, without its tasks. */
import {
  type DagId,
  type Instant,
  type ParentRef,
  type Priority,
  type RunCreated,
  type RunId,
  type RunNotes,
  type RunOutcome,
  type RunPhase,
  type RunUid,
  type ShardNo,
  type StoredPause,
  shardOfRun,
  type VersionNo,
} from '@signalbox/engine';
import type { Row } from '../batch.ts';
import { causes, phases, priorities, runOutcomes } from '../codes.ts';
import { readPauses } from '../statements/marks.ts';
import { decodeNullableText, decodeText } from '../text.ts';

export interface RunView {
  readonly runId: RunId;
  readonly shard: ShardNo;
  readonly uid: RunUid;
  readonly dagId: DagId;
  readonly dagName: string;
  readonly versionNo: VersionNo;
  readonly priority: Priority;
  readonly cause: RunCreated['cause'];
  readonly phase: RunPhase;
  readonly outcome: RunOutcome | null;
  readonly admitted: boolean;
  readonly setAside: boolean;
  readonly strikes: number;
  readonly strikeReason: string | null;
  readonly hasParams: boolean;
  readonly firesAt: Instant | null;
  /** Where its data interval begins; null for a run on demand, and for one of an older version. */
  readonly windowStart: Instant | null;
  readonly createdAt: Instant;
  readonly createdBy: string;
  readonly admittedAt: Instant | null;
  readonly closingAt: Instant | null;
  readonly closedBy: string | null;
  readonly endedAt: Instant | null;
  /** When it was found to be slow, and when its time was over. */
  readonly notes: RunNotes;
  /** The call that made it. */
  readonly parent: ParentRef | null;
  /** When and by whom it was last reopened after it had ended. */
  readonly reopenedAt: Instant | null;
  readonly reopenedBy: string | null;
  /** How often its own policy did so. */
  readonly retries: number;
  /** What of it is paused. */
  readonly pauses: readonly StoredPause[];
}

export const RUN_VIEW_COLUMNS = `r.run_id, r.uid, r.dag_id, d.name, r.version_no, r.priority, r.cause, r.phase, r.outcome,
    r.admitted, r.set_aside, r.strikes, r.strike_reason, r.has_params, r.fires_at, r.created_at, r.actor, r.admitted_at,
    r.closing_at, r.closing_actor, r.ended_at, r.parent, r.reopened_at, r.reopened_by, coalesce(r.retries, 0), r.pauses::text,
    r.notes, r.window_start`;
/** How many columns that are. */
export const RUN_VIEW_COUNT = 28;

export const instant = (value: string | null | undefined): Instant | null =>
  value === null || value === undefined ? null : (Number(value) as Instant);

export function parseRunView(row: Row): RunView {
  const [runId, uid, dagId, name, versionNo, priority, cause, phase, outcome, admitted, setAside, strikes, reason] =
    row;
  const [hasParams, firesAt, createdAt, actor, admittedAt, closingAt, closingActor, endedAt, parent] = row.slice(13);
  const [reopenedAt, reopenedBy, retries, pauses, notes, windowStart] = row.slice(22);
  return {
    runId: Number(runId) as RunId,
    shard: shardOfRun(Number(runId) as RunId),
    uid: uid as RunUid,
    dagId: Number(dagId) as DagId,
    dagName: decodeText(name ?? ''),
    versionNo: Number(versionNo) as VersionNo,
    priority: priorities.word(Number(priority)),
    cause: causes.word(Number(cause)),
    phase: phases.word(Number(phase)),
    outcome: outcome === null || outcome === undefined ? null : runOutcomes.word(Number(outcome)),
    admitted: admitted === 't',
    setAside: setAside === 't',
    strikes: Number(strikes),
    strikeReason: decodeNullableText(reason ?? null),
    hasParams: hasParams === 't',
    firesAt: instant(firesAt),
    windowStart: instant(windowStart),
    createdAt: Number(createdAt) as Instant,
    createdBy: decodeText(actor ?? ''),
    admittedAt: instant(admittedAt),
    closingAt: instant(closingAt),
    closedBy: decodeNullableText(closingActor ?? null),
    endedAt: instant(endedAt),
    parent: parent === null || parent === undefined ? null : (JSON.parse(parent) as ParentRef),
    reopenedAt: instant(reopenedAt),
    reopenedBy: decodeNullableText(reopenedBy ?? null),
    retries: Number(retries),
    pauses: readPauses(JSON.parse(pauses ?? 'null')),
    notes: (JSON.parse(notes ?? '{}') ?? {}) as RunNotes,
  };
}
