/** Rows of `callback`, as a commit writes them. There are none if no dag has a callback. */
import type { CallbackDue } from '@signalbox/engine';
import { runOutcomes } from '../codes.ts';
import { type Call, call, rowsOf, statement } from '../statement.ts';
import { plainArray, textArray, uuidArray } from '../text.ts';
import { keyColumns } from './run.ts';

const insertCallbacks = statement(
  'insert_callbacks',
  `
  insert into callback (shard, run_id, at, dag_id, uid, tenant_id, outcome, url)
  ${rowsOf(
    'shard smallint',
    'run_id bigint',
    'at bigint',
    'dag_id bigint',
    'uid uuid',
    'tenant_id integer',
    'outcome smallint',
    'url text',
  )}`,
);

export function writeCallbacks(due: readonly CallbackDue[]): Call {
  return call(
    insertCallbacks,
    ...keyColumns(due),
    plainArray(due.map((one) => one.at)),
    plainArray(due.map((one) => one.dagId)),
    uuidArray(due.map((one) => one.uid)),
    plainArray(due.map((one) => one.tenantId)),
    plainArray(due.map((one) => runOutcomes.code(one.outcome))),
    textArray(due.map((one) => one.url)),
  );
}
