import type { ChangeKindName, ChangeNamed, Given } from './draw-change.ts';
import type { World } from './world.ts';

/** Says when a change of a kind is valid, and which of its fields that fixes. */
export interface Rule<Kind extends ChangeKindName> {
  /** How often, compared to other kinds; 1 unless told. 0 for kinds that only come with another. */
  readonly weight?: number;
  /** Null where nothing is as the kind needs it. May emit what has to come before. */
  readonly given: (world: World) => Given<Kind> | null;
  /** Emits what comes with it. */
  readonly then?: (world: World, change: ChangeNamed<Kind>) => void;
}

export type Rules = { readonly [Kind in ChangeKindName]?: Rule<Kind> };
