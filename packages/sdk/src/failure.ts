/**
 * Errors that name the class of a failure. They are recognised by a mark and not with `instanceof`, because user code can
 * load another copy of this package than the worker.
 */
const PERMANENT: unique symbol = Symbol.for('signalbox.permanent');
const FAILURE: unique symbol = Symbol.for('signalbox.failure');

/** The thrower decides whether and when another attempt can help, and what it needs. */
export interface Failure {
  readonly class: 'transient' | 'permanent' | 'resource';
  /** Not before so long. */
  readonly retryAfterMs?: number;
  /** So much memory the next time. */
  readonly memoryBytes?: number;
  /** For programs and policies, in place of the error's name. */
  readonly code?: string;
}

export interface FailureOptions extends ErrorOptions {
  /** For programs and policies: `http:503`, `bank:busy`. The error's name unless told. */
  readonly code?: string;
}

/** A failure that trying again would not mend. */
export class PermanentError extends Error {
  readonly [PERMANENT] = true;
  readonly [FAILURE]: Failure;

  constructor(message: string, options: FailureOptions = {}) {
    super(message, options);
    this.name = 'PermanentError';
    this[FAILURE] = { class: 'permanent', ...codeOf(options) };
  }
}

/** A failure that may pass, like every other error that is thrown. Use it to say so explicitly. */
export class TransientError extends Error {
  readonly [FAILURE]: Failure;

  constructor(message: string, options: FailureOptions = {}) {
    super(message, options);
    this.name = 'TransientError';
    this[FAILURE] = { class: 'transient', ...codeOf(options) };
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
  constructor(when: number | Date, message = 'The other side asks to come back later.', options: FailureOptions = {}) {
    super(message, options);
    this.name = 'RetryAfter';
    const ms = typeof when === 'number' ? when : when.getTime() - Date.now();
    if (Number.isNaN(ms)) throw new TypeError('RetryAfter wants milliseconds or a Date.');
    const retryAfterMs = Math.max(0, Math.ceil(Math.min(ms, MOST_MS)));
    this[FAILURE] = { class: 'transient', retryAfterMs, ...codeOf(options) };
  }
}

const codeOf = ({ code }: FailureOptions): Pick<Failure, 'code'> => (code === undefined ? {} : { code });

/** Fits the 32 bits in which milliseconds travel. */
const MOST_MS = 30 * 86_400_000;

/**
 * It ran out of something. With `memory`, in bytes or as text such as '2GiB', the next attempt gets so much if the task allows it.
 *
 * @example throw new ResourceError('The file does not fit.', { memory: '2GiB' });
 */
export class ResourceError extends Error {
  readonly [FAILURE]: Failure;

  constructor(message: string, { memory, ...options }: FailureOptions & { readonly memory?: number | string } = {}) {
    super(message, options);
    this.name = 'ResourceError';
    const wanted = memory === undefined ? {} : { memoryBytes: bytesOf(memory) };
    this[FAILURE] = { class: 'resource', ...wanted, ...codeOf(options) };
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
    throw new TypeError(`${String(memory)} is not a memory size; use one such as 512MiB, or bytes.`);
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
  const said = failureOf(error)?.code;
  if (said !== undefined) return said.replace(/[^\w.:$-]/g, '_').slice(0, 80);
  if (!(error instanceof Error)) return `error:${error === null ? 'null' : typeof error}`;
  const name = systemCode(error) ?? systemCode(error.cause) ?? String(error.name);
  return `error:${name.replace(/[^\w.$-]/g, '_').slice(0, 60)}`;
}

/** What Node and its `fetch` have for errors of the system: `ECONNREFUSED`, `UND_ERR_SOCKET`. */
function systemCode(error: unknown): string | null {
  const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
  return typeof code === 'string' && /^[A-Za-z0-9_]{1,60}$/.test(code) ? code : null;
}

/** A Retry-After header in milliseconds from now: it holds seconds, or a date. Null for what is neither. */
export function retryAfterOf(header: string | null | undefined): number | null {
  if (header === null || header === undefined || header.trim() === '') return null;
  const seconds = /^\s*(\d+(?:\.\d+)?)\s*$/.exec(header)?.[1];
  const ms = seconds === undefined ? Date.parse(header) - Date.now() : Number(seconds) * 1_000;
  return Number.isNaN(ms) ? null : Math.min(Math.max(0, Math.ceil(ms)), MOST_MS);
}
