/** The zone data that the edge shows schedules by: that of the cluster, once the thread has read it. */
import type { ZoneSource } from '@signalbox/engine';
import { OWN_ZONES } from './zone-book.ts';

let source: ZoneSource = OWN_ZONES.source;

/** The edge has a thread, and so this module, of its own. */
export function showZonesOf(cluster: ZoneSource): void {
  source = cluster;
}

export const zoneData: ZoneSource = (zone, from, until) => source(zone, from, until);
