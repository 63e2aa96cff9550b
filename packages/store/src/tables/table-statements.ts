/** The statements of a described table: set-based, by its primary key, each with a fixed text that is made once. */
import type { AnyTable, Column, Columns } from '@signalbox/engine';
import { phases } from '../codes.ts';
import { rowsOf, type Statement, statement } from '../statement.ts';
import { codesOfList, sqlTypeOf } from './column-values.ts';

/** A column with its names in the engine and in the database. */
export interface NamedColumn {
  readonly field: string;
  readonly name: string;
  readonly column: Column<unknown>;
}

interface TableStatements {
  readonly key: readonly NamedColumn[];
  /** What `remove` takes. */
  readonly removalKey: readonly NamedColumn[];
  /** All but the key that are stored. */
  readonly written: readonly NamedColumn[];
  /** What loads and fetches return, in their order. */
  readonly read: readonly NamedColumn[];
  readonly insert: Statement;
  readonly put: Statement;
  /** The parameter after the columns has a bit for each column that the patch writes, the next one how many rows there are. */
  readonly patch: Statement;
  readonly remove: Statement;
  /** By an array of shards, in the order of the key. */
  readonly load: Statement;
  /** By arrays of keys. */
  readonly fetch: Statement;
}

const ENDED = phases.code('ended');

/** Columns that are counted from other rows, by table and field. The row itself is `t`. */
const COUNTED: Readonly<Record<string, string>> = {
  // Among the runs of the backfill, by the index (shard, backfill): there are few backfills, and many live runs.
  'backfill.liveRuns': `(select count(*) from run r
      where r.shard = t.shard and r.backfill = t.uid and r.backfill is not null and r.phase <> ${ENDED} and not r.set_aside)`,
};

const made = new Map<AnyTable, TableStatements>();

export function statementsOf(table: AnyTable): TableStatements {
  let statements = made.get(table);
  if (statements === undefined) {
    statements = makeStatements(table);
    made.set(table, statements);
  }
  return statements;
}

function makeStatements(table: AnyTable): TableStatements {
  const { name, loaded } = table;
  const key = namedColumns(table.key);
  const columns = namedColumns(table.columns);
  const written = columns.filter(({ column }) => column.use !== 'counted');
  const read = [...key, ...columns.filter(({ column }) => column.use !== 'shown')];
  const removalKey = key.filter(({ field }) => table.removedBy.includes(field));
  const stored = [...key, ...written];
  const keyNames = key.map((column) => column.name).join(', ');
  const selected = read.map((column) => selectedOf(table, column)).join(', ');
  const insert = `
  insert into ${name} as t (${stored.map((column) => column.name).join(', ')})
  ${rowsOf(...stored.map(declared))}`;
  return {
    key,
    removalKey,
    written,
    read,
    insert: statement(`insert_${name}`, insert),
    put: statement(`put_${name}`, `${insert}\n  on conflict (${keyNames}) ${replacement(written)}`),
    patch: statement(`patch_${name}`, patchText(name, key, written)),
    remove: statement(
      `remove_${name}`,
      `
  delete from ${name} t using (${rowsOf(...removalKey.map(declared))}) u where ${joined(removalKey)}`,
    ),
    load: statement(
      `load_${name}`,
      `
  select ${selected} from ${name} t where t.shard = any ($1::smallint[])${loaded === null ? '' : ` and ${filterOf(table, loaded)}`}
   order by ${key.map((column) => `t.${column.name}`).join(', ')}`,
    ),
    fetch: statement(
      `fetch_${name}`,
      `
  select ${selected} from (${rowsOf(...key.map(declared))}) u join ${name} t on ${joined(key)}`,
    ),
  };
}

function patchText(name: string, key: readonly NamedColumn[], written: readonly NamedColumn[]): string {
  // A bit of an integer for each column.
  if (written.length > 31) throw new Error(`The table ${name} has more columns than a patch can name.`);
  const mask = { name: 'patched', type: 'integer' };
  const sets = written.map(
    ({ name: column }, i) =>
      `${column} = case when u.${mask.name} & ${2 ** i} <> 0 then u.${column} else t.${column} end`,
  );
  const parameters = [...[...key, ...written].map(declared), `${mask.name} ${mask.type}`];
  return `
  with hit as (
    update ${name} t set ${sets.join(', ')}
      from (${rowsOf(...parameters)}) u
     where ${joined(key)}
    returning 1)
  select expect_rows('patch_${name}', count(*), $${parameters.length + 1}::integer) from hit`;
}

function replacement(written: readonly NamedColumn[]): string {
  if (written.length === 0) return 'do nothing';
  const sets = written.map(({ name, column }) =>
    column.keepsIfNull ? `${name} = coalesce(excluded.${name}, t.${name})` : `${name} = excluded.${name}`,
  );
  return `do update set ${sets.join(', ')}`;
}

function selectedOf(table: AnyTable, { field, name, column }: NamedColumn): string {
  if (column.use !== 'counted') return column.coding.as === 'json' ? `t.${name}::text` : `t.${name}`;
  const counted = COUNTED[`${table.name}.${field}`];
  if (counted === undefined) throw new Error(`Nothing says how ${field} of ${table.name} is counted.`);
  return counted;
}

function filterOf(table: AnyTable, { column: field, words }: NonNullable<AnyTable['loaded']>): string {
  const column = table.columns[field];
  if (column?.coding.as !== 'word') throw new Error(`Rows of ${table.name} are chosen by ${field}, which is no word.`);
  const codes = codesOfList(column.coding.list);
  return `t.${columnName(field, column)} in (${words.map((word) => codes.code(word)).join(', ')})`;
}

const joined = (key: readonly NamedColumn[]): string => key.map(({ name }) => `t.${name} = u.${name}`).join(' and ');
const declared = ({ name, column }: NamedColumn): string => `${name} ${sqlTypeOf(column)}`;

function namedColumns(columns: Columns): NamedColumn[] {
  return Object.entries(columns).map(([field, column]) => ({ field, name: columnName(field, column), column }));
}

/** `groupKey` is `group_key`. */
function columnName(field: string, { name }: Column<unknown>): string {
  return name ?? field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
