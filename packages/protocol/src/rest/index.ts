export * from './common.ts';
export * from './dag-definition.ts';
export * from './dag-spec.ts';
export * from './dags.ts';
export * from './references.ts';
export * from './runs.ts';
export * from './work.ts';
