/**
 * Columns of numbers that grow. They are typed arrays; their types say which table's rows they are indexed by, so that the slot of a
 * task can't be used in a column of runs.
 */
import type { AttemptSlot, RunRow, TaskSlot } from '../model/ids.ts';

interface Column {
  readonly length: number;
}

export interface TaskColumn<Value extends number = number> extends Column {
  [slot: TaskSlot]: Value;
}

export interface RunColumn<Value extends number = number> extends Column {
  [run: RunRow]: Value;
}

export interface AttemptColumn<Value extends number = number> extends Column {
  [attempt: AttemptSlot]: Value;
}

type TypedArray = Float64Array | Uint32Array | Int32Array | Uint8Array | Uint16Array;

/** The same column with room for more. */
export function grown<T extends Column | TypedArray>(column: T, length: number): T {
  const array = column as unknown as TypedArray;
  const Kind = array.constructor as new (length: number) => TypedArray;
  const larger = new Kind(length);
  larger.set(array);
  return larger as unknown as T;
}

/** Copies `length` values of one column to a place in another. */
export function copyInto<T extends Column>(to: T, at: number, from: T, start: number, length: number): void {
  const values = (from as unknown as TypedArray).subarray(start, start + length);
  (to as unknown as TypedArray).set(values, at);
}
