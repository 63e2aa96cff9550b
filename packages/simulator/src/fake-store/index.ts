export { Violation } from '@signalbox/engine/testing';
export { FakeDatabaseError } from './call.ts';
export { FakeDatabase, type FakeDatabaseOptions, type Outage } from './database.ts';
export { FakeStore, type FakeStoreOptions } from './fake-store.ts';
export * from './faults.ts';
export type * from './journal.ts';
export type * from './scheduler.ts';
