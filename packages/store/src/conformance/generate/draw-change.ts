/**
 * Draws a change from the description of its kind. What must fit to earlier changes is given; every other field is drawn by
 * its coding, so a new field takes part without a line here.
 */
import { type Change, type Coding, type Field, type Fields, kindOf } from '@signalbox/engine';
import { ACTOR } from '../changes.ts';
import type { Chance } from './chance.ts';

export type ChangeKindName = Change['kind'];
export type ChangeNamed<Kind extends ChangeKindName> = Extract<Change, { readonly kind: Kind }>;
/** The fields that are not left to chance. `undefined` stands for a field that is absent. */
export type Given<Kind extends ChangeKindName> = {
  readonly [Name in keyof Omit<ChangeNamed<Kind>, 'kind'>]?: ChangeNamed<Kind>[Name] | undefined;
};

/** Texts that PostgreSQL keeps as JSON. */
const JSON_TEXTS: ReadonlySet<string> = new Set(['notes', 'facts', 'params', 'output', 'value', 'inputs']);

export function drawChange<Kind extends ChangeKindName>(
  kind: Kind,
  given: Given<Kind>,
  chance: Chance,
): ChangeNamed<Kind> {
  const { fields } = kindOf({ kind } as Change);
  return { kind, ...drawRecord(fields, given, chance) } as unknown as ChangeNamed<Kind>;
}

function drawRecord(fields: Fields, given: Readonly<Record<string, unknown>>, chance: Chance): Record<string, unknown> {
  const drawn: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(fields)) {
    const isVoid = field.onlyWith !== null && drawn[field.onlyWith] === null;
    const value = isVoid ? null : name in given ? given[name] : drawField(name, field, chance);
    if (value !== undefined) drawn[name] = value;
  }
  return drawn;
}

function drawField(name: string, { coding, isNullable, isOptional }: Field<unknown>, chance: Chance): unknown {
  if (isNullable && chance.is(0.5)) return isOptional ? undefined : null;
  return drawValue(name, coding, chance);
}

function drawValue(name: string, coding: Coding, chance: Chance): unknown {
  switch (coding.as) {
    case 'uint':
      return chance.below(10_000);
    case 'uintOrNull':
      // Few enough to meet again, large enough to need all of their bits.
      return chance.is(0.3) ? null : 2 ** 48 - 1 - chance.below(3);
    case 'instant':
      return chance.tick();
    case 'text':
    case 'omitted':
      return drawText(name, chance);
    case 'trace':
      return chance.is(0.4) ? null : drawText(name, chance);
    case 'flag':
      return chance.is(0.5);
    case 'mark':
      return chance.is(0.3) ? true : undefined;
    case 'word':
      return chance.one(coding.list.words);
    case 'record':
      return drawRecord(coding.fields, {}, chance);
    case 'list':
      return [];
    case 'uuid':
      return chance.uuid();
    case 'json':
      return { no: chance.below(1_000), "it's": '"\\ € {,}"' };
    case 'run':
      throw new Error(`The field ${name} can't be drawn: its rule must give it.`);
  }
}

function drawText(name: string, chance: Chance): string {
  if (name === 'actor') return ACTOR;
  const no = chance.below(1_000);
  return JSON_TEXTS.has(name) ? `{"no":${no},"it's":"\\\\ \\"€\\" {,}"}` : `it's "${no}" {x,}\\\n– λ`;
}
