/** Requests to the server that this page came from. What it refuses becomes an `ApiError` with the server's own words. */
export interface Problem {
  readonly path: string;
  readonly message: string;
}

interface ProblemBody {
  readonly code?: string;
  readonly detail?: string;
  readonly title?: string;
  readonly remedy?: string;
  readonly problems?: readonly Problem[];
}

export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly remedy: string;
  readonly problems: readonly Problem[];

  constructor(status: number, body: ProblemBody) {
    super(body.detail ?? body.title ?? `The server answered with status ${status}.`);
    this.name = 'ApiError';
    this.status = status;
    this.code = body.code ?? 'UNKNOWN';
    this.remedy = body.remedy ?? '';
    this.problems = body.problems ?? [];
  }
}

/** The server cannot be reached at all. */
class OfflineError extends Error {
  constructor() {
    super('The server does not answer.');
    this.name = 'OfflineError';
  }
}

type Listener = () => void;
const onSignedOut = new Set<Listener>();

/** Calls back when the server says that the session has ended. */
export function whenSignedOut(listener: Listener): () => void {
  onSignedOut.add(listener);
  return () => onSignedOut.delete(listener);
}

export async function request(path: string, init: RequestInit = {}): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(path, init);
  } catch (error) {
    if (init.signal?.aborted === true) throw error;
    throw new OfflineError();
  }
  if (response.status === 401) for (const listener of onSignedOut) listener();
  if (!response.ok) throw new ApiError(response.status, await problemOf(response));
  return response;
}

async function problemOf(response: Response): Promise<ProblemBody> {
  try {
    return (await response.json()) as ProblemBody;
  } catch {
    return {};
  }
}

export async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  const response = await request(path, { headers: { accept: 'application/json' }, ...(signal && { signal }) });
  return (await response.json()) as T;
}

/** A change. Each call has a key of its own, so a request that the network repeats has one effect. */
async function change<T>(method: 'POST' | 'PUT' | 'DELETE', path: string, body: unknown): Promise<T> {
  const response = await request(path, {
    method,
    headers: {
      'idempotency-key': randomKey(),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return (await response.json()) as T;
}

export const post = <T>(path: string, body: unknown = {}): Promise<T> => change<T>('POST', path, body);
export const put = <T>(path: string, body: unknown): Promise<T> => change<T>('PUT', path, body);
export const remove = <T>(path: string): Promise<T> => change<T>('DELETE', path, undefined);

/** `crypto.randomUUID` is missing where the page is served without TLS from another machine. */
function randomKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

export type Params = Readonly<Record<string, string | number | boolean | null | undefined>>;

/** A path with its query; what is empty is left out. */
export function withQuery(path: string, params: Params): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    if (value !== undefined && value !== null && value !== '') query.set(name, String(value));
  }
  const text = query.toString();
  return text === '' ? path : `${path}?${text}`;
}

export const seg = encodeURIComponent;
