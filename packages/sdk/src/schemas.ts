/**
 * The schemas of answers, loaded with the first request. A file that only defines dags also imports this package, and should
 * not wait for parsers that it never uses.
 */
export type Schemas = typeof import('@signalbox/protocol');

export interface Parser<T> {
  safeParse(
    input: unknown,
  ): { readonly success: true; readonly data: T } | { readonly success: false; readonly error: unknown };
}

let loading: Promise<Schemas> | null = null;

export function loadSchemas(): Promise<Schemas> {
  loading ??= import('@signalbox/protocol');
  return loading;
}
