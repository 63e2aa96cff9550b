export { ask } from './ask.ts';
export {
  copyDatabase,
  createDatabase,
  startTestPostgres,
  type TestPostgres,
  type TestPostgresOptions,
} from './test-postgres.ts';
