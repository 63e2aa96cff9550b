export * from './fake-store/index.ts';
