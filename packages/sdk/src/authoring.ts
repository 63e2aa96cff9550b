/**
 * What a file of dags needs, and nothing else: it is what `@signalbox/sdk` means in a bundle, so that neither the client nor
 * a parser goes along. A file that imports more gets the whole package.
 */
export * from './dag/index.ts';
export * from './handler.ts';
export * from './sinks/index.ts';
