/** From a change of the journal to the event that users are told: the description of its kind says how. */
import { type Change, type ToldChange, tellChange } from '@signalbox/engine';
import type { EventKind } from '@signalbox/protocol';
import { toIsoOrNull } from '../iso-instants.ts';

/** The protocol has a word for each event of the engine: another does not compile. */
export interface Told extends ToldChange {
  readonly kind: ToldChange['kind'] & EventKind;
}

/** Null: the change only matters inside. */
export function describe(change: Change): Told | null {
  return tellChange(change, toIsoOrNull);
}
