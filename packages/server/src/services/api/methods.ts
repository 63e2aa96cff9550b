/**
 * The calls of the API: the REST request that each makes, and how the answer is translated. Fields with the same meaning
 * have the same name.
 */
import { badRequest } from '../../rest/errors.ts';
import {
  type ApiMethod,
  asJson,
  given,
  isPathPart,
  items,
  json,
  keyed,
  type Message,
  page,
  part,
  text,
} from './message.ts';
import { QUOTA_METHODS } from './quota-methods.ts';
import type { RestAnswer, RestRequest } from './rest-call.ts';
import { TIME_METHODS } from './time-methods.ts';

const FAILED_SHOWN = 20;

function definitionOf(message: Message): { path: string; body: string } {
  const definition = json(message, 'definitionJson');
  const isObject = typeof definition === 'object' && definition !== null;
  if (!isObject) throw badRequest('definition_json', 'must be the definition of a dag, as JSON');
  const { name } = definition as { name?: unknown };
  // Of a definition without a good name REST says what is wrong with it.
  const inPath = typeof name === 'string' && isPathPart(name) ? name.slice(0, 200) : '-';
  return { path: `/v1/dags/${encodeURIComponent(inPath)}`, body: text(message, 'definitionJson') };
}

const deploy = (message: Message): RestRequest => ({ method: 'PUT', ...definitionOf(message), ...keyed(message) });
const runPath = (message: Message): string => `/v1/runs/${part(message, 'runId')}`;
const taskAnswer = ({ output, ...task }: RestAnswer): object => ({ ...task, outputJson: asJson(output) });

const tenantPath = (message: Message): string => `/v1/tenants/${part(message, 'tenant')}`;
const tenantAnswer = ({ reason, ...tenant }: RestAnswer): object => ({ ...tenant, reason: reason ?? '' });
const tenantSettings = (message: Message): object => ({
  ...(Number(message.weight ?? 0) > 0 ? { weight: Number(message.weight) } : {}),
  ...(text(message, 'defaultPriority') === '' ? {} : { defaultPriority: text(message, 'defaultPriority') }),
});

/** A setting that may be left as it is: "true", "false" or nothing. */
function flag(message: Message, field: string): object {
  const value = text(message, field);
  if (value === '') return {};
  // What is neither is refused by REST, which says so.
  return { [field]: value === 'true' ? true : value === 'false' ? false : value };
}

interface CountedTask {
  readonly name: string;
  readonly state: string;
  readonly attempt: number;
  readonly error: string | null;
  readonly instances: { readonly states: Readonly<Record<string, number>> } | null;
}

function groupAnswer({ name, group, map }: RestAnswer): object {
  const { mode, over } = (map ?? { mode: '', over: [] }) as { mode: string; over: { from: unknown }[] };
  const mapOver = over.map(({ from }) => (typeof from === 'string' ? from : JSON.stringify(from)));
  return { name, group, mapMode: mode, mapOver };
}

const DEAD_LETTER_METHODS: Readonly<Record<string, ApiMethod>> = {
  ListDeadLetters: {
    ask: (message) => ({
      method: 'GET',
      path: '/v1/dead-letters',
      query: { ...given(message, 'dag', 'fingerprint', 'task', 'reason', 'state'), ...page(message) },
    }),
    answer: (body) => ({
      letters: items(body).map(({ run, ...letter }) => ({ ...letter, runId: run })),
      cursor: body.cursor,
    }),
  },
  ListDeadLetterGroups: {
    ask: (message) => ({
      method: 'GET',
      path: '/v1/dead-letters/groups',
      query: { dag: text(message, 'dag'), limit: Number(message.limit ?? 0) },
    }),
    answer: (body) => ({ groups: items(body) }),
  },
  ReplayDeadLetters: {
    ask: (message) => {
      const choice = { latest: message.latest === true, dryRun: message.dryRun === true };
      const id = text(message, 'id');
      const body = id === '' ? { ...choice, ...given(message, 'dag', 'fingerprint', 'task', 'cursor') } : choice;
      const path = id === '' ? '/v1/dead-letters/replay' : `/v1/dead-letters/${part(message, 'id')}/replay`;
      return { method: 'POST', path, body: JSON.stringify(body), ...keyed(message) };
    },
    answer: (body) => body,
  },
  DiscardDeadLetters: {
    ask: (message) => ({
      method: 'POST',
      path: '/v1/dead-letters/discard',
      body: JSON.stringify({
        dryRun: message.dryRun === true,
        ...given(message, 'dag', 'fingerprint', 'task', 'cursor'),
      }),
      ...keyed(message),
    }),
    answer: (body) => body,
  },
  ListBreakers: {
    ask: (message) => ({ method: 'GET', path: '/v1/breakers', query: { dag: text(message, 'dag') } }),
    answer: (body) => ({ breakers: items(body) }),
  },
  ResetBreaker: {
    ask: (message) => ({
      method: 'POST',
      path: '/v1/breakers/reset',
      body: JSON.stringify(given(message, 'dag', 'fingerprint')),
      ...keyed(message),
    }),
    answer: (body) => body,
  },
};

/** Of lists those with something in them, of marks those that are set. */
const chosen = (message: Message, ...fields: string[]) =>
  Object.fromEntries(
    fields.flatMap((field) => ((message[field] as unknown[]).length > 0 ? [[field, message[field]]] : [])),
  );
const flags = (message: Message, ...fields: string[]) =>
  Object.fromEntries(fields.flatMap((field) => (message[field] === true ? [[field, true]] : [])));
/** Those that are not 0. */
const numbers = (message: Message, ...fields: string[]) =>
  Object.fromEntries(
    fields.flatMap((field) => (Number(message[field] ?? 0) > 0 ? [[field, Number(message[field])]] : [])),
  );
const touched = ({ run, tasks, ...rest }: RestAnswer): object => ({
  ...rest,
  runId: run,
  tasks: ((tasks ?? []) as readonly RestAnswer[]).map((task) => ({ ...task, stopped: task.stopped ?? 0 })),
});

const jobPath = (message: Message): string => `/v1/jobs/${part(message, 'jobId')}`;
const jobMethod = (verb: string): ApiMethod => ({
  ask: (message) => ({ method: 'POST', path: `${jobPath(message)}/${verb}`, ...keyed(message) }),
  answer: (body) => body,
});

const JOB_METHODS: Readonly<Record<string, ApiMethod>> = {
  CreateJob: {
    ask: (message) => ({
      method: 'POST',
      path: '/v1/jobs',
      body: JSON.stringify(json(message, 'jobJson') ?? {}),
      ...keyed(message),
    }),
    answer: (body) => body,
  },
  CreateJobs: {
    ask: (message) => {
      const jobs = [message.jobsJson as readonly string[]].flat().map((text) => json({ job: text }, 'job') ?? {});
      return { method: 'POST', path: '/v1/jobs/batch', body: JSON.stringify({ jobs }), ...keyed(message) };
    },
    answer: (body) => ({
      created: body.created,
      items: items(body).map(({ id, error }) => {
        const { code, detail } = (error ?? {}) as { code?: string; detail?: string };
        return { id: id ?? '', code: code ?? '', error: detail ?? '' };
      }),
    }),
  },
  GetJob: { ask: (message) => ({ method: 'GET', path: jobPath(message) }), answer: (body) => body },
  ListJobs: {
    ask: (message) => ({
      method: 'GET',
      path: '/v1/jobs',
      query: { ...given(message, 'tag', 'owner', 'state'), ...page(message) },
    }),
    answer: (body) => ({ jobs: items(body), cursor: body.cursor }),
  },
  PauseJob: jobMethod('pause'),
  ResumeJob: jobMethod('resume'),
  CancelJob: jobMethod('cancel'),
  DeleteJob: {
    ask: (message) => ({ method: 'DELETE', path: jobPath(message), ...keyed(message) }),
    answer: ({ id }) => ({ id }),
  },
};

export const API_METHODS: Readonly<Record<string, ApiMethod>> = {
  RegisterDag: { ask: deploy, answer: (body) => body },
  UpdateDag: {
    before: (message) => ({ method: 'GET', path: definitionOf(message).path }),
    ask: deploy,
    answer: (body) => body,
  },
  DeleteDag: {
    ask: (message) => ({ method: 'DELETE', path: `/v1/dags/${part(message, 'name')}`, ...keyed(message) }),
    answer: ({ name }) => ({ name }),
  },
  GetDag: {
    ask: (message) => ({ method: 'GET', path: `/v1/dags/${part(message, 'name')}` }),
    answer: ({ tasks, groups, onFailure, maxMapSize, templates, maxAddedTasks, ...dag }) => ({
      dag,
      tasks,
      groups: ((groups ?? []) as readonly RestAnswer[]).map(groupAnswer),
      onFailure,
      maxMapSize,
      templates,
      maxAddedTasks,
    }),
  },
  ListDags: {
    ask: (message) => ({
      method: 'GET',
      path: '/v1/dags',
      query: { ...page(message), retired: message.retired === true ? 'true' : undefined },
    }),
    answer: (body) => ({ dags: items(body), cursor: body.cursor }),
  },
  TriggerRun: {
    ask: (message) => ({
      method: 'POST',
      path: `/v1/dags/${part(message, 'dag')}/runs`,
      body: JSON.stringify({
        params: json(message, 'paramsJson'),
        priority: text(message, 'priority') || undefined,
        until: text(message, 'until') || undefined,
        ...given(message, 'runId', 'window', 'schedule', 'at', 'delay'),
      }),
      ...keyed(message),
    }),
    answer: ({ id, repeated, scheduledFor }) => ({ runId: id, repeated: repeated === true, scheduledFor }),
  },
  GetRunStatus: {
    ask: (message) => ({ method: 'GET', path: runPath(message) }),
    answer: ({ tasks, params, closingFailed, ...run }) => {
      const all = (tasks ?? []) as readonly CountedTask[];
      const taskCounts: Record<string, number> = {};
      for (const { state, instances } of all) {
        // A mapped task counts as its instances.
        for (const [each, count] of Object.entries(instances?.states ?? { [state]: 1 })) {
          taskCounts[each] = (taskCounts[each] ?? 0) + count;
        }
      }
      const failedTasks = all.filter(({ state }) => state === 'failed').slice(0, FAILED_SHOWN);
      return { run, paramsJson: asJson(params), taskCounts, failedTasks, closingFailed };
    },
  },
  ListRuns: {
    ask: (message) => ({
      method: 'GET',
      path: '/v1/runs',
      query: {
        dag: text(message, 'dag'),
        state: text(message, 'state'),
        outcome: text(message, 'outcome'),
        parent: text(message, 'parent'),
        mine: message.mine === true ? 'true' : undefined,
        ...page(message),
      },
    }),
    answer: (body) => ({ runs: items(body), cursor: body.cursor }),
  },
  CancelRun: {
    ask: (message) => ({
      method: 'POST',
      path: `${runPath(message)}/cancel`,
      body: JSON.stringify({ ...flags(message, 'force'), ...numbers(message, 'graceMs') }),
      ...keyed(message),
    }),
    answer: ({ id, state, outcome }) => ({ runId: id, state, outcome }),
  },
  CancelRuns: {
    ask: (message) => ({
      method: 'POST',
      path: '/v1/runs/cancel',
      body: JSON.stringify({
        ...given(message, 'dag', 'tag', 'state', 'priority', 'concurrencyKey', 'since', 'until', 'cursor'),
        ...flags(message, 'force', 'dryRun'),
        ...numbers(message, 'graceMs', 'limit'),
      }),
      ...keyed(message),
    }),
    answer: (body) => ({
      dryRun: body.dryRun,
      runs: items(body).map(({ run, refused, ...one }) => ({ ...one, runId: run, refused: refused ?? '' })),
      cursor: body.cursor,
    }),
  },
  RetryRuns: {
    ask: (message) => ({
      method: 'POST',
      path: '/v1/runs/retry',
      body: JSON.stringify({
        ...given(message, 'dag', 'tag', 'priority', 'concurrencyKey', 'since', 'until', 'cursor'),
        ...flags(message, 'dryRun'),
        ...numbers(message, 'limit'),
      }),
      ...keyed(message),
    }),
    answer: (body) => ({
      dryRun: body.dryRun,
      runs: items(body).map(({ run, refused, ...one }) => ({ ...one, runId: run, refused: refused ?? '' })),
      cursor: body.cursor,
    }),
  },
  SetDagOwner: {
    ask: (message) => ({
      method: 'PUT',
      path: `/v1/dags/${part(message, 'dag')}/owner`,
      body: JSON.stringify({ owner: text(message, 'owner') || null }),
      ...keyed(message),
    }),
    answer: ({ name, owner, ofDefinition }) => ({ name, owner: owner ?? '', ofDefinition: ofDefinition ?? '' }),
  },
  ...JOB_METHODS,
  ...TIME_METHODS,
  ...QUOTA_METHODS,
  ListTasks: {
    ask: (message) => ({
      method: 'GET',
      path: `${runPath(message)}/tasks`,
      query: { ...given(message, 'state', 'group'), ...page(message) },
    }),
    answer: (body) => ({ tasks: items(body).map(taskAnswer), cursor: body.cursor }),
  },
  GetTaskWhy: {
    ask: (message) => ({ method: 'GET', path: `${runPath(message)}/tasks/${part(message, 'task')}/why` }),
    answer: ({ run, task, state, code, message, chain, suggestion, ahead, predictedStart }) => ({
      ...{ runId: run, task, state, code: code ?? '', message, suggestion: suggestion ?? '' },
      chain: (chain as RestAnswer[]).map((link) => ({ ...link, until: link.until ?? '' })),
      ...(ahead === null ? {} : { ahead }),
      predictedStart: (predictedStart as RestAnswer | null)?.at ?? '',
      predictedBasis: (predictedStart as RestAnswer | null)?.basis ?? '',
    }),
  },
  RetryTask: {
    ask: (message) => ({
      method: 'POST',
      path: `${runPath(message)}/tasks/${part(message, 'task')}/retry`,
      ...keyed(message),
    }),
    answer: (_body, message) => ({ runId: message.runId, task: message.task }),
  },
  ...DEAD_LETTER_METHODS,
  ClearTasks: {
    ask: (message) => ({
      method: 'POST',
      path: `${runPath(message)}/clear`,
      body: JSON.stringify({
        ...chosen(message, 'tasks', 'states'),
        ...flags(message, 'upstream', 'force', 'dryRun'),
        downstream: message.only !== true,
      }),
      ...keyed(message),
    }),
    answer: touched,
  },
  MarkTasks: {
    ask: (message) => ({
      method: 'POST',
      path: `${runPath(message)}/mark`,
      body: JSON.stringify({
        tasks: message.tasks,
        as: text(message, 'as'),
        output: json(message, 'outputJson'),
        reason: text(message, 'reason') || undefined,
        ...flags(message, 'force', 'dryRun'),
      }),
      ...keyed(message),
    }),
    answer: touched,
  },
  SetPaused: {
    ask: (message) => {
      const verb = message.paused === true ? 'pause' : 'resume';
      const task = text(message, 'task') === '' ? '' : `/tasks/${part(message, 'task')}`;
      return { method: 'POST', path: `${runPath(message)}${task}/${verb}`, ...keyed(message) };
    },
    answer: ({ run, task, paused }) => ({ runId: run, task: task ?? '', paused }),
  },
  SetPriority: {
    ask: (message) => ({
      method: 'POST',
      path: `${runPath(message)}/priority`,
      body: JSON.stringify({ priority: text(message, 'priority') }),
      ...keyed(message),
    }),
    answer: ({ run, before, priority }) => ({ runId: run, before, priority }),
  },
  SetPriorities: {
    ask: (message) => ({
      method: 'POST',
      path: '/v1/runs/priority',
      body: JSON.stringify({
        dag: text(message, 'dag') || undefined,
        tag: text(message, 'tag') || undefined,
        state: text(message, 'state') || undefined,
        priority: text(message, 'priority') || undefined,
        to: text(message, 'to'),
        cursor: text(message, 'cursor') || undefined,
        ...flags(message, 'dryRun'),
      }),
      ...keyed(message),
    }),
    answer: (body) => ({
      dryRun: body.dryRun,
      runs: items(body).map(({ run, dag, before, refused }) => ({ runId: run, dag, before, refused: refused ?? '' })),
      cursor: body.cursor ?? '',
    }),
  },
  Rerun: {
    ask: (message) => ({
      method: 'POST',
      path: `${runPath(message)}/rerun`,
      body: JSON.stringify({
        version: message.latest === true ? 'latest' : 'same',
        params: json(message, 'paramsJson'),
      }),
      ...keyed(message),
    }),
    answer: ({ id, rerunOf, version }) => ({ runId: id, rerunOf, version }),
  },
  SignalEvent: {
    ask: (message) => ({
      method: 'POST',
      path: `/v1/events/${part(message, 'event')}`,
      body: JSON.stringify({ payload: json(message, 'payloadJson') }),
      ...keyed(message),
    }),
    answer: ({ runs }) => ({ runs: (runs as RestAnswer[]).map(({ dag, id }) => ({ dag, runId: id })) }),
  },
  ListWorkers: {
    ask: () => ({ method: 'GET', path: '/v1/workers' }),
    answer: (body) => ({
      workers: items(body).map((worker) => ({
        ...worker,
        silentMs: Math.round(Number(worker.silentMs)),
        version: worker.version ?? '',
      })),
      missing: body.missing ?? [],
    }),
  },
  DrainWorker: {
    ask: (message) => ({ method: 'POST', path: `/v1/workers/${part(message, 'workerId')}/drain`, ...keyed(message) }),
    answer: ({ id }) => ({ workerId: id }),
  },
  EvictWorker: {
    ask: (message) => ({ method: 'POST', path: `/v1/workers/${part(message, 'workerId')}/evict`, ...keyed(message) }),
    answer: ({ id }) => ({ workerId: id }),
  },
  ListTenants: {
    ask: (message) => ({
      method: 'GET',
      path: '/v1/tenants',
      query: { ...page(message), ...(message.deleted === true ? { deleted: 'true' } : {}) },
    }),
    answer: (body) => ({ tenants: items(body).map(tenantAnswer), cursor: body.cursor ?? '' }),
  },
  GetTenant: { ask: (message) => ({ method: 'GET', path: tenantPath(message) }), answer: tenantAnswer },
  CreateTenant: {
    ask: (message) => ({
      method: 'POST',
      path: '/v1/tenants',
      body: JSON.stringify({
        name: text(message, 'tenant'),
        ...tenantSettings(message),
        critical: message.critical === true,
      }),
      ...keyed(message),
    }),
    answer: tenantAnswer,
  },
  ChangeTenant: {
    ask: (message) => ({
      method: 'PUT',
      path: tenantPath(message),
      body: JSON.stringify({ ...tenantSettings(message), ...flag(message, 'critical') }),
      ...keyed(message),
    }),
    answer: tenantAnswer,
  },
  SuspendTenant: {
    ask: (message) => {
      const reason = text(message, 'reason');
      const body = JSON.stringify(reason === '' ? {} : { reason });
      return { method: 'POST', path: `${tenantPath(message)}/suspend`, body, ...keyed(message) };
    },
    answer: tenantAnswer,
  },
  ResumeTenant: {
    ask: (message) => ({ method: 'POST', path: `${tenantPath(message)}/resume`, body: '{}', ...keyed(message) }),
    answer: tenantAnswer,
  },
  DeleteTenant: {
    ask: (message) => ({ method: 'DELETE', path: tenantPath(message), ...keyed(message) }),
    answer: tenantAnswer,
  },
};
