/** Where zone data comes from: a setting of the engine, so that all nodes of a cluster may use the same. */
import type { Instant } from '../ids.ts';
import type { ZoneData } from './zone-segments.ts';

/** Throws for a zone that it does not know. */
export type ZoneSource = (zone: string, from: Instant, until: Instant) => ZoneData;

/** Zone data may lose a name on upgrade. That schedule then has no windows; all others go on (I57). */
export class ZoneUnknown extends Error {}

/** Data of one zone over at least this span. */
export type ZoneReader = (fromMs: number, untilMs: number) => ZoneData;

export function zoneReader(zoneData: ZoneSource, zone: string): ZoneReader {
  return (fromMs, untilMs) => {
    const found = zoneOrNull(zoneData, zone, fromMs as Instant, untilMs as Instant);
    if (found === null) throw new ZoneUnknown(`The time zone ${JSON.stringify(zone)} is not known.`);
    return found;
  };
}

export function zoneOrNull(zoneData: ZoneSource, zone: string, from: Instant, until: Instant): ZoneData | null {
  try {
    return zoneData(zone, from, until);
  } catch {
    return null;
  }
}
