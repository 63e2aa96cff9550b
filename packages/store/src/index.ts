export type { Log } from './database.ts';
export { ReadOnlyServerError } from './database.ts';
export { migrate, SchemaError } from './migrate.ts';
export * from './port.ts';
export { openPostgresStore, type PostgresStore, type PostgresStoreOptions } from './postgres-store.ts';
