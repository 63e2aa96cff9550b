export type { Session } from './gateway/session.ts';
export { Host, type HostOptions, type HostPorts } from './host.ts';
export type { HistogramSeen } from './metrics/histogram.ts';
export type { HostMetrics } from './metrics/metrics.ts';
export type * from './peer/message.ts';
export { PEER_FORMAT } from './peer/message.ts';
export type * from './ports.ts';
export type { Routed } from './router.ts';
export { isKnownZone, tzVersion, zoneData } from './zones/intl-zones.ts';
