/** The calls about what starts runs by itself: schedules, backfills, events, webhooks and assets. */
import { type ApiMethod, asJson, given, items, json, keyed, type Message, page, part, text } from './message.ts';
import type { RestAnswer } from './rest-call.ts';

const dagPath = (message: Message): string => `/v1/dags/${part(message, 'dag')}`;
const schedulePath = (message: Message): string => `${dagPath(message)}/schedules/${part(message, 'schedule')}`;
const scheduleBody = (message: Message): string => JSON.stringify(json(message, 'scheduleJson') ?? {});

const scheduleAnswer = ({ warnings, ...schedule }: RestAnswer): object => ({
  ...schedule,
  scheduleJson: JSON.stringify(schedule),
  warnings: warnings ?? [],
});

const scheduleMethod = (verb: 'pause' | 'resume'): ApiMethod => ({
  ask: (message) => ({ method: 'POST', path: `${schedulePath(message)}/${verb}`, ...keyed(message) }),
  answer: scheduleAnswer,
});

const SCHEDULE_METHODS: Readonly<Record<string, ApiMethod>> = {
  ListSchedules: {
    ask: (message) => ({
      method: 'GET',
      path: '/v1/schedules',
      query: { ...given(message, 'dag', 'paused', 'origin'), ...page(message) },
    }),
    answer: (body) => ({ schedules: items(body).map(scheduleAnswer), cursor: body.cursor }),
  },
  GetSchedule: { ask: (message) => ({ method: 'GET', path: schedulePath(message) }), answer: scheduleAnswer },
  CreateSchedule: {
    ask: (message) => ({
      method: 'POST',
      path: `${dagPath(message)}/schedules`,
      body: scheduleBody(message),
      ...keyed(message),
    }),
    answer: scheduleAnswer,
  },
  EditSchedule: {
    ask: (message) => ({
      method: 'PUT',
      path: schedulePath(message),
      body: scheduleBody(message),
      ...keyed(message),
    }),
    answer: scheduleAnswer,
  },
  PauseSchedule: scheduleMethod('pause'),
  ResumeSchedule: scheduleMethod('resume'),
  DeleteSchedule: {
    ask: (message) => ({ method: 'DELETE', path: schedulePath(message), ...keyed(message) }),
    answer: ({ dag, name }) => ({ dag, name }),
  },
  PreviewSchedule: {
    ask: (message) => ({
      method: 'POST',
      path: '/v1/schedules/preview',
      body: JSON.stringify({
        schedule: json(message, 'scheduleJson') ?? {},
        ...given(message, 'from'),
        ...(Number(message.count ?? 0) > 0 ? { count: Number(message.count) } : {}),
      }),
    }),
    answer: (body) => body,
  },
  ListWindows: {
    ask: (message) => ({
      method: 'GET',
      path: `${dagPath(message)}/windows`,
      query: { ...given(message, 'schedule'), ...page(message) },
    }),
    answer: (body) => ({
      windows: items(body).map(({ run, ...window }) => ({ ...window, runId: run })),
      cursor: body.cursor,
    }),
  },
};

const backfillPath = (message: Message): string => `/v1/backfills/${part(message, 'backfillId')}`;
const backfillBody = (message: Message): string => JSON.stringify(json(message, 'backfillJson') ?? {});
const backfillMethod = (verb: 'pause' | 'resume'): ApiMethod => ({
  ask: (message) => ({ method: 'POST', path: `${backfillPath(message)}/${verb}`, ...keyed(message) }),
  answer: (body) => body,
});

const BACKFILL_METHODS: Readonly<Record<string, ApiMethod>> = {
  StartBackfill: {
    ask: (message) => ({
      method: 'POST',
      path: `${dagPath(message)}/backfills`,
      body: backfillBody(message),
      ...keyed(message),
    }),
    answer: (body) => body,
  },
  PreviewBackfill: {
    ask: (message) => ({
      method: 'POST',
      path: `${dagPath(message)}/backfills/preview`,
      body: backfillBody(message),
    }),
    answer: (body) => ({ ...body, items: items(body).map(({ run, ...window }) => ({ ...window, runId: run })) }),
  },
  GetBackfill: { ask: (message) => ({ method: 'GET', path: backfillPath(message) }), answer: (body) => body },
  ListBackfills: {
    ask: (message) => ({
      method: 'GET',
      path: '/v1/backfills',
      query: { ...given(message, 'dag'), ...page(message) },
    }),
    answer: (body) => ({ backfills: items(body), cursor: body.cursor }),
  },
  PauseBackfill: backfillMethod('pause'),
  ResumeBackfill: backfillMethod('resume'),
  CancelBackfill: {
    ask: (message) => ({
      method: 'POST',
      path: `${backfillPath(message)}/cancel`,
      body: JSON.stringify({ runs: message.runs === true }),
      ...keyed(message),
    }),
    answer: (body) => body,
  },
};

interface Sent {
  readonly runs: readonly { readonly dag: string; readonly id: string }[];
  readonly refused?: readonly { readonly dag: string; readonly problems: unknown }[];
}

const EVENT_METHODS: Readonly<Record<string, ApiMethod>> = {
  SendEvent: {
    ask: (message) => ({
      method: 'POST',
      path: '/v1/events',
      body: JSON.stringify(json(message, 'eventJson') ?? {}),
    }),
    answer: (body) => {
      const { runs, refused = [] } = body as unknown as Sent;
      return {
        ...body,
        runs: runs.map(({ dag, id }) => ({ dag, runId: id })),
        refused: refused.map(({ dag, problems }) => ({ dag, problemsJson: JSON.stringify(problems) })),
        unmatched: body.unmatched ?? [],
      };
    },
  },
  ListEvents: {
    ask: (message) => ({
      method: 'GET',
      path: '/v1/events',
      query: {
        ...given(message, 'dag', 'kind', 'after', 'from'),
        run: text(message, 'runId'),
        limit: Number(message.limit ?? 0),
      },
    }),
    answer: (body) => ({
      events: items(body).map(({ run, details, ...event }) => ({ ...event, runId: run, detailsJson: asJson(details) })),
      cursor: body.cursor,
    }),
  },
  ListExpectations: {
    ask: (message) => ({ method: 'GET', path: '/v1/expectations', query: given(message, 'dag') }),
    answer: (body) => ({ expectations: items(body) }),
  },
  CreateWebhook: {
    ask: (message) => ({
      method: 'POST',
      path: '/v1/webhooks',
      body: JSON.stringify(given(message, 'dag', 'scheme', 'secret')),
      ...keyed(message),
    }),
    answer: (body) => body,
  },
  ListWebhooks: {
    ask: () => ({ method: 'GET', path: '/v1/webhooks' }),
    answer: (body) => ({ webhooks: items(body) }),
  },
  RotateWebhook: {
    ask: (message) => ({
      method: 'POST',
      path: `/v1/webhooks/${part(message, 'webhookId')}/rotate`,
      body: JSON.stringify(given(message, 'secret', 'keepOld')),
      ...keyed(message),
    }),
    answer: (body) => body,
  },
  DeleteWebhook: {
    ask: (message) => ({ method: 'DELETE', path: `/v1/webhooks/${part(message, 'webhookId')}`, ...keyed(message) }),
    answer: ({ id }) => ({ id }),
  },
};

const assetPath = (message: Message): string => `/v1/assets/${part(message, 'asset')}`;
const assetAnswer = ({ run, ...asset }: RestAnswer): object => ({ ...asset, runId: run });

const ASSET_METHODS: Readonly<Record<string, ApiMethod>> = {
  ListAssets: {
    ask: (message) => ({ method: 'GET', path: '/v1/assets', query: page(message) }),
    answer: (body) => ({ assets: items(body).map(assetAnswer), cursor: body.cursor }),
  },
  GetAsset: { ask: (message) => ({ method: 'GET', path: assetPath(message) }), answer: assetAnswer },
  MaterializeAsset: {
    ask: (message) => ({ method: 'POST', path: `${assetPath(message)}/materialize`, ...keyed(message) }),
    answer: assetAnswer,
  },
};

export const TIME_METHODS: Readonly<Record<string, ApiMethod>> = {
  ...SCHEDULE_METHODS,
  ...BACKFILL_METHODS,
  ...EVENT_METHODS,
  ...ASSET_METHODS,
};
