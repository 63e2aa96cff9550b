/** Columns of numbers that grow. */

type Column = Float64Array | Uint32Array | Int32Array | Uint8Array | Uint16Array;

/** The same column with room for more. */
export function grown<T extends Column>(column: T, length: number): T {
  const Kind = column.constructor as new (length: number) => T;
  const larger = new Kind(length);
  larger.set(column);
  return larger;
}
