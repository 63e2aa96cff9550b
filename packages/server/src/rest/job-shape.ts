/**
 * The shape of a job: the dag of one task that runs it. Jobs of the same shape share one dag, which is named by the hash of its
 * content and hidden from lists; what differs between them goes into the params of their runs. So a million jobs make no more
 * dags than there are shapes.
 */
import type { DagSpec, TenantId } from '@signalbox/engine';
import { contentHash, type ParsedNewJob, SignalboxError, toDagSpec } from '@signalbox/protocol';
import { HIDDEN_DAG_PREFIX } from '@signalbox/store';
import type { FastifyRequest } from 'fastify';
import { badRequest, fromDatabase } from './errors.ts';
import type { RestParts } from './rest-parts.ts';

export interface JobShape {
  /** Of its dag. */
  readonly name: string;
  readonly hash: string;
  readonly spec: DagSpec;
}

export interface ShapedJob {
  readonly shape: JobShape;
  /** JSON text. */
  readonly params: string | null;
  /** For people. */
  readonly what: string;
}

const WORK_FIELDS = ['run', 'shell', 'env', 'cwd', 'secrets', 'http', 'queue', 'retries', 'timeout'] as const;
const LIMIT_FIELDS = ['queue', 'retries', 'timeout'] as const;
/** What a deployed task says about each of its attempts. */
const ATTEMPT_FIELDS = [
  ...['runInfo', 'poison', 'memoryBytes', 'onResource', 'pool', 'placement', 'preemptible'],
  ...['queueTimeoutMs', 'stuckMs', 'totalTimeoutMs', 'softTimeoutMs'],
] as const satisfies readonly (keyof Task)[];
const TASK = 'job';
const COMMAND_VARIABLE = 'SIGNALBOX_JOB_COMMAND';
/** Params that are ours. */
const OWN_PARAMS = ['_run', '_inputs'];
const HASH_CHARS = 24;
const WHAT_CHARS = 200;

/** `raw`: the job as it was written. Definitions are checked as people write them, with durations as text. */
export async function shapeOf(
  request: FastifyRequest,
  parts: RestParts,
  tenantId: TenantId,
  { job, raw }: { readonly job: ParsedNewJob; readonly raw: Readonly<Record<string, unknown>> },
): Promise<ShapedJob> {
  const kinds = [job.run, job.http, job.task].filter((kind) => kind !== undefined).length;
  if (kinds !== 1) throw badRequest('run', 'must be given, or http, or task: exactly one of them');
  const own = OWN_PARAMS.find((name) => name in (job.params ?? {}));
  if (own !== undefined) throw badRequest(`params.${own}`, 'is a name of the server: use another one');
  if (job.task !== undefined) return deployedTask(request, parts, tenantId, { job, raw, task: job.task });
  if (job.inputs !== undefined) throw badRequest('inputs', 'goes with task: use params');
  // As it was written: so a job is checked as the same task of a dag would be.
  const literal = specOf(raw, pick(raw, WORK_FIELDS));
  const { run } = job;
  const what = run === undefined ? `${job.http?.method ?? 'GET'} ${job.http?.url ?? ''}` : [run].flat().join(' ');
  if (typeof run !== 'string' || run.includes('${{')) return shaped(literal, job.params, what);
  // Most commands differ from each other: the command itself is a param.
  const command = {
    ...pick(raw, WORK_FIELDS),
    run: `exec ${job.shell ?? 'sh'} -c "$${COMMAND_VARIABLE}"`,
    env: { ...(raw.env as object | undefined), [COMMAND_VARIABLE]: '${{ params._run }}' },
  };
  return shaped(specOf(raw, command), { ...job.params, _run: run }, what);
}

function specOf(raw: Readonly<Record<string, unknown>>, work: object): DagSpec {
  try {
    const definition = { name: TASK, tasks: [{ name: TASK, ...work }], ...pick(raw, ['callbackUrl']) };
    return toDagSpec(definition).spec as DagSpec;
  } catch (error) {
    if (!(error instanceof SignalboxError)) throw error;
    const problems = error.details.problems ?? [];
    const placed = problems.map((problem) => ({ ...problem, path: problem.path.replace(/^tasks\[0\]\.?/, '') }));
    throw new SignalboxError('BAD_REQUEST', { problems: placed });
  }
}

function shaped(spec: DagSpec, params: Readonly<Record<string, unknown>> | undefined, what: string): ShapedJob {
  const hash = contentHash(spec as Parameters<typeof contentHash>[0]);
  const shape = { name: `${HIDDEN_DAG_PREFIX}${hash.slice(0, HASH_CHARS)}`, hash, spec };
  const short = what.length > WHAT_CHARS ? `${what.slice(0, WHAT_CHARS - 1)}…` : what;
  return { shape, params: params === undefined ? null : JSON.stringify(params), what: short };
}

type Task = DagSpec['tasks'][number];
interface Work {
  readonly inputs?: Readonly<Record<string, unknown>>;
  readonly fill?: unknown;
}

/** With the code and settings that are deployed now. A later deploy of that dag does not change the job. */
async function deployedTask(
  request: FastifyRequest,
  { queries }: RestParts,
  tenantId: TenantId,
  {
    job,
    raw,
    task,
  }: { job: ParsedNewJob; raw: Readonly<Record<string, unknown>>; task: { dag: string; task: string } },
): Promise<ShapedJob> {
  const other = ['shell', 'env', 'cwd', 'secrets'].find((field) => field in raw);
  if (other !== undefined) throw badRequest(other, 'does not go with task, which has its own');
  const dag = await fromDatabase(() => queries.findDag(tenantId, task.dag), request.log);
  if (dag === null || dag.retiredAt !== null) throw new SignalboxError('DAG_NOT_FOUND', { dag: task.dag });
  const found = dag.spec.tasks.find(({ name }) => name === task.task);
  if (found === undefined) throw badRequest('task.task', `is no task of the dag ${task.dag}`);
  if (found.child !== undefined) throw badRequest('task.task', 'runs another dag: submit a run of that dag');
  const { inputs = {} } = job;
  const work = withInputs(found.work ?? {}, inputs);
  // Its own limits, or those of the job where it names them.
  const limits = specOf(raw, { handler: TASK, ...pick(raw, LIMIT_FIELDS) });
  const [limit] = limits.tasks as [Task];
  const copied = {
    ...pick(found as unknown as Readonly<Record<string, unknown>>, ATTEMPT_FIELDS),
    name: found.name,
    handler: found.handler,
    queue: 'queue' in raw ? limit.queue : found.queue,
    needs: [],
    retry: 'retries' in raw ? limit.retry : found.retry,
    timeoutMs: 'timeout' in raw ? limit.timeoutMs : found.timeoutMs,
    ...(found.work === undefined ? {} : { work }),
  } as unknown as Task;
  const { bundle, files } = dag.spec;
  const code = { ...(bundle === undefined ? {} : { bundle }), ...(files === undefined ? {} : { files }) };
  const params = Object.keys(inputs).length === 0 ? job.params : { ...job.params, _inputs: inputs };
  return shaped({ ...limits, ...code, tasks: [copied] }, params, `task ${found.name} of ${task.dag}`);
}

function withInputs(work: Work, inputs: Readonly<Record<string, unknown>>): Work {
  const given = Object.keys(inputs).map((name) => [name, { from: 'params', path: ['_inputs', name] }]);
  const all: Record<string, unknown> = { ...work.inputs, ...Object.fromEntries(given) };
  for (const [name, source] of Object.entries(all)) {
    if (looksAround(source)) throw badRequest(`inputs.${name}`, 'comes from another task there: give its value');
  }
  if (looksAround(work.fill))
    throw badRequest('task', 'uses results of other tasks in its texts: it cannot run by itself');
  return Object.keys(all).length === 0 ? work : { ...work, inputs: all };
}

/** Whether a source, or one within it, needs other tasks or a map. */
function looksAround(source: unknown): boolean {
  if (typeof source !== 'object' || source === null) return false;
  const { from } = source as { from?: unknown };
  if (from === 'value') return false;
  if (from === 'task' || from === 'item' || from === 'index') return true;
  return Object.values(source).some(looksAround);
}

function pick(from: Readonly<Record<string, unknown>>, fields: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(fields.flatMap((field) => (field in from ? [[field, from[field]]] : [])));
}
