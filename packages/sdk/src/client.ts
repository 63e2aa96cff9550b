/** The REST API as functions. Every answer is checked for its shape; every refusal is a `SignalboxError` with a code. */
import { randomUUID } from 'node:crypto';
import { SignalboxError } from '@signalbox/protocol/errors';
import type { AttemptName, CallOptions, ChangeOptions, Client, ClientOptions, EventFilter } from './client-types.ts';
import { eventsOf, linesOf, runLinesOf } from './follow.ts';
import { importAll, keyOfPart } from './import-all.ts';
import { askHealth, pollRun } from './poll.ts';
import { DEFAULT_RETRIES, type Request, type RetryTiming, send, type Target, waitFor } from './request.ts';
import { loadSchemas, type Parser, type Schemas } from './schemas.ts';

export * from './client-types.ts';

/** @example const client = createClient({ url, token }); const run = await client.waitForRun((await client.submit('greet')).id); */
export function createClient(options: ClientOptions): Client {
  const timing: RetryTiming = {
    ...DEFAULT_RETRIES,
    ...(options.retryForMs === undefined ? {} : { retryForMs: options.retryForMs }),
    ...options.timing,
  };
  const target: Target = { baseUrl: baseOf(options.url), token: options.token, fetch: options.fetch ?? null, timing };

  async function ask<T>(pick: (schemas: Schemas) => Parser<T>, request: Request): Promise<T> {
    const [schemas, answer] = await Promise.all([loadSchemas(), send(target, request)]);
    const parsed = pick(schemas).safeParse(answer);
    if (parsed.success) return parsed.data;
    throw new SignalboxError('INTERNAL', { incident: 'none: the answer has another shape' }, { cause: parsed.error });
  }

  const get = <T>(pick: (schemas: Schemas) => Parser<T>, path: string, { signal }: CallOptions = {}) =>
    ask(pick, { method: 'GET', path, signal });

  /** A change has a key even when the caller gave none: it is what makes trying again safe. */
  const change = <T>(
    pick: (schemas: Schemas) => Parser<T>,
    request: Pick<Request, 'method' | 'path' | 'body'>,
    { idempotencyKey, signal }: ChangeOptions = {},
  ) => ask(pick, { ...request, idempotencyKey: idempotencyKey ?? randomUUID(), signal });
  const post = <T>(pick: (schemas: Schemas) => Parser<T>, path: string, body: unknown, call?: ChangeOptions) =>
    change(pick, { method: 'POST', path, body }, call);

  /** Under its own hash a thing can be sent any number of times: it needs no key. */
  const putBytes = (path: string, bytes: Uint8Array, { signal }: CallOptions = {}) =>
    ask((s) => s.bundleStoredSchema, { method: 'PUT', path, bytes, signal });

  const pauseFor = (signal: AbortSignal | undefined) => (retryAfterMs: number, tries: number) =>
    timing.sleep(waitFor({ details: { retryAfterMs } }, tries, timing), signal);

  const client: Client = {
    deployDag: (definition, { source, ...call } = {}) => {
      const path = `${dagPath(definition.name)}${query({ source })}`;
      return change((s) => s.deployedSchema, { method: 'PUT', path, body: definition }, call);
    },
    getDag: (name, call) => get((s) => s.dagDetailsSchema, dagPath(name), call),
    listDagNames: (filter = {}, call) => get((s) => s.dagNamePageSchema, `/v1/dag-names${query({ ...filter })}`, call),
    listDags: (page = {}, call) => get((s) => s.dagPageSchema, `/v1/dags${query({ ...page })}`, call),
    setDagOwner: (name, owner, call) =>
      change((s) => s.dagOwnerSchema, { method: 'PUT', path: `${dagPath(name)}/owner`, body: { owner } }, call),
    deleteDag: (name, call) => change((s) => s.dagRetiredSchema, { method: 'DELETE', path: dagPath(name) }, call),
    listVersions: (dag, page = {}, call) =>
      get((s) => s.versionPageSchema, `${dagPath(dag)}/versions${query({ ...page })}`, call),
    getVersion: (dag, version, call) => get((s) => s.versionViewSchema, `${dagPath(dag)}/versions/${version}`, call),
    putBundle: (hash, code, call) => putBytes(`/v1/bundles/${part(hash)}`, code, call),
    putSourceMap: (hash, map, call) => putBytes(`/v1/bundles/${part(hash)}/source-map`, map, call),

    submit: (dag, run = {}, call) => post((s) => s.submittedSchema, `${dagPath(dag)}/runs`, run, call),
    createJob: (job, call) => post((s) => s.createdJobSchema, '/v1/jobs', job, call),
    createJobs: (jobs, call) => post((s) => s.createdJobsSchema, '/v1/jobs/batch', { jobs }, call),
    importJobs: (jobs, { idempotencyKey = randomUUID(), signal } = {}) =>
      importAll(
        jobs,
        (lines, first) =>
          ask((s) => s.importedSchema, {
            ...{ method: 'POST', path: '/v1/jobs/import', lines, signal },
            idempotencyKey: keyOfPart(idempotencyKey, first),
          }),
        pauseFor(signal),
      ),
    listJobs: (filter = {}, call) => get((s) => s.jobPageSchema, `/v1/jobs${query({ ...filter })}`, call),
    getJob: (id, call) => get((s) => s.jobViewSchema, jobPath(id), call),
    listJobRuns: (id, page = {}, call) =>
      get((s) => s.jobRunPageSchema, `${jobPath(id)}/runs${query({ ...page })}`, call),
    pauseJob: (id, call) => post((s) => s.jobViewSchema, `${jobPath(id)}/pause`, {}, call),
    resumeJob: (id, call) => post((s) => s.jobViewSchema, `${jobPath(id)}/resume`, {}, call),
    cancelJob: (id, call) => post((s) => s.jobViewSchema, `${jobPath(id)}/cancel`, {}, call),
    deleteJob: (id, call) => change((s) => s.jobDeletedSchema, { method: 'DELETE', path: jobPath(id) }, call),
    submitMany: (dag, runs, call) => post((s) => s.submittedBatchSchema, `${dagPath(dag)}/runs/batch`, { runs }, call),
    getRun: (id, call) => get((s) => s.runViewSchema, runPath(id), call),
    listRuns: (filter = {}, call) => get((s) => s.runPageSchema, `/v1/runs${query({ ...filter })}`, call),
    cancelRun: (id, { force, graceMs, ...call } = {}) =>
      post(
        (s) => s.cancelledSchema,
        `${runPath(id)}/cancel`,
        { ...(force === true && { force }), ...(graceMs !== undefined && { graceMs }) },
        call,
      ),
    previewCancel: (id, { force, ...call } = {}) =>
      post((s) => s.touchedSchema, `${runPath(id)}/cancel`, { dryRun: true, ...(force === true && { force }) }, call),
    cancelRuns: (filter, call) => post((s) => s.cancelledRunsSchema, '/v1/runs/cancel', filter, call),
    setPriority: (id, priority, call) =>
      post((s) => s.prioritySetSchema, `${runPath(id)}/priority`, { priority }, call),
    retryRuns: (filter, call) => post((s) => s.retriedRunsSchema, '/v1/runs/retry', filter, call),
    setPriorities: (filter, call) => post((s) => s.prioritiesSetSchema, '/v1/runs/priority', filter, call),
    waitForRun: (id, wait = {}) => pollRun(client, id, wait, timing),
    listTasks: (run, filter = {}, call) =>
      get((s) => s.taskPageSchema, `${runPath(run)}/tasks${query({ ...filter })}`, call),
    getTaskWhy: (run, task, call) => get((s) => s.taskWhySchema, `${taskPath(run, task)}/why`, call),
    getTask: (run, task, call) => get((s) => s.taskViewSchema, taskPath(run, task), call),
    listAttempts: (run, task, call) => get((s) => s.attemptPageSchema, `${taskPath(run, task)}/attempts`, call),
    listDecisions: (run, task, call) => get((s) => s.decisionPageSchema, `${taskPath(run, task)}/decisions`, call),
    retryTask: (run, task, call) => post((s) => s.taskRetriedSchema, `${taskPath(run, task)}/retry`, {}, call),
    clearTasks: (run, clear, call) => post((s) => s.touchedSchema, `${runPath(run)}/clear`, clear, call),
    clearRuns: (dag, clear, call) => post((s) => s.clearedRunsSchema, `${dagPath(dag)}/clear`, clear, call),
    markTasks: (run, mark, call) => post((s) => s.touchedSchema, `${runPath(run)}/mark`, mark, call),
    cancelTask: (run, task, cancel = {}, call = {}) =>
      post((s) => s.touchedSchema, `${taskPath(run, task)}/cancel`, cancel, call),
    pauseRun: (id, call) => post((s) => s.pausedSchema, `${runPath(id)}/pause`, {}, call),
    resumeRun: (id, call) => post((s) => s.pausedSchema, `${runPath(id)}/resume`, {}, call),
    pauseTask: (run, task, call) => post((s) => s.pausedSchema, `${taskPath(run, task)}/pause`, {}, call),
    resumeTask: (run, task, call) => post((s) => s.pausedSchema, `${taskPath(run, task)}/resume`, {}, call),
    previewRerun: (id, rerun = {}, call = {}) =>
      post((s) => s.rerunPreviewSchema, `${runPath(id)}/rerun`, { ...rerun, dryRun: true }, call),
    rerun: (id, rerun = {}, call = {}) => post((s) => s.rerunAnswerSchema, `${runPath(id)}/rerun`, rerun, call),

    readLog: (attempt, page = {}, call) =>
      get((s) => s.logPageSchema, `${logPath(attempt)}${query({ ...page })}`, call),
    followLog: (attempt, { from = 0, signal } = {}) =>
      linesOf(target, client, { attempt, path: `${logPath(attempt)}?follow=true`, from, signal }),

    readRunLog: (run, page = {}, call) =>
      get((s) => s.runLogPageSchema, `${runPath(run)}/log${query({ ...page })}`, call),
    followRunLog: (run, { cursor = '', signal } = {}) =>
      runLinesOf(target, { path: `${runPath(run)}/log?follow=true`, lastId: cursor, signal }),

    listEvents: ({ limit, ...filter } = {}, call) =>
      get((s) => s.eventPageSchema, `/v1/events${query({ ...eventQuery(filter), limit })}`, call),
    followEvents: (filter = {}, { signal } = {}) =>
      eventsOf(target, { path: `/v1/events${query(eventQuery(filter))}`, lastId: '', signal }),
    signalEvent: (name, payload, call) =>
      post((s) => s.signalledSchema, `/v1/events/${part(name)}`, payload === undefined ? {} : { payload }, call),

    sendEvent: (event, call) => post((s) => s.sentEventSchema, '/v1/events', event, call),

    listDeadLetters: (filter = {}, call) =>
      get((s) => s.deadLetterPageSchema, `/v1/dead-letters${query({ ...filter })}`, call),
    listDeadLetterGroups: (filter = {}, call) =>
      get((s) => s.deadLetterGroupsSchema, `/v1/dead-letters/groups${query({ ...filter })}`, call),
    getDeadLetter: (letter, call) => get((s) => s.deadLetterDetailsSchema, `/v1/dead-letters/${part(letter)}`, call),
    replayDeadLetter: (letter, { latest = false, dryRun = false, ...call } = {}) =>
      post((s) => s.deadLettersUsedSchema, `/v1/dead-letters/${part(letter)}/replay`, { latest, dryRun }, call),
    discardDeadLetter: (letter, call) =>
      post((s) => s.deadLetterViewSchema, `/v1/dead-letters/${part(letter)}/discard`, {}, call),
    replayDeadLetters: (filter, call) => post((s) => s.deadLettersUsedSchema, '/v1/dead-letters/replay', filter, call),
    discardDeadLetters: (filter, call) =>
      post((s) => s.deadLettersUsedSchema, '/v1/dead-letters/discard', filter, call),
    listBreakers: (filter = {}, call) => get((s) => s.breakerPageSchema, `/v1/breakers${query({ ...filter })}`, call),
    resetBreaker: (breaker, call) => post((s) => s.breakerResetSchema, '/v1/breakers/reset', breaker, call),

    listSchedules: (page = {}, call) => get((s) => s.schedulePageSchema, `/v1/schedules${query({ ...page })}`, call),
    previewSchedule: (schedule, { from, count, ...call } = {}) =>
      post((s) => s.schedulePreviewSchema, '/v1/schedules/preview', { schedule, from, count }, call),
    createSchedules: (items, call) => post((s) => s.schedulesCreatedSchema, '/v1/schedules', { items }, call),
    importSchedules: (schedules, call) =>
      importAll(
        schedules,
        (lines) =>
          ask((s) => s.importedSchema, { method: 'POST', path: '/v1/schedules/import', lines, signal: call?.signal }),
        pauseFor(call?.signal),
      ),
    listSchedulesOfDag: (dag, page = {}, call) =>
      get((s) => s.schedulePageSchema, `${dagPath(dag)}/schedules${query({ ...page })}`, call),
    createSchedule: (dag, schedule, call) =>
      post((s) => s.listedScheduleSchema, `${dagPath(dag)}/schedules`, schedule, call),
    getSchedule: (dag, schedule, call) => get((s) => s.listedScheduleSchema, schedulePath(dag, schedule), call),
    editSchedule: (dag, schedule, to, call) =>
      change((s) => s.listedScheduleSchema, { method: 'PUT', path: schedulePath(dag, schedule), body: to }, call),
    deleteSchedule: (dag, schedule, call) =>
      change((s) => s.scheduleDeletedSchema, { method: 'DELETE', path: schedulePath(dag, schedule) }, call),
    pauseOneSchedule: (dag, schedule, call) =>
      post((s) => s.listedScheduleSchema, `${schedulePath(dag, schedule)}/pause`, {}, call),
    resumeOneSchedule: (dag, schedule, call) =>
      post((s) => s.listedScheduleSchema, `${schedulePath(dag, schedule)}/resume`, {}, call),
    startBackfill: (dag, backfill, call) =>
      post((s) => s.backfillViewSchema, `${dagPath(dag)}/backfills`, backfill, call),
    previewBackfill: (dag, backfill, call) =>
      post((s) => s.backfillPreviewSchema, `${dagPath(dag)}/backfills/preview`, backfill, call),
    listBackfills: (filter = {}, call) =>
      get((s) => s.backfillPageSchema, `/v1/backfills${query({ ...filter })}`, call),
    getBackfill: (id, call) => get((s) => s.backfillViewSchema, `/v1/backfills/${part(id)}`, call),
    pauseBackfill: (id, call) => post((s) => s.backfillViewSchema, `/v1/backfills/${part(id)}/pause`, {}, call),
    resumeBackfill: (id, call) => post((s) => s.backfillViewSchema, `/v1/backfills/${part(id)}/resume`, {}, call),
    cancelBackfill: (id, { runs = false, ...call } = {}) =>
      post((s) => s.backfillViewSchema, `/v1/backfills/${part(id)}/cancel`, { runs }, call),
    listWindows: (dag, page = {}, call) =>
      get((s) => s.windowPageSchema, `${dagPath(dag)}/windows${query({ ...page })}`, call),
    pauseSchedule: (dag, call) => post((s) => s.schedulePausedSchema, `${dagPath(dag)}/schedule/pause`, {}, call),
    resumeSchedule: (dag, call) => post((s) => s.schedulePausedSchema, `${dagPath(dag)}/schedule/resume`, {}, call),

    listWorkers: (call) => get((s) => s.workerPageSchema, '/v1/workers', call),
    listWorkerHistory: (filter = {}, call) =>
      get((s) => s.workerHistorySchema, `/v1/workers/history${query({ ...filter })}`, call),
    drainWorker: (id, call) => post((s) => s.workerDrainedSchema, `/v1/workers/${part(id)}/drain`, {}, call),
    evictWorker: (id, call) => post((s) => s.workerDrainedSchema, `/v1/workers/${part(id)}/evict`, {}, call),
    listQueues: (call) => get((s) => s.queuePageSchema, '/v1/queues', call),
    scaleIn: (queue, body, call) => post((s) => s.scaledInSchema, `/v1/queues/${part(queue)}/scale-in`, body, call),
    listNodes: (call) => get((s) => s.nodePageSchema, '/v1/nodes', call),

    listCallbacks: (filter = {}, call) =>
      get((s) => s.callbackPageSchema, `/v1/callbacks${query({ ...filter })}`, call),
    getCallbackSecret: (call) => get((s) => s.callbackSecretSchema, '/v1/callbacks/secret', call),
    repeatCallbacks: (run, call) => post((s) => s.callbacksRepeatedSchema, `${runPath(run)}/callbacks`, {}, call),

    listWebhooks: (call) => get((s) => s.webhookPageSchema, '/v1/webhooks', call),
    createWebhook: (webhook, call) => post((s) => s.webhookSecretSchema, '/v1/webhooks', webhook, call),
    rotateWebhook: (id, { secret, keepOld, ...call } = {}) =>
      post(
        (s) => s.webhookSecretSchema,
        `/v1/webhooks/${part(id)}/rotate`,
        { ...(secret !== undefined && { secret }), ...(keepOld !== undefined && { keepOld }) },
        call,
      ),
    deleteWebhook: (id, call) =>
      change((s) => s.webhookDeletedSchema, { method: 'DELETE', path: `/v1/webhooks/${part(id)}` }, call),

    listBlockers: (call) => get((s) => s.blockerPageSchema, '/v1/blockers', call),
    listFreezes: (call) => get((s) => s.freezePageSchema, '/v1/freezes', call),
    freeze: (target, { reason, ...call } = {}) =>
      change(
        (s) => s.freezeViewSchema,
        { method: 'PUT', path: `/v1/freezes/${part(target)}`, body: reason === undefined ? {} : { reason } },
        call,
      ),
    thaw: (target, call) =>
      change((s) => s.thawedSchema, { method: 'DELETE', path: `/v1/freezes/${part(target)}` }, call),
    listReservations: (call) => get((s) => s.reservationPageSchema, '/v1/reservations', call),
    createReservation: (reservation, call) =>
      post((s) => s.reservationViewSchema, '/v1/reservations', reservation, call),
    deleteReservation: (id, call) =>
      change((s) => s.reservationDeletedSchema, { method: 'DELETE', path: `/v1/reservations/${part(id)}` }, call),
    listLimits: (call) => get((s) => s.limitPageSchema, '/v1/limits', call),
    getLimit: (name, call) => get((s) => s.limitDetailsSchema, `/v1/limits/${part(name)}`, call),
    setLimit: (name, slots, call) =>
      change((s) => s.limitViewSchema, { method: 'PUT', path: `/v1/limits/${part(name)}`, body: { slots } }, call),
    setRate: (of, limit, per, call) =>
      change(
        (s) => s.limitViewSchema,
        { method: 'PUT', path: `/v1/limits/${part(`rate:${of}`)}`, body: { slots: limit, per } },
        call,
      ),
    removeLimit: (name, call) =>
      change((s) => s.limitRemovedSchema, { method: 'DELETE', path: `/v1/limits/${part(name)}` }, call),
    listTenants: ({ limit, cursor, deleted, ...call } = {}) =>
      get((s) => s.tenantPageSchema, `/v1/tenants${query({ limit, cursor, deleted })}`, call),
    listQuotas: (tenant, call) => get((s) => s.quotaPageSchema, `/v1/tenants/${part(tenant)}/quotas`, call),
    setQuota: (tenant, quota, body, call) =>
      change((s) => s.quotaViewSchema, { method: 'PUT', path: quotaPath(tenant, quota), body }, call),
    raiseQuota: (tenant, quota, raise, call) =>
      post((s) => s.quotaViewSchema, `${quotaPath(tenant, quota)}/raise`, raise, call),
    removeQuota: (tenant, quota, call) =>
      change((s) => s.quotaRemovedSchema, { method: 'DELETE', path: quotaPath(tenant, quota) }, call),
    getTenant: (name, call) => get((s) => s.tenantViewSchema, `/v1/tenants/${part(name)}`, call),
    createTenant: (tenant, call) => post((s) => s.tenantViewSchema, '/v1/tenants', tenant, call),
    changeTenant: (name, settings, call) =>
      change((s) => s.tenantViewSchema, { method: 'PUT', path: `/v1/tenants/${part(name)}`, body: settings }, call),
    suspendTenant: (name, { reason, ...call } = {}) =>
      post(
        (s) => s.tenantViewSchema,
        `/v1/tenants/${part(name)}/suspend`,
        reason === undefined ? {} : { reason },
        call,
      ),
    resumeTenant: (name, call) => post((s) => s.tenantViewSchema, `/v1/tenants/${part(name)}/resume`, {}, call),
    deleteTenant: (name, call) =>
      change((s) => s.tenantViewSchema, { method: 'DELETE', path: `/v1/tenants/${part(name)}` }, call),
    listTokens: (call) => get((s) => s.tokenPageSchema, '/v1/tokens', call),
    createToken: (token, call) => post((s) => s.createdTokenSchema, '/v1/tokens', token, call),
    revokeToken: (name, call) => post((s) => s.tokenRevokedSchema, `/v1/tokens/${part(name)}/revoke`, {}, call),
    listAudit: (filter = {}, call) => get((s) => s.auditPageSchema, `/v1/audit${query({ ...filter })}`, call),
    createLoginLink: (link = {}, call) => post((s) => s.loginLinkSchema, '/v1/login-links', link, call),
    getRetention: (call) => get((s) => s.retentionSchema, '/v1/retention', call),
    runRetention: (call) => post((s) => s.retentionRunSchema, '/v1/retention/run', {}, call),
    listExpectations: (filter = {}, call) =>
      get((s) => s.expectationPageSchema, `/v1/expectations${query({ ...filter })}`, call),
    listFolders: (call) => get((s) => s.watchedFolderPageSchema, '/v1/folders', call),
    listAssets: (page = {}, call) => get((s) => s.assetPageSchema, `/v1/assets${query({ ...page })}`, call),
    getAsset: (name, call) => get((s) => s.assetViewSchema, `/v1/assets/${part(name)}`, call),
    materializeAsset: (name, call) => post((s) => s.assetViewSchema, `/v1/assets/${part(name)}/materialize`, {}, call),
    getCosts: (filter = {}, call) => get((s) => s.costsSchema, `/v1/costs${query({ ...filter })}`, call),
    listRateCards: (call) => get((s) => s.rateCardPageSchema, '/v1/costs/rates', call),
    setRateCard: (card, call) =>
      change((s) => s.rateCardViewSchema, { method: 'PUT', path: '/v1/costs/rates', body: card }, call),
    listBudgets: (call) => get((s) => s.budgetPageSchema, '/v1/costs/budgets', call),
    setBudget: (target, amount, call) =>
      change(
        (s) => s.budgetViewSchema,
        { method: 'PUT', path: `/v1/costs/budgets/${part(target)}`, body: { amount } },
        call,
      ),
    removeBudget: (target, call) =>
      change((s) => s.budgetRemovedSchema, { method: 'DELETE', path: `/v1/costs/budgets/${part(target)}` }, call),
    getSettings: (call) => get((s) => s.settingsSchema, '/v1/settings', call),
    changeSettings: (settings, call) =>
      change((s) => s.settingsSchema, { method: 'PUT', path: '/v1/settings', body: settings }, call),
    getZones: (call) => get((s) => s.zonesViewSchema, '/v1/zones', call),
    upgradeZones: (call) => post((s) => s.zonesRaisedSchema, '/v1/zones/upgrade', {}, call),

    health: (call = {}) => askHealth(target, call),
  };
  return client;
}

function baseOf(url: string): string {
  if (!/^https?:\/\//.test(url)) throw new TypeError(`url is "${url}"; give one such as http://127.0.0.1:4500`);
  return url.replace(/\/+$/, '');
}

const part = encodeURIComponent;
const quotaPath = (tenant: string, quota: string) => `/v1/tenants/${part(tenant)}/quotas/${part(quota)}`;
const dagPath = (name: string): string => `/v1/dags/${part(name)}`;
const schedulePath = (dag: string, schedule: string): string => `${dagPath(dag)}/schedules/${part(schedule)}`;
const jobPath = (id: string): string => `/v1/jobs/${part(id)}`;
const runPath = (id: string): string => `/v1/runs/${part(id)}`;
const taskPath = (run: string, task: string): string => `${runPath(run)}/tasks/${part(task)}`;
const logPath = ({ run, task, attempt = 'last' }: AttemptName): string =>
  `${taskPath(run, task)}/attempts/${attempt}/log`;

const eventQuery = ({ kinds, ...filter }: EventFilter) => ({ ...filter, kind: kinds?.join(',') });

function query(fields: Readonly<Record<string, string | number | boolean | undefined>>): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(fields)) if (value !== undefined) search.set(name, String(value));
  return search.size === 0 ? '' : `?${search.toString()}`;
}
