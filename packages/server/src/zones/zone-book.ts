/**
 * The zone data of the cluster, in memory. The engine asks for it in the middle of a step, so all zones that were ever used are
 * read at the start. A zone that is used for the first time is answered from the data of this runtime, and stored; where
 * another node was faster and has other data, that counts from then on. The version is looked at again and again: when it was
 * raised, everything is read anew.
 */
import type { Instant, NodeId, ZoneData, ZoneSource } from '@signalbox/engine';
import type { Log } from '@signalbox/host';
import { zoneData as intlZoneData, tzVersion } from '@signalbox/protocol/zones';
import type { ClusterZones } from '@signalbox/store';

/** What a stored zone covers. What lies outside is answered from this runtime. */
const STORED_FROM = -31_536_000_000 as Instant; // 1969-01-01
const STORED_UNTIL = 4_133_894_400_000 as Instant; // 2100-12-31
const LOOK_MS = 5_000;

interface ZoneStore {
  readZoneVersion(): Promise<string | null>;
  readZones(ownVersion: string): Promise<ClusterZones>;
  keepZone(zone: ZoneData): Promise<ZoneData>;
  noteZoneVersion(nodeId: NodeId, version: string): Promise<void>;
}

export interface OwnZones {
  readonly version: string;
  readonly source: ZoneSource;
}

export const OWN_ZONES: OwnZones = { version: tzVersion, source: intlZoneData };

interface ZoneBookParts {
  readonly store: ZoneStore;
  readonly tell: Log;
  /** Null for a thread that is no node of its own. */
  readonly nodeId: NodeId | null;
  /** Windows that were computed by other data are in memory: they must be computed again. */
  readonly onChanged: (reason: string) => void;
  readonly own?: OwnZones;
}

export class ZoneBook {
  readonly #parts: ZoneBookParts;
  readonly #own: OwnZones;
  #version = '';
  #zones = new Map<string, ZoneData>();
  #before: ClusterZones['before'] = new Map();
  #timer: NodeJS.Timeout | null = null;
  readonly #keeping = new Set<Promise<void>>();
  /** Zones that are used for the first time: what is stored of them may be of another node. */
  readonly #unsure = new Set<string>();

  constructor(parts: ZoneBookParts) {
    this.#parts = parts;
    this.#own = parts.own ?? OWN_ZONES;
  }

  get version(): string {
    return this.#version;
  }

  async start(): Promise<void> {
    await this.#read();
    this.#timer = setInterval(() => void this.runOnce().catch(() => undefined), LOOK_MS);
    this.#timer.unref();
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
  }

  /** Looks whether the version was raised. A database that is away is asked again. */
  async runOnce(): Promise<void> {
    const { store, nodeId, onChanged } = this.#parts;
    if (nodeId !== null) await store.noteZoneVersion(nodeId, this.#own.version);
    if ((await store.readZoneVersion()) === this.#version) return;
    await this.#read();
    onChanged(`the cluster decides by zone data ${this.#version}`);
  }

  /** Until all that was used for the first time is stored. */
  async settled(): Promise<void> {
    while (this.#keeping.size > 0) await Promise.all(this.#keeping);
  }

  /** Throws for a zone that is not known. */
  readonly source: ZoneSource = (zone, from, until) => {
    const known = this.#zones.get(zone.toLowerCase()) ?? this.#use(zone);
    return until < known.untilMs && from >= known.fromMs ? known : this.#own.source(zone, from, until);
  };

  /** The data of a version before, while schedules of some shard were decided by it. */
  readonly sourceOf = (version: string): ZoneSource | null => {
    const zones = this.#before.get(version);
    if (zones === undefined) return null;
    return (zone) => {
      const known = zones.get(zone.toLowerCase());
      if (known === undefined) throw new RangeError(`the zone ${zone} was not used with zone data ${version}`);
      return known;
    };
  };

  /** What is computed by the data of this zone may be stored. */
  readonly isSure = (zone: string): boolean => {
    const name = zone.toLowerCase();
    return this.#zones.has(name) && !this.#unsure.has(name);
  };

  #use(zone: string): ZoneData {
    const found = { ...this.#own.source(zone, STORED_FROM, STORED_UNTIL), zone: zone.toLowerCase() };
    this.#zones.set(found.zone, found);
    this.#unsure.add(found.zone);
    const keeping = this.#keep(found).finally(() => this.#keeping.delete(keeping));
    this.#keeping.add(keeping);
    return found;
  }

  async #keep(used: ZoneData): Promise<void> {
    const { store, tell, onChanged } = this.#parts;
    try {
      const stored = await store.keepZone(used);
      this.#unsure.delete(used.zone);
      this.#zones.set(used.zone, stored);
      if (isSameData(used, stored)) return;
      tell('warn', 'This server has other time zone data than the cluster.', {
        zone: used.zone,
        cluster: stored.tzVersion,
      });
      onChanged(`the cluster has other data for ${used.zone}`);
    } catch {
      // Used as it is until the database is back: the next use stores it.
      this.#zones.delete(used.zone);
    }
  }

  async #read(): Promise<void> {
    const { version, zones, before } = await this.#parts.store.readZones(this.#own.version);
    this.#version = version;
    this.#zones = new Map(zones);
    this.#before = before;
  }
}

function isSameData(a: ZoneData, b: ZoneData): boolean {
  if (a.initialOffsetMs !== b.initialOffsetMs || a.transitions.length !== b.transitions.length) return false;
  return a.transitions.every(({ atMs, offsetMs }, i) => {
    const other = b.transitions[i];
    return other?.atMs === atMs && other.offsetMs === offsetMs;
  });
}

/** What a node's own runtime has of zones that the cluster uses, to raise the cluster's version by. */
export async function ownDataOf(zones: Iterable<string>, own: OwnZones = OWN_ZONES): Promise<ZoneData[]> {
  const found: ZoneData[] = [];
  for (const zone of zones) {
    // A zone takes some 30 ms: others get their turn in between.
    await new Promise((resolve) => setImmediate(resolve));
    found.push({ ...own.source(zone, STORED_FROM, STORED_UNTIL), zone });
  }
  return found;
}
