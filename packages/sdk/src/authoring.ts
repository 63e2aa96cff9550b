/**
 * What a file of dags needs, and nothing else. In a bundle, `@signalbox/sdk` means this file, so neither the client nor a
 * parser is included. A file that imports more gets the whole package.
 */
export * from './dag/index.ts';
export * from './handler.ts';
export * from './sinks/index.ts';
