/** The type of a value after it was converted to JSON and back: this is what the next task receives. */

type IsAny<T> = 0 extends 1 & T ? true : false;
type Dropped = undefined | symbol | ((...args: never) => unknown);

/** @example type T = Jsonified<{ at: Date; note?: string; go(): void }>; // { at: string; note?: string } */
export type Jsonified<T> =
  IsAny<T> extends true
    ? T
    : unknown extends T
      ? T
      : T extends { toJSON(...args: never): infer Json }
        ? Jsonified<Json>
        : T extends string | number | boolean | null
          ? T
          : T extends bigint
            ? never
            : // biome-ignore lint/suspicious/noConfusingVoidType: a function that returns nothing has this type
              T extends void | Dropped
              ? null
              : T extends readonly unknown[]
                ? { [K in keyof T]: Jsonified<T[K]> }
                : T extends ReadonlyMap<unknown, unknown> | ReadonlySet<unknown>
                  ? Record<string, never>
                  : T extends object
                    ? JsonifiedFields<T>
                    : never;

/** A field that holds no JSON is not written at all; one that may hold none may be missing. */
type JsonifiedFields<T extends object> = {
  -readonly [K in keyof T as K extends string | number
    ? [Exclude<T[K], Dropped>] extends [never]
      ? [T[K]] extends [never]
        ? K
        : never
      : undefined extends T[K]
        ? unknown extends T[K]
          ? K
          : never
        : K
    : never]: Jsonified<Exclude<T[K], Dropped>>;
} & {
  -readonly [K in keyof T as K extends string | number
    ? [Exclude<T[K], Dropped>] extends [never]
      ? never
      : undefined extends T[K]
        ? unknown extends T[K]
          ? never
          : K
        : never
    : never]?: Jsonified<Exclude<T[K], Dropped>>;
};
