/**
 * The future output of a task, while the dag is being defined: a path with a type and no value. As an input of another task
 * it becomes `${{ tasks.grind.output.grams }}`, and its type must be the one that the function declares.
 */
import { type Path, showPath } from '@signalbox/protocol/references';
import { DagMistake } from './mistake.ts';

declare const VALUE: unique symbol;
const TEXT: unique symbol = Symbol.for('signalbox.reference');
const MAPS: unique symbol = Symbol.for('signalbox.reference.maps');

/** @example const grams: Ref<number> = grind.output.grams; */
export type Ref<T, Mark = unknown> = IsAny<T> extends true ? T : RefOf<T> & Mark & FieldsOf<T, Mark>;

export interface RefOf<out T> {
  readonly [VALUE]: T;
}

declare const TASK: unique symbol;

/** Marks what a task returns: a task whose rule lets it run without the other gets null in its place. */
export interface OfTask {
  readonly [TASK]: true;
}

type IsAny<T> = 0 extends 1 & T ? true : false;
type Absent<T> = Extract<T, null | undefined> extends never ? never : undefined;

type FieldsOf<T, Mark> = unknown extends T
  ? unknown
  : NonNullable<T> extends readonly (infer Item)[]
    ? { readonly [index: number]: Ref<Item | Absent<T>, Mark> }
    : NonNullable<T> extends object
      ? { readonly [K in keyof NonNullable<T>]-?: Ref<NonNullable<T>[K] | Absent<T>, Mark> }
      : unknown;

const STEPS = /^(?:[^"\\\x00-\x1f]){1,200}$/;

/** `root` is what stands before the path: `tasks.grind.output` or `params`. `maps` are those that it means one item of. */
export function makeRef(root: string, maps: readonly string[] = [], path: Path = []): Ref<unknown> {
  const text = `\${{ ${root}${showPath(path)} }}`;
  return new Proxy(Object.freeze({}), {
    get: function get(_, step) {
      if (step === TEXT) return text;
      if (step === MAPS) return maps;
      if (step === Symbol.toPrimitive) {
        return function refuse() {
          throw new DagMistake(
            `${text} has no value yet: it is known only in a run`,
            'Give it to a task under inputs, and use it in the function of that task.',
            refuse,
          );
        };
      }
      if (typeof step === 'symbol') return undefined;
      if (!STEPS.test(step)) {
        throw new DagMistake(`the field ${JSON.stringify(step)} can't be named in a reference`, null, get);
      }
      return makeRef(root, maps, [...path, /^\d{1,9}$/.test(step) ? Number(step) : step]);
    },
  }) as unknown as Ref<unknown>;
}

/** How it is written in a definition; null when it is none. */
export function textOfRef(value: unknown): string | null {
  if (typeof value !== 'object' || value === null) return null;
  const text = (value as { readonly [TEXT]?: unknown })[TEXT];
  return typeof text === 'string' ? text : null;
}

/** The maps within which it stands for one value, outermost first; outside them it would stand for many. */
export function mapsOfRef(value: unknown): readonly string[] {
  const maps = textOfRef(value) === null ? undefined : (value as { readonly [MAPS]?: unknown })[MAPS];
  return Array.isArray(maps) ? (maps as string[]) : [];
}

/**
 * A secret by its name, for `env` of a process and `headers` of a call; it may stand within other text. The worker puts
 * the value in at the last moment: it is in no definition, event or log.
 *
 * @example http('notify', { url, headers: { authorization: `Bearer ${secret('API_KEY')}` } });
 */
export function secret(name: string): string {
  if (!/^[A-Za-z_][A-Za-z0-9_]{0,99}$/.test(name)) {
    throw new DagMistake(`${JSON.stringify(name)} is not a valid secret name`, 'Use a name such as API_KEY.', secret);
  }
  return `\${{ secrets.${name} }}`;
}
