/** Schedules at scale: how late they fire, how fast they are registered, what many of them cost a server. */
export { dueAtOnce } from './at-once.ts';
export { bulkRegistration } from './bulk.ts';
export { nextTimes } from './next.ts';
export { registered } from './registered.ts';
export { spreadOverAnHour } from './spread.ts';
