export { createDatabase, startTestPostgres, type TestPostgres, type TestPostgresOptions } from './test-postgres.ts';
