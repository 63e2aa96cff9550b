/** One attempt in a test: what its function sees, and its result. */
import {
  describeInput,
  findInput,
  type InputSource,
  MAX_OUTPUT_BYTES,
  type MapItem,
  missingIn,
  type TaskSpecShape,
} from '@signalbox/protocol';
import { type AttemptRequester, makeAttemptRequests } from '../attempt-requests.ts';
import {
  AttemptStopped,
  failureOf,
  type GangMember,
  type Handler,
  type HandlerContext,
  PermanentError,
  type RunWindow,
} from '../handler.ts';
import { isLasting, lastingMs } from './stubs.ts';

export type AttemptEnd = 'succeeded' | 'transient' | 'permanent' | 'timeout' | 'cancelled' | 'resource' | 'stuck';

export interface LogLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly message: string;
  readonly fields?: object;
}

export interface Settled {
  readonly outcome: AttemptEnd;
  readonly output: unknown;
  readonly error: unknown;
  /** How much of the test's time it takes from its start to its end. */
  readonly lastsMs: number;
}

interface Surroundings {
  readonly dag: string;
  readonly run: string;
  readonly task: TaskSpecShape;
  readonly attempt: number;
  readonly fence: number;
  readonly params: unknown;
  readonly upstream: Readonly<Record<string, unknown>>;
  readonly failedUpstream: readonly string[];
  /** Names of tasks that it needs and that were skipped, or have not ended. */
  readonly missingUpstream: readonly string[];
  /** The maps that it is in, outermost first, with the items that it runs for. */
  readonly map: readonly MapItem[];
  readonly gang?: GangMember | null;
  readonly secrets: Readonly<Record<string, string>>;
  /** The window that the run is for. */
  readonly window: RunWindow | null;
  /** Given by the test itself; otherwise they come from where the definition says. */
  readonly inputs?: Readonly<Record<string, unknown>>;
  readonly signal: AbortSignal;
  readonly log: LogLine[];
  /** JSON text that an earlier attempt has left; empty for none. */
  readonly checkpoint: string;
  readonly requester: AttemptRequester;
}

const failed = (outcome: AttemptEnd, error: unknown, lastsMs = 0): Settled => ({
  outcome,
  output: null,
  error,
  lastsMs,
});

/** Never rejects: an error that the function throws is the result of the attempt. */
export async function settle(run: Handler, around: Surroundings): Promise<Settled> {
  let lastsMs = 0;
  try {
    let value = await run(contextOf(around));
    while (isLasting(value)) {
      lastsMs += lastingMs(value);
      value = await value.end();
    }
    return { outcome: 'succeeded', output: throughJson(value), error: null, lastsMs };
  } catch (error) {
    return failed(failureOf(error)?.class ?? 'transient', error, lastsMs);
  }
}

export const timedOut = (): Settled =>
  failed('timeout', new AttemptStopped('timeout', 'The attempt ran longer than its timeout.'));

/** The next task gets what JSON leaves of a value; so does the test. */
function throughJson(value: unknown): unknown {
  if (value === undefined) return null;
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch (error) {
    throw new PermanentError(`What the handler returned is not JSON: ${String(error)}`);
  }
  if (text === undefined) throw new PermanentError(`What the handler returned is not JSON: a ${typeof value}`);
  const size = Buffer.byteLength(text);
  if (size > MAX_OUTPUT_BYTES) {
    throw new PermanentError(`The output has ${size} bytes of JSON; the limit is ${MAX_OUTPUT_BYTES}.`);
  }
  return JSON.parse(text);
}

function contextOf(around: Surroundings): HandlerContext {
  const { dag, run, task, attempt, fence, params, upstream, signal, log } = around;
  const line = (level: LogLine['level']) => (message: string, fields?: object) => {
    log.push(fields === undefined ? { level, message } : { level, message, fields });
  };
  const { progress, extend, checkpoint, assertOwned, addTasks, onSlow } = makeAttemptRequests(
    around.requester,
    around.checkpoint,
  );
  return {
    tenant: 'default',
    dag,
    run,
    task: task.name,
    attempt,
    window: around.window,
    params,
    inputs: around.inputs ?? inputsOf(around),
    item: around.map.at(-1)?.item,
    index: around.map.at(-1)?.index ?? 0,
    map: around.map,
    gang: around.gang ?? null,
    upstream,
    failedUpstream: around.failedUpstream,
    effectKey: `${run}/${task.name}`,
    fence,
    token: `test-${run}-${task.name}-${fence}`,
    signal,
    log: { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') },
    secret: (name) => secretOf(name, around),
    progress,
    extend,
    checkpoint,
    assertOwned,
    addTasks,
    onSlow,
  };
}

function inputsOf(around: Surroundings): Record<string, unknown> {
  const sources = Object.entries(around.task.work?.inputs ?? {});
  return Object.fromEntries(sources.map(([name, source]) => [name, valueOf(name, source, around)]));
}

function valueOf(name: string, source: InputSource, around: Surroundings): unknown {
  const absent = [...around.failedUpstream, ...around.missingUpstream];
  const run = { 'run.id': around.run, 'run.dag': around.dag, ...windowFields(around.window) };
  const roots = { ...around, absent, run };
  const found = findInput(source, roots);
  const missing = found === undefined ? missingIn(source, roots) : null;
  if (missing === null) return found;
  const { reference, cause } = describeInput(missing);
  throw new PermanentError(`Input ${name} leads to nothing: it is ${reference}. ${cause}`);
}

/** As texts, as references have them. */
function windowFields(window: RunWindow | null) {
  const iso = (at: Date | undefined): string | null => at?.toISOString() ?? null;
  return { 'window.at': iso(window?.at), 'window.start': iso(window?.start), 'window.end': iso(window?.end) };
}

function secretOf(name: string, { secrets, task }: Surroundings): string {
  const named = task.work?.kind === 'child' ? undefined : task.work?.secrets;
  if (named?.includes(name) !== true) {
    throw new PermanentError(`Task ${task.name} does not list the secret ${name} under secrets.`);
  }
  const value = Object.hasOwn(secrets, name) ? secrets[name] : undefined;
  if (value !== undefined) return value;
  throw new PermanentError(`The test has no secret ${name}: give it as secrets: { ${name}: '…' }.`);
}
