/** Rows of `run`. Updates use the primary key (shard, run_id) of the partition. No updated column is in an index. */

import type { RunFold } from '@signalbox/engine';
import { type RunId, shardOfRun } from '@signalbox/engine';
import { causes, phases, priorities, runOutcomes } from '../codes.ts';
import { bigints, booleans, integers, smallints, uuids } from '../columns.ts';
import type { Leaf } from '../leaf.ts';
import { type Call, call, leafStatement, rowsOf, type Value } from '../statement.ts';
import { sparseTexts } from '../text.ts';
import { ROLLED_COLUMNS, rolledUp } from './rollup.ts';

const OPEN = phases.code('open');
const CLOSING = phases.code('closing');
const ENDED = phases.code('ended');

type Created = RunFold & { created: NonNullable<RunFold['created']> };

const CREATED_COLUMNS = [
  'shard smallint',
  'run_id bigint',
  'uid uuid',
  'tenant_id integer',
  'dag_id bigint',
  'version_no integer',
  'priority smallint',
  'cause smallint',
  'fires_at bigint',
  'admitted boolean',
  'admitted_at bigint',
  'has_params boolean',
  'actor text',
  'created_at bigint',
  'facts text',
  'parent text',
  'window_start bigint',
  'schedule_no integer',
] as const;
const CREATED_NAMES = CREATED_COLUMNS.map((column) => column.split(' ')[0]).join(', ');

/** Runs that were only created, and perhaps admitted: all that a batch of submissions writes. */
const insertRuns = leafStatement(
  'insert_runs',
  (leaf) => `
  insert into run_${leaf} (${CREATED_NAMES}, phase, strikes, set_aside)
  ${rowsOf(...CREATED_COLUMNS)}, ${OPEN}, 0, false`,
);

export function insertNewRuns(leaf: Leaf, runs: readonly Created[]): Call {
  return call(insertRuns(leaf), ...createdColumns(runs));
}

/** Runs that were created and also closed, ended or struck within the batch. */
const insertWholeRuns = leafStatement(
  'insert_whole_runs',
  (leaf) => `
  with made as (
    insert into run_${leaf} as r (${CREATED_NAMES}, phase, outcome, closing_at, closing_actor, ended_at, strikes, set_aside,
      strike_reason, struck_at, grace_ms)
    ${rowsOf(
      ...CREATED_COLUMNS,
      'phase smallint',
      'outcome smallint',
      'closing_at bigint',
      'closing_actor text',
      'ended_at bigint',
      'strikes smallint',
      'set_aside boolean',
      'strike_reason text',
      'struck_at bigint',
      'grace_ms integer',
    )}
    returning ${ROLLED_COLUMNS}),
  ${rolledUp('made')}
  select count(*) from made`,
);

export function insertChangedRuns(leaf: Leaf, runs: readonly Created[]): Call {
  return call(
    insertWholeRuns(leaf),
    ...createdColumns(runs),
    smallints(runs.map((run) => phaseOf(run) ?? OPEN)),
    smallints(runs.map(outcomeOf)),
    bigints(runs.map((run) => run.closing?.at ?? null)),
    sparseTexts(runs.map((run) => run.closing?.actor ?? null)),
    bigints(runs.map((run) => run.ended?.at ?? null)),
    smallints(runs.map((run) => run.struck?.strikes ?? 0)),
    booleans(runs.map((run) => run.struck?.setAside ?? false)),
    sparseTexts(runs.map((run) => run.struck?.reason ?? null)),
    bigints(runs.map((run) => run.struck?.at ?? null)),
    integers(runs.map((run) => run.closing?.graceMs ?? null)),
  );
}

/** Ends runs of which nothing else changed. */
const endRuns = leafStatement(
  'end_runs',
  (leaf) => `
  with hit as (
    update run_${leaf} r set phase = ${ENDED}, outcome = u.outcome, ended_at = u.ended_at
      from (${rowsOf('shard smallint', 'run_id bigint', 'outcome smallint', 'ended_at bigint')}) u
     where r.shard = u.shard and r.run_id = u.run_id
    returning ${ROLLED_COLUMNS}),
  ${rolledUp('hit')}
  select expect_rows('end_runs', count(*), $5::integer) from hit`,
);

export function endPlainRuns(leaf: Leaf, runs: readonly RunFold[]): Call {
  return call(
    endRuns(leaf),
    ...keyColumns(runs),
    smallints(runs.map(outcomeOf)),
    bigints(runs.map((run) => run.ended?.at ?? null)),
    runs.length,
  );
}

/** What is null was not changed: none of these columns goes back to null but by hand (`by-hand.ts`). */
const changeRuns = leafStatement(
  'change_runs',
  (leaf) => `
  with hit as (
    update run_${leaf} r set
        phase = coalesce(u.phase, r.phase), outcome = coalesce(u.outcome, r.outcome),
        admitted = r.admitted or u.admitted_at is not null, admitted_at = coalesce(u.admitted_at, r.admitted_at),
        closing_at = coalesce(u.closing_at, r.closing_at), closing_actor = coalesce(u.closing_actor, r.closing_actor),
        ended_at = coalesce(u.ended_at, r.ended_at),
        strikes = coalesce(u.strikes, r.strikes), set_aside = coalesce(u.set_aside, r.set_aside),
        strike_reason = coalesce(u.strike_reason, r.strike_reason), struck_at = coalesce(u.struck_at, r.struck_at),
        grace_ms = coalesce(u.grace_ms, r.grace_ms)
      from (${rowsOf(
        'shard smallint',
        'run_id bigint',
        'phase smallint',
        'outcome smallint',
        'admitted_at bigint',
        'closing_at bigint',
        'closing_actor text',
        'ended_at bigint',
        'strikes smallint',
        'set_aside boolean',
        'strike_reason text',
        'struck_at bigint',
        'grace_ms integer',
      )}) u
     where r.shard = u.shard and r.run_id = u.run_id
    returning ${ROLLED_COLUMNS}, u.ended_at as ends_at),
  ended as (select * from hit where ends_at is not null),
  ${rolledUp('ended')}
  select expect_rows('change_runs', count(*), $14::integer) from hit`,
);

export function changeKnownRuns(leaf: Leaf, runs: readonly RunFold[]): Call {
  return call(
    changeRuns(leaf),
    ...keyColumns(runs),
    smallints(runs.map(phaseOf)),
    smallints(runs.map(outcomeOf)),
    bigints(runs.map((run) => run.admitted?.at ?? null)),
    bigints(runs.map((run) => run.closing?.at ?? null)),
    sparseTexts(runs.map((run) => run.closing?.actor ?? null)),
    bigints(runs.map((run) => run.ended?.at ?? null)),
    smallints(runs.map((run) => run.struck?.strikes ?? null)),
    booleans(runs.map((run) => run.struck?.setAside ?? null)),
    sparseTexts(runs.map((run) => run.struck?.reason ?? null)),
    bigints(runs.map((run) => run.struck?.at ?? null)),
    integers(runs.map((run) => run.closing?.graceMs ?? null)),
    runs.length,
  );
}

export function keyColumns(items: readonly { readonly runId: RunId }[]): [Value, Value] {
  return [smallints(items.map((item) => shardOfRun(item.runId))), bigints(items.map((item) => item.runId))];
}

function createdColumns(runs: readonly Created[]): Value[] {
  const created = runs.map((run) => run.created);
  return [
    ...keyColumns(runs),
    uuids(created.map((run) => run.uid)),
    integers(created.map((run) => run.tenantId)),
    bigints(created.map((run) => run.dagId)),
    integers(created.map((run) => run.versionNo)),
    smallints(created.map((run) => priorities.code(run.priority))),
    smallints(created.map((run) => causes.code(run.cause))),
    bigints(created.map((run) => run.firesAt)),
    booleans(runs.map((run) => run.created.admitted || run.admitted !== null)),
    bigints(runs.map((run) => (run.created.admitted ? run.created.at : (run.admitted?.at ?? null)))),
    booleans(created.map((run) => run.params !== null)),
    sparseTexts(created.map((run) => run.actor)),
    bigints(created.map((run) => run.at)),
    sparseTexts(created.map((run) => run.facts)),
    sparseTexts(created.map((run) => (run.parent === undefined ? null : JSON.stringify(run.parent)))),
    bigints(created.map((run) => run.windowStart ?? null)),
    integers(created.map((run) => run.scheduleNo ?? null)),
  ];
}

function phaseOf({ closing, ended }: RunFold): number | null {
  if (ended !== null) return ENDED;
  return closing !== null ? CLOSING : null;
}

function outcomeOf({ closing, ended }: RunFold): number | null {
  const outcome = ended?.outcome ?? closing?.outcome;
  return outcome === undefined ? null : runOutcomes.code(outcome);
}
