import type { Actor, RunId } from '../ids.ts';
import { type ChangeOf, defineChange, notTold } from './define.ts';
import { f } from './fields.ts';

/**
 * A map has so many instances from here on, once (I34): numbered from `firstNo` on, instance by instance. None at all: the
 * run would have too many tasks.
 */
const mapExpanded = defineChange('MapExpanded', {
  no: 22,
  fields: {
    runId: f.run,
    group: f.uint(),
    /** The number of the first task of the instance around it; null for the run itself. */
    scope: f.nullable(f.uint()),
    firstNo: f.uint(),
    total: f.uint(),
    at: f.instant,
  },
  rows(change, rows: MapRows) {
    mapOf(rows, change).expanded = change;
    // The run has rows beside its own: a load looks for them where it looks for tasks.
    rows.runOf(change.runId).claimed = true;
  },
  event: ({ group, scope, firstNo, total }) => ({ kind: 'map.expanded', details: { group, scope, firstNo, total } }),
});

/** Instances up to this one, without it, are there: a large map comes in parts. */
const mapUnfolded = defineChange('MapUnfolded', {
  no: 23,
  fields: {
    runId: f.run,
    /** Of its expansion. */
    firstNo: f.uint(),
    until: f.uint(),
    at: f.instant,
  },
  rows(change, rows: MapRows) {
    mapOf(rows, change).until = change.until;
  },
  event: notTold,
});

/**
 * What the map runs over is to come anew: its instances, and what expanded in them, are no longer part of the run. Their rows
 * stay to be read, their numbers are not used again.
 */
const mapRemoved = defineChange('MapRemoved', {
  no: 24,
  fields: { runId: f.run, firstNo: f.uint(), actor: f.text<Actor>(), at: f.instant },
  rows(change, rows: MapRows) {
    mapOf(rows, change).removed = change;
  },
  event: ({ firstNo, actor }) => ({ kind: 'map.removed', details: { firstNo, actor } }),
});

/** What became of one expansion of a map in a batch. */
export interface MapFold {
  readonly runId: RunId;
  readonly firstNo: number;
  expanded: MapExpanded | null;
  /** Instances that are there at the end of the batch; null when that was not changed. */
  until: number | null;
  removed: MapRemoved | null;
}

export interface MapRows {
  runOf(runId: RunId): { claimed: boolean };
  readonly maps: Map<string, MapFold>;
}

function mapOf({ maps }: MapRows, { runId, firstNo }: { readonly runId: RunId; readonly firstNo: number }): MapFold {
  const key = `${runId}/${firstNo}`;
  let map = maps.get(key);
  if (map === undefined) {
    map = { runId, firstNo, expanded: null, until: null, removed: null };
    maps.set(key, map);
  }
  return map;
}

export interface MapExpanded extends ChangeOf<typeof mapExpanded> {}
export interface MapUnfolded extends ChangeOf<typeof mapUnfolded> {}
export interface MapRemoved extends ChangeOf<typeof mapRemoved> {}
export type MapChange = MapExpanded | MapUnfolded | MapRemoved;

export const mapChanges = [mapExpanded, mapUnfolded, mapRemoved] as const;
