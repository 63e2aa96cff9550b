/**
 * Maps: tasks that run once per item of a list. The type of the item comes from the list, and the results of the tasks are
 * lists.
 */
import type { MapMode } from '@signalbox/protocol';
import type { RefOf } from './ref.ts';
import type { Task } from './task-options.ts';

declare const PICKED: unique symbol;

/**
 * What all instances of a mapped task will have returned: one list, in the order of the items, the outer map's first. A path
 * into it picks from each: `load.output.rows` is a list with the rows of each.
 */
export type EachRef<T> = RefOf<T[]> & EachFields<T>;

type Absent<T> = Extract<T, null | undefined> extends never ? never : undefined;
type PickedRef<T> = RefOf<T[]> & { readonly [PICKED]: true } & EachFields<T>;
type EachFields<T> = unknown extends T
  ? unknown
  : NonNullable<T> extends readonly (infer Item)[]
    ? { readonly [index: number]: PickedRef<Item | Absent<T>> }
    : NonNullable<T> extends object
      ? { readonly [K in keyof NonNullable<T>]-?: PickedRef<NonNullable<T>[K] | Absent<T>> }
      : unknown;

/** A task of a map, as it is seen from outside the map: for `needs` and `inputs` of others. */
export interface MappedTask<Output = unknown> {
  readonly name: string;
  readonly output: EachRef<Output>;
  readonly isMapped: true;
}

/** A list, or where it comes from: params, what a task returns, or all that a mapped task returns (but not a part of each). */
export type MapSource = readonly unknown[] | (RefOf<readonly unknown[]> & { readonly [PICKED]?: never });

/** One list, or several by name: with `product` each with each, with `zip` the first with the first and so on. */
export type MapOver =
  | MapSource
  | { readonly over: MapSource | Readonly<Record<string, MapSource>>; readonly mode?: MapMode };

/** What lies in the lists: the type of `item`. */
export type ItemOf<Over> =
  Over extends RefOf<infer List>
    ? ItemIn<List>
    : Over extends readonly unknown[]
      ? ItemIn<Over>
      : Over extends { readonly over: infer Sources }
        ? Sources extends MapSource
          ? ItemOf<Sources>
          : { readonly [K in keyof Sources]: ItemOf<Sources[K]> }
        : never;
type ItemIn<List> = List extends readonly (infer Item)[] ? Item : never;

/** Tasks of a map, or several of them by name, as others see them; what is no task does not come out. */
export type Mapped<Made> =
  Made extends MappedTask<infer Output>
    ? MappedTask<Output>
    : Made extends Task<infer Output>
      ? MappedTask<Output>
      : Made extends Readonly<Record<string, unknown>>
        ? { readonly [K in keyof Made]: Mapped<Made[K]> }
        : undefined;
