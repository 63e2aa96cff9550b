export * from './errors.ts';
export * from './limits.ts';
export * from './rest/index.ts';
export * from './words.ts';
