/** Sinks: outside systems in which something must happen once, however often its task is retried. */
export { type EffectFetchOptions, effectFetch } from './effect-fetch.ts';
export { createOutbox, type OutboxClient, type OutboxOptions, once, outboxTable, withOutbox } from './outbox.ts';
