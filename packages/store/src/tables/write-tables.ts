/** The calls that write the rows of described tables: at most four per table that the batch touches. */
import type { AnyRow, FoldedTables, TableFold } from '@signalbox/engine';
import { type Call, call } from '../statement.ts';
import { plainArray } from '../text.ts';
import { arrayOf } from './column-values.ts';
import { type NamedColumn, statementsOf } from './table-statements.ts';

export function writeTables(folds: FoldedTables): Call[] {
  const calls: Call[] = [];
  for (const fold of folds.all()) calls.push(...writeTable(fold));
  return calls;
}

/** Rows that go go first: others may come in their place. */
function writeTable(fold: TableFold): Call[] {
  const { key, removalKey, written, remove, insert, put, patch } = statementsOf(fold.table);
  const calls: Call[] = [];
  const removed = fold.removed();
  if (removed.length > 0) calls.push(call(remove, ...arrays(removalKey, removed)));
  for (const [as, statement] of [
    ['insert', insert],
    ['put', put],
  ] as const) {
    const rows = fold.written(as);
    if (rows.length > 0) calls.push(call(statement, ...arrays([...key, ...written], rows)));
  }
  const patched = fold.written('patch');
  if (patched.length > 0) {
    const masks = plainArray(patched.map((row) => maskOf(written, row)));
    calls.push(call(patch, ...arrays([...key, ...written], patched), masks, patched.length));
  }
  return calls;
}

/** Shared with reads: the values of each column. */
export function arrays(columns: readonly NamedColumn[], rows: readonly AnyRow[]): string[] {
  return columns.map(({ field, column }) =>
    arrayOf(
      column,
      rows.map((row) => row[field]),
    ),
  );
}

function maskOf(written: readonly NamedColumn[], row: AnyRow): number {
  let mask = 0;
  for (const [i, { field }] of written.entries()) if (field in row) mask += 2 ** i;
  return mask;
}
