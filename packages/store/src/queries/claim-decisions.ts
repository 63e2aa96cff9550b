/** What the matcher knew at some claims: written beside the commits, read by people, and removed after a day. */
import {
  type AttemptNo,
  type ClaimDecision,
  type ClaimRef,
  type Fence,
  type RunId,
  shardOfRun,
  type TaskNo,
  type WorkerId,
} from '@signalbox/engine';
import type { Database } from '../database.ts';
import { call, rowsOf, statement } from '../statement.ts';
import { plainArray, textArray, uuidArray } from '../text.ts';

const KEPT_HOURS = 24;
const ROWS_PER_STEP = 10_000;

export interface StoredDecision {
  readonly claim: ClaimRef;
  readonly workerId: WorkerId;
  readonly decision: ClaimDecision;
}

/** A server that is not sure whether it has written them writes them again. */
const insertDecisions = statement(
  'insert_claim_decisions',
  `
  insert into claim_decision (shard, run_id, task_no, fence, attempt_no, worker_id, decision)
  ${rowsOf('shard smallint', 'run_id bigint', 'task_no integer', 'fence bigint', 'attempt_no integer', 'worker_id uuid', 'decision json')}
  on conflict do nothing`,
);
/** Leans on the primary key. */
const selectDecisions = statement(
  'select_claim_decisions',
  `
  select fence, attempt_no, worker_id, decision from claim_decision
   where shard = $1::smallint and run_id = $2::bigint and task_no = $3::integer order by fence limit 1000`,
);
const dropOld = statement(
  'drop_old_claim_decisions',
  `
  with gone as (
    delete from claim_decision where ctid = any (array (
      select ctid from claim_decision where decided_at < clock_timestamp() - interval '${KEPT_HOURS} hours'
       limit ${ROWS_PER_STEP}))
    returning 1)
  select count(*) from gone`,
);

export async function keepDecisions(database: Database, kept: readonly StoredDecision[]): Promise<void> {
  if (kept.length === 0) return;
  const claims = kept.map(({ claim }) => claim);
  await database.write([
    call(
      insertDecisions,
      plainArray(claims.map(({ runId }) => shardOfRun(runId))),
      plainArray(claims.map(({ runId }) => runId)),
      plainArray(claims.map(({ taskNo }) => taskNo)),
      plainArray(claims.map(({ fence }) => fence)),
      plainArray(claims.map(({ attemptNo }) => attemptNo)),
      uuidArray(kept.map(({ workerId }) => workerId)),
      textArray(kept.map(({ decision }) => JSON.stringify(decision))),
    ),
  ]);
}

/** Oldest first. The run is one that the caller may see. */
export async function readDecisions(
  database: Database,
  { runId, taskNo }: { readonly runId: RunId; readonly taskNo: TaskNo },
): Promise<StoredDecision[]> {
  const { rows } = await database.one(call(selectDecisions, shardOfRun(runId), runId, taskNo));
  return rows.map(([fence, attemptNo, workerId, decision]) => ({
    claim: { runId, taskNo, fence: Number(fence) as Fence, attemptNo: Number(attemptNo) as AttemptNo },
    workerId: workerId as WorkerId,
    decision: JSON.parse(decision ?? 'null') as ClaimDecision,
  }));
}

/** One step; true while there may be more. */
export async function dropOldDecisions(database: Database): Promise<boolean> {
  const { rows } = await database.one(call(dropOld));
  return Number(rows[0]?.[0]) === ROWS_PER_STEP;
}
