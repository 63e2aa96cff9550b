/** Turns a change of the journal into the event that users see. The description of its kind says how. */
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
