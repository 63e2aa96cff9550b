/** Turns the options of an undo or a hook into its definition and its function. */
import type { DagDefinition } from '@signalbox/protocol';
import { HOOK_EVENTS } from '@signalbox/protocol/words';
import type { Handler } from '../handler.ts';
import { DagMistake, type Place } from './mistake.ts';
import { plain } from './plain.ts';

export type SideDefinition = NonNullable<DagDefinition['tasks'][number]['undo']>;
type HooksDefinition = NonNullable<DagDefinition['hooks']>;

/** Puts the function of a side task among those of the dag. */
type Keep = (key: string, run: Handler) => void;

interface Naming {
  /** `<dag>/<task>:undo` */
  readonly key: string;
  readonly place: Place | null;
  readonly keep: Keep;
}

export function sideDefinition(side: unknown, { key, place, keep }: Naming): SideDefinition {
  if (typeof side === 'function') {
    keep(key, side as Handler);
    return { function: key };
  }
  if (typeof side !== 'object' || side === null) {
    throw new DagMistake(
      `${key} is not something that can run`,
      'Give a function, or { function }, { run } or { http }.',
      place,
    );
  }
  const { function: run, ...rest } = side as { readonly function?: unknown };
  const definition = plain(rest, '', place) as SideDefinition;
  if (run === undefined) return definition;
  if (typeof run !== 'function') throw new DagMistake(`function of ${key} is none`, 'Give the function.', place);
  keep(key, run as Handler);
  return { ...definition, function: key };
}

/** `owner`: `<dag>/<task>`, or `<dag>/run`. */
export function hooksDefinition(hooks: object, owner: string, place: Place | null, keep: Keep): HooksDefinition {
  const made = Object.entries(hooks).flatMap(([field, side]) => {
    if (side === undefined) return [];
    const suffix = HOOK_EVENTS.find((event) => event.field === field)?.suffix;
    if (suffix === undefined) {
      const known = HOOK_EVENTS.map((event) => event.field).join(', ');
      throw new DagMistake(`${owner} has a hook ${field}`, `The hooks are ${known}.`, place);
    }
    return [[field, sideDefinition(side, { key: `${owner}:${suffix}`, place, keep })]];
  });
  return Object.fromEntries(made) as HooksDefinition;
}
