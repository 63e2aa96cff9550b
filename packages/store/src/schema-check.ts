import type { Database } from './database.ts';
import { assertSchema, readMigrations, SchemaError } from './migrate.ts';
import { call, statement } from './statement.ts';

const UNDEFINED_TABLE = '42P01';
const selectApplied = statement('select_applied', 'select no, checksum from schema_migration');

/** A node that does not know the schema refuses to serve (I63). */
export async function refuseOtherSchema(database: Database): Promise<void> {
  assertSchema(await readApplied(database), await readMigrations());
}

async function readApplied(database: Database): Promise<Map<number, string>> {
  try {
    const { rows } = await database.one(call(selectApplied));
    return new Map(rows.map(([no, checksum]) => [Number(no), checksum ?? '']));
  } catch (error) {
    if ((error as { code?: string }).code !== UNDEFINED_TABLE) throw error;
    throw new SchemaError('This database has no Signalbox schema: run the migrations before starting the server.');
  }
}
