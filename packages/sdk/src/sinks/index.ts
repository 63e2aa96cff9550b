/** The first sinks: outside systems in which a thing is to happen once, however often its task is tried. */
export { type EffectFetchOptions, effectFetch } from './effect-fetch.ts';
export { createOutbox, type OutboxClient, type OutboxOptions, once, outboxTable, withOutbox } from './outbox.ts';
