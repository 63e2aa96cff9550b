/** One value that a condition uses. */

export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };
/** A value, or of one that is too large to be kept what kind it is of and how long. */
export type Fact = { readonly v: Json } | { readonly of: 'text' | 'list' | 'object'; readonly length: number };
export const NOTHING: Fact = { v: null };

/** Nothing, false, zero and whatever is empty do not count as true. */
export function isTruthy(fact: Fact): boolean {
  if ('of' in fact) return true;
  const { v } = fact;
  if (typeof v !== 'object' || v === null) return Boolean(v);
  return (Array.isArray(v) ? v.length : Object.keys(v).length) > 0;
}
