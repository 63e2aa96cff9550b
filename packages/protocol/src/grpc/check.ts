/** The small checks that the parsers of the wire are made of. */
import { SignalboxError } from '../errors.ts';
import { WIRE_FORMAT } from './wire-format.ts';

export type Fields = Readonly<Record<string, unknown>>;

export function refuse(path: string, message: string): never {
  throw new SignalboxError('BAD_REQUEST', { problems: [{ path, message }] });
}

/** Before anything else is looked at: another format may mean other things by the same fields. */
export function requireFormat(format: unknown): void {
  if (format !== WIRE_FORMAT) {
    throw new SignalboxError('UNKNOWN_FORMAT', { format: String(format), known: String(WIRE_FORMAT) });
  }
}

export function isRecord(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isBytes(value: unknown): value is Buffer {
  return Buffer.isBuffer(value);
}

export function record(value: unknown, path: string): Fields {
  return isRecord(value) ? value : refuse(path, 'is missing');
}

export function list(value: unknown, path: string, most = Number.POSITIVE_INFINITY): readonly unknown[] {
  if (!Array.isArray(value)) return refuse(path, 'is not a list');
  return value.length <= most ? value : refuse(path, `has more than ${most} items`);
}

export function text(value: unknown, path: string, longest: number): string {
  if (typeof value !== 'string') return refuse(path, 'is not text');
  return value.length <= longest ? value : refuse(path, `is longer than ${longest} characters`);
}

export function filledText(value: unknown, path: string, longest: number): string {
  const found = text(value, path, longest);
  return found === '' ? refuse(path, 'is empty') : found;
}

/** How the decoder gives fields of 64 bits. */
function isLong(value: unknown): value is { toNumber(): number } {
  return typeof value === 'object' && value !== null && 'toNumber' in value;
}

/** A whole number from 0 up to what a number can hold exactly: beyond 2^53 two claims could look the same. */
export function count(value: unknown, path: string): number {
  const found = isLong(value) ? value.toNumber() : value;
  return Number.isSafeInteger(found) && (found as number) >= 0
    ? (found as number)
    : refuse(path, 'is not a whole number');
}

export function bytes(value: unknown, path: string, longest: number): Buffer {
  if (!isBytes(value)) return refuse(path, 'is not bytes');
  return value.length <= longest ? value : refuse(path, `is longer than ${longest} bytes`);
}
