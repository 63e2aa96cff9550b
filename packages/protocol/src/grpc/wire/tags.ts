/** A field on the wire begins with its number and how its value is written. */
export const VARINT = 0;
export const FIXED_64 = 1;
export const BYTES = 2;
export const FIXED_32 = 5;

/** Of a whole number, an enum or a truth. */
export const numberTag = (field: number): number => field * 8 + VARINT;
/** Of a text, bytes or a nested message. */
export const bytesTag = (field: number): number => field * 8 + BYTES;
