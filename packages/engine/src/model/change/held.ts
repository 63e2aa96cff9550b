/** Events that wait: for others of their batch, or for a pause between them. One run is made of them. */
import type { Actor, DagId, RunUid, ShardNo, TenantId } from '../ids.ts';
import { type HeldRef, heldName } from '../trigger/held-ref.ts';
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
    openedAt: f.instant,
    /** When the run is made, unless more events change that. */
    firesAt: f.instant,
    actor: f.text<Actor>(),
    at: f.instant,
  },
  rows(change, rows: HeldRows) {
    const held = heldOf(rows, change);
    if (change.isDebounced) Object.assign(held, { clears: true, events: [] });
    held.events.push(change);
  },
  event: notTold,
});

/** The run was made, in the same commit. */
const eventsReleased = defineChange('EventsReleased', {
  no: 44,
  since: 5,
  fields: { ...heldFields, uid: f.uuid<RunUid>(), eventCount: f.uint(), at: f.instant },
  rows(change, rows: HeldRows) {
    Object.assign(heldOf(rows, change), { clears: true, events: [] });
  },
  event: ({ trigger, groupKey: key, uid: run, eventCount: events }) => ({
    kind: 'trigger.fired',
    details: { trigger, key, run, events },
  }),
});

/** The changes of held events of one trigger and key in a batch, folded. */
export interface HeldFold extends HeldRef {
  readonly shard: ShardNo;
  /** Rows of before go. */
  clears: boolean;
  events: EventHeld[];
}

export interface HeldRows {
  readonly held: Map<string, HeldFold>;
}

function heldOf({ held }: HeldRows, { shard, dagId, trigger, groupKey }: EventHeld | EventsReleased): HeldFold {
  const name = heldName({ dagId, trigger, groupKey });
  let fold = held.get(name);
  if (fold === undefined) {
    fold = { shard, dagId, trigger, groupKey, clears: false, events: [] };
    held.set(name, fold);
  }
  return fold;
}

export interface EventHeld extends ChangeOf<typeof eventHeld> {}
export interface EventsReleased extends ChangeOf<typeof eventsReleased> {}
export type HeldChange = EventHeld | EventsReleased;

export const heldChanges = [eventHeld, eventsReleased] as const;
