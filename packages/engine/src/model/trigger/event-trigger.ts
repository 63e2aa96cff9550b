/** The triggers of a dag: which events start runs of it, and how. */
import { type AssetTriggerSpec, assetKey } from '../asset.ts';
import type { Expression } from '../dag/expression.ts';

/** A condition over an event: its params are the values at the paths. */
export interface EventCondition {
  readonly text: string;
  readonly expression: Expression;
  readonly paths: readonly (readonly (string | number)[])[];
}

export interface EventTrigger {
  /** Unique within the dag, and part of the idempotency key of the runs that it starts. */
  readonly name: string;
  /** A type, or with a star at its end the beginning of types. */
  readonly type: string;
  /** The same for sources. */
  readonly source?: string;
  readonly where?: EventCondition;
  /** JSON with references to the event; the data of the event unless told. The engine never looks inside. */
  readonly params?: unknown;
  /** What makes two events one; source and id unless told. */
  readonly dedupe?: string;
  /** One run for so many events, or for those of so long. */
  readonly batch?: { readonly max: number; readonly withinMs: number; readonly key?: string };
  /** One run, with the last event, once no other has come for so long. */
  readonly debounce?: { readonly waitMs: number; readonly atMostMs: number; readonly key?: string };
  /** It starts nothing: an event that it takes was expected. */
  readonly isExpectation?: true;
  /** It waits for these assets, and takes no events. */
  readonly assets?: AssetTriggerSpec;
}

/** As specs have them: those of before triggers had more than a name are read for ever. */
export type OnSpec = { readonly event: string } | readonly EventTrigger[];

export function triggersOf({ on }: { readonly on?: OnSpec }): readonly EventTrigger[] {
  if (on === undefined) return [];
  return 'event' in on ? [{ name: on.event, type: on.event }] : on;
}

/** By the type that they wait for: a row of the table of triggers has those of one dag and one type. */
export function triggersByType(triggers: readonly EventTrigger[]): ReadonlyMap<string, readonly EventTrigger[]> {
  const byType = new Map<string, EventTrigger[]>();
  for (const trigger of triggers) {
    for (const type of trigger.assets?.names.map(assetKey) ?? [trigger.type]) {
      const same = byType.get(type);
      if (same === undefined) byType.set(type, [trigger]);
      else same.push(trigger);
    }
  }
  return byType;
}

/** The types under which triggers of an event of this type are found: its own, and those with a star at a dot. */
export function patternsOf(type: string): readonly string[] {
  const patterns = [type, '*'];
  for (let at = type.indexOf('.'); at >= 0; at = type.indexOf('.', at + 1)) {
    patterns.push(`${type.slice(0, at + 1)}*`);
  }
  return patterns;
}
