/** Events that wait: for others of their batch, or for a pause between them. One run is made of them. */
import type { Actor, DagId, RunUid, ShardNo, TenantId } from '../ids.ts';
import { c } from '../table/column.ts';
import { defineTable, type RowOf } from '../table/define-table.ts';
import { type ChangeOf, defineChange, notTold } from './define.ts';
import { f } from './fields.ts';

const heldFields = {
  shard: f.uint<ShardNo>(),
  dagId: f.uint<DagId>(),
  /** Name of the trigger. */
  trigger: f.text(),
  /** Value of the trigger's `key` for the event; empty for none. */
  groupKey: f.text(),
} as const;

/** A row for each event that waits; of debounced ones only for the last. Events that wait together go together. */
export const heldEvents = defineTable('trigger_pending', {
  key: {
    shard: c.shard,
    dagId: c.int64<DagId>(),
    trigger: c.named('trigger_name', c.text()),
    groupKey: c.text(),
    eventNo: c.int32(),
  },
  columns: {
    tenantId: c.int32<TenantId>(),
    uid: c.uuid<RunUid>(),
    isDebounced: c.named('debounced', c.flag),
    openedAt: c.instant,
    firesAt: c.instant,
    heldAt: c.instant,
    actor: c.text<Actor>(),
    params: c.nullable(c.text()),
  },
  removedBy: ['shard', 'dagId', 'trigger', 'groupKey'],
  load: 'heads',
  bringsDag: true,
});

/** An event was accepted, and is in the run that is made of it and others later: never lost, never in two (I10). */
const eventHeld = defineChange('EventHeld', {
  no: 43,
  since: 5,
  fields: {
    ...heldFields,
    tenantId: f.uint<TenantId>(),
    /** Of the run that will be. */
    uid: f.uuid<RunUid>(),
    /** How many events came before it. */
    eventNo: f.uint(),
    /** Only the last event is kept: what came before it is counted. */
    isDebounced: f.flag,
    params: f.trace,
    /** When the first event came, and when the run is made unless more events change that: both by the clock of `at`. */
    openedAt: f.instant,
    firesAt: f.instant,
    actor: f.text<Actor>(),
    at: f.instant,
  },
  tables(change, tables) {
    const { kind: _kind, at: heldAt, ...event } = change;
    if (event.isDebounced) tables.remove(heldEvents, event);
    tables.insert(heldEvents, { ...event, heldAt });
  },
  event: notTold,
});

/** The run was made, in the same commit. */
const eventsReleased = defineChange('EventsReleased', {
  no: 44,
  since: 5,
  fields: { ...heldFields, uid: f.uuid<RunUid>(), eventCount: f.uint(), at: f.instant },
  tables: (change, tables) => tables.remove(heldEvents, change),
  event: ({ trigger, groupKey: key, uid: run, eventCount: events }) => ({
    kind: 'trigger.fired',
    details: { trigger, key, run, events },
  }),
});

/** An event that waits for others. */
export type StoredHeldEvent = RowOf<typeof heldEvents>;

export interface EventHeld extends ChangeOf<typeof eventHeld> {}
export interface EventsReleased extends ChangeOf<typeof eventsReleased> {}
export type HeldChange = EventHeld | EventsReleased;

export const heldChanges = [eventHeld, eventsReleased] as const;
export const heldTables = { heldEvents } as const;
