/** Apart from the package's root, so that a client of the REST API does not pay 0.15 s for loading gRPC. */
export * from './api-proto.ts';
export * from './data-messages.ts';
export * from './data-parse.ts';
export * from './data-proto.ts';
export { MALFORMED, orMalformed } from './malformed.ts';
export * from './node-proto.ts';
export * from './parse.ts';
export * from './peer-proto.ts';
export * from './worker-messages.ts';
export * from './worker-proto.ts';
