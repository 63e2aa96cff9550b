/**
 * Errors that say which class of failure they are. They are known by a mark and not by their class: user code may load another
 * copy of this package than the worker does.
 */
const PERMANENT: unique symbol = Symbol.for('signalbox.permanent');
const FAILURE: unique symbol = Symbol.for('signalbox.failure');

/** Who throws it decides whether another attempt may mend it, when, and what it needs. */
export interface Failure {
  readonly class: 'transient' | 'permanent' | 'resource';
  /** Not before so long. */
  readonly retryAfterMs?: number;
  /** So much memory the next time. */
  readonly memoryBytes?: number;
}

/** A failure that trying again would not mend. */
export class PermanentError extends Error {
  readonly [PERMANENT] = true;
  readonly [FAILURE]: Failure = { class: 'permanent' };

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'PermanentError';
  }
}

/** A failure that may pass. So is whatever else is thrown; this is for whoever wants to say it. */
export class TransientError extends Error {
  readonly [FAILURE]: Failure = { class: 'transient' };

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'TransientError';
  }
}

/**
 * A failure that may pass, and not before a while: what a server asked for by a Retry-After header, for instance.
 *
 * @example throw new RetryAfter(30_000, 'The bank asks for half a minute.');
 */
export class RetryAfter extends Error {
  readonly [FAILURE]: Failure;

  /** Milliseconds from now, or when. */
  constructor(when: number | Date, message = 'The other side asks to come back later.', options?: ErrorOptions) {
    super(message, options);
    this.name = 'RetryAfter';
    const ms = typeof when === 'number' ? when : when.getTime() - Date.now();
    if (Number.isNaN(ms)) throw new TypeError('RetryAfter wants milliseconds or a Date.');
    this[FAILURE] = { class: 'transient', retryAfterMs: Math.max(0, Math.ceil(Math.min(ms, MOST_MS))) };
  }
}

/** Fits the 32 bits in which milliseconds travel. */
const MOST_MS = 30 * 86_400_000;

/**
 * It ran out of something. With `memory`, in bytes or as text such as '2GiB', the next attempt gets so much if the task allows it.
 *
 * @example throw new ResourceError('The file does not fit.', { memory: '2GiB' });
 */
export class ResourceError extends Error {
  readonly [FAILURE]: Failure;

  constructor(message: string, { memory, ...options }: ErrorOptions & { readonly memory?: number | string } = {}) {
    super(message, options);
    this.name = 'ResourceError';
    this[FAILURE] = memory === undefined ? { class: 'resource' } : { class: 'resource', memoryBytes: bytesOf(memory) };
  }
}

const UNITS: Readonly<Record<string, number>> = {
  B: 1,
  KB: 1_000,
  MB: 1_000 ** 2,
  GB: 1_000 ** 3,
  KIB: 1_024,
  MIB: 1_024 ** 2,
  GIB: 1_024 ** 3,
};

/** `512MiB`, `1.5GB`, or a count of bytes. */
function bytesOf(memory: number | string): number {
  const [, count = '', unit = ''] = /^\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*$/.exec(String(memory)) ?? [];
  const bytes = Math.round(Number(count) * (UNITS[unit.toUpperCase() || 'B'] ?? Number.NaN));
  if (count === '' || !Number.isSafeInteger(bytes)) {
    throw new TypeError(`${String(memory)} is no size of memory; give one such as 512MiB, or bytes.`);
  }
  return bytes;
}

export function isPermanent(error: unknown): boolean {
  return failureOf(error)?.class === 'permanent';
}

/** What an error says of itself; null when it says nothing. */
export function failureOf(error: unknown): Failure | null {
  if (typeof error !== 'object' || error === null) return null;
  const said = (error as { readonly [FAILURE]?: Failure })[FAILURE];
  if (said !== undefined) return said;
  return PERMANENT in error ? { class: 'permanent' } : null;
}

/** For programs and policies: `error:TypeError`, or `error:ECONNREFUSED` where the system has a name for it. */
export function errorCode(error: unknown): string {
  if (!(error instanceof Error)) return `error:${error === null ? 'null' : typeof error}`;
  const { code } = error as NodeJS.ErrnoException;
  const isNamed = typeof code === 'string' && /^[A-Za-z0-9_]{1,60}$/.test(code);
  return `error:${
    isNamed
      ? code
      : String(error.name)
          .replace(/[^\w.$-]/g, '_')
          .slice(0, 60)
  }`;
}

/** A Retry-After header in milliseconds from now: it holds seconds, or a date. Null for what is neither. */
export function retryAfterOf(header: string | null | undefined): number | null {
  if (header === null || header === undefined || header.trim() === '') return null;
  const seconds = /^\s*(\d+(?:\.\d+)?)\s*$/.exec(header)?.[1];
  const ms = seconds === undefined ? Date.parse(header) - Date.now() : Number(seconds) * 1_000;
  return Number.isNaN(ms) ? null : Math.min(Math.max(0, Math.ceil(ms)), MOST_MS);
}
