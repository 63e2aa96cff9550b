export { ask } from './ask.ts';
export { createDatabase, startTestPostgres, type TestPostgres, type TestPostgresOptions } from './test-postgres.ts';
