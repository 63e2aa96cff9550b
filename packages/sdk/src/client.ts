/** The REST API as functions. Every answer is checked for its shape; every refusal is a `SignalboxError` with a code. */
import { randomUUID } from 'node:crypto';
import {
  type Cancelled,
  cancelledSchema,
  type DagDefinition,
  type DagPage,
  type Deployed,
  dagPageSchema,
  deployedSchema,
  type Health,
  healthSchema,
  type Priority,
  type RunPage,
  type RunView,
  runPageSchema,
  runViewSchema,
  type SchedulePaused,
  SignalboxError,
  type Submitted,
  type SubmittedBatch,
  schedulePausedSchema,
  submittedBatchSchema,
  submittedSchema,
} from '@signalbox/protocol';
import { DEFAULT_RETRIES, type Request, type RetryTiming, send, type Target } from './request.ts';

export interface ClientOptions {
  /** Such as `http://127.0.0.1:7411`. */
  readonly url: string;
  readonly token: string;
  /** No try of a request begins later than this after its first; 30 s unless told, 0 for one try only. */
  readonly retryForMs?: number;
  /** For tests. */
  readonly fetch?: typeof fetch;
  readonly timing?: Partial<RetryTiming>;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
}

export interface ChangeOptions extends CallOptions {
  /** One key, one outcome: give the name of what you do, such as an order's number. A random one unless told. */
  readonly idempotencyKey?: string;
}

export interface NewRun {
  readonly params?: unknown;
  readonly priority?: Priority;
}

export interface RunFilter {
  readonly dag?: string;
  readonly state?: RunView['state'];
  readonly outcome?: 'succeeded' | 'failed' | 'cancelled';
  readonly cursor?: string;
  readonly limit?: number;
}

export interface WaitOptions extends CallOptions {
  /** Without it, it waits for as long as it takes. */
  readonly timeoutMs?: number;
}

/** The run had not ended in the time that the caller gave it. It goes on. */
export class WaitTimedOut extends Error {
  readonly run: RunView;

  constructor(run: RunView, timeoutMs: number) {
    super(`Run ${run.id} of ${run.dag} had not ended after ${timeoutMs} ms; it is ${run.state}.`);
    this.name = 'WaitTimedOut';
    this.run = run;
  }
}

export interface Client {
  deployDag(definition: DagDefinition, options?: CallOptions): Promise<Deployed>;
  listDags(page?: { readonly cursor?: string; readonly limit?: number }, options?: CallOptions): Promise<DagPage>;
  submit(dag: string, run?: NewRun, options?: ChangeOptions): Promise<Submitted>;
  /** Up to 1,000 runs of one dag, all or nothing. */
  submitMany(dag: string, runs: readonly NewRun[], options?: ChangeOptions): Promise<SubmittedBatch>;
  getRun(id: string, options?: CallOptions): Promise<RunView>;
  /** Newest first; ask for the next page with the cursor of the last. */
  listRuns(filter?: RunFilter, options?: CallOptions): Promise<RunPage>;
  cancelRun(id: string, options?: ChangeOptions): Promise<Cancelled>;
  pauseSchedule(dag: string, options?: ChangeOptions): Promise<SchedulePaused>;
  resumeSchedule(dag: string, options?: ChangeOptions): Promise<SchedulePaused>;
  /** Resolves when the run has ended, or was set aside. */
  waitForRun(id: string, options?: WaitOptions): Promise<RunView>;
  /** Whether the server can serve. One try: a server that is away is an answer. */
  health(options?: CallOptions): Promise<Health>;
}

interface Parser<T> {
  safeParse(
    input: unknown,
  ): { readonly success: true; readonly data: T } | { readonly success: false; readonly error: unknown };
}

const FIRST_POLL_MS = 25;
const LONGEST_POLL_MS = 2_000;

/** @example const client = createClient({ url, token }); const run = await client.waitForRun((await client.submit('greet')).id); */
export function createClient(options: ClientOptions): Client {
  const timing: RetryTiming = {
    ...DEFAULT_RETRIES,
    ...(options.retryForMs === undefined ? {} : { retryForMs: options.retryForMs }),
    ...options.timing,
  };
  const target: Target = { baseUrl: baseOf(options.url), token: options.token, fetch: options.fetch ?? fetch, timing };

  async function ask<T>(schema: Parser<T>, request: Request): Promise<T> {
    const parsed = schema.safeParse(await send(target, request));
    if (parsed.success) return parsed.data;
    throw new SignalboxError('INTERNAL', { incident: 'none: the answer has another shape' }, { cause: parsed.error });
  }

  /** A change has a key even when the caller gave none: it is what makes trying again safe. */
  const change = <T>(schema: Parser<T>, path: string, body: unknown, { idempotencyKey, signal }: ChangeOptions) =>
    ask(schema, { method: 'POST', path, body, idempotencyKey: idempotencyKey ?? randomUUID(), signal });

  const client: Client = {
    deployDag: (definition, { signal } = {}) =>
      ask(deployedSchema, { method: 'PUT', path: `/v1/dags/${part(definition.name)}`, body: definition, signal }),
    listDags: (page = {}, { signal } = {}) =>
      ask(dagPageSchema, { method: 'GET', path: `/v1/dags${query({ ...page })}`, signal }),
    submit: (dag, run = {}, call = {}) => change(submittedSchema, `/v1/dags/${part(dag)}/runs`, run, call),
    submitMany: (dag, runs, call = {}) =>
      change(submittedBatchSchema, `/v1/dags/${part(dag)}/runs/batch`, { runs }, call),
    getRun: (id, { signal } = {}) => ask(runViewSchema, { method: 'GET', path: `/v1/runs/${part(id)}`, signal }),
    listRuns: (filter = {}, { signal } = {}) =>
      ask(runPageSchema, { method: 'GET', path: `/v1/runs${query({ ...filter })}`, signal }),
    cancelRun: (id, call = {}) => change(cancelledSchema, `/v1/runs/${part(id)}/cancel`, {}, call),
    pauseSchedule: (dag, call = {}) => change(schedulePausedSchema, `/v1/dags/${part(dag)}/schedule/pause`, {}, call),
    resumeSchedule: (dag, call = {}) => change(schedulePausedSchema, `/v1/dags/${part(dag)}/schedule/resume`, {}, call),
    waitForRun: (id, wait = {}) => pollRun(client, id, wait, timing),
    health: (call = {}) => askHealth(target, call),
  };
  return client;
}

/** One try, and a server that is away or not ready is an answer, not an error. */
async function askHealth(target: Target, { signal }: CallOptions): Promise<Health> {
  const once = { ...target, timing: { ...target.timing, retryForMs: 0 } };
  try {
    const health = healthSchema.safeParse(await send(once, { method: 'GET', path: '/readyz', signal }));
    return health.success ? health.data : { status: 'unavailable' };
  } catch (error) {
    if (error instanceof SignalboxError) return { status: 'unavailable' };
    throw error;
  }
}

/** Asks quickly at first and then ever more slowly: a tenth of the time waited so far, within bounds. */
async function pollRun(client: Client, id: string, options: WaitOptions, timing: RetryTiming): Promise<RunView> {
  const { timeoutMs = Number.POSITIVE_INFINITY, signal } = options;
  const startedAt = timing.now();
  for (;;) {
    const run = await client.getRun(id, signal === undefined ? {} : { signal });
    if (run.state === 'ended' || run.state === 'set_aside') return run;
    const waitedMs = timing.now() - startedAt;
    if (waitedMs >= timeoutMs) throw new WaitTimedOut(run, timeoutMs);
    const pauseMs = Math.min(LONGEST_POLL_MS, Math.max(FIRST_POLL_MS, waitedMs / 10));
    await timing.sleep(Math.min(pauseMs, timeoutMs - waitedMs), signal);
  }
}

function baseOf(url: string): string {
  if (!/^https?:\/\//.test(url)) throw new TypeError(`url is "${url}"; give one such as http://127.0.0.1:7411`);
  return url.replace(/\/+$/, '');
}

const part = encodeURIComponent;

function query(fields: Readonly<Record<string, string | number | undefined>>): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(fields)) if (value !== undefined) search.set(name, String(value));
  return search.size === 0 ? '' : `?${search.toString()}`;
}
