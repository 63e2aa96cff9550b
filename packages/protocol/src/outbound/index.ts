export { AddressPolicy, AddressRefused, type AllowEntry, parseAllow } from './address-policy.ts';
export { type ExchangeLimits, exchange, type HttpAnswer, type HttpRequest } from './exchange.ts';
