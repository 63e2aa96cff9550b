export * from './errors.ts';
export * from './exact-json.ts';
export * from './files-archive.ts';
export * from './limits.ts';
export { type CheckedParams, checkParams } from './params/check.ts';
export { CheckBudget } from './params/check-budget.ts';
export type { ParamsSchema } from './params/params-schema.ts';
export * from './rest/index.ts';
export * from './words.ts';
