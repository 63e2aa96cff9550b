export type * from './change.ts';
export * from './dag/spec.ts';
export * from './ids.ts';
export * from './run/phase.ts';
export type * from './stored.ts';
export * from './task/outcome.ts';
