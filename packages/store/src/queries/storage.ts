/** The size of the database. It uses file sizes, so nothing is scanned. */
import type { Database } from '../database.ts';
import { call, statement } from '../statement.ts';

export interface Storage {
  readonly databaseBytes: number;
  /** Largest first; partitions count for their table. */
  readonly tables: readonly { readonly name: string; readonly bytes: number }[];
}

const selectDatabaseSize = statement('database_size', 'select pg_database_size(current_database())');
const selectTableSizes = statement(
  'table_sizes',
  `
  select coalesce(parent.relname, t.relname), sum(pg_total_relation_size(t.oid))
    from pg_class t
    left join pg_inherits i on i.inhrelid = t.oid
    left join pg_class parent on parent.oid = i.inhparent
   where t.relkind = 'r' and t.relnamespace = current_schema()::regnamespace
   group by 1 order by 2 desc, 1`,
);

export async function readStorage(database: Database): Promise<Storage> {
  const [size, tables] = await database.run([call(selectDatabaseSize), call(selectTableSizes)]);
  return {
    databaseBytes: Number(size?.rows[0]?.[0]),
    tables: (tables?.rows ?? []).map(([name, bytes]) => ({ name: name ?? '', bytes: Number(bytes) })),
  };
}
