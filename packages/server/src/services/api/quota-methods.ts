/** The calls of the API about quotas of tenants. */
import { type ApiMethod, items, keyed, type Message, part, text } from './message.ts';
import type { RestAnswer } from './rest-call.ts';

const quotasPath = (message: Message): string => `/v1/tenants/${part(message, 'tenant')}/quotas`;
const quotaPath = (message: Message): string => `${quotasPath(message)}/${part(message, 'quota')}`;

interface Limits {
  readonly soft?: number;
  readonly hard?: number;
}

/** A limit that is absent is none; 0 is one. */
function limitsIn({ soft, hard }: Message): Limits {
  return {
    ...(typeof soft === 'number' ? { soft } : {}),
    ...(typeof hard === 'number' ? { hard } : {}),
  };
}

function limitsOf(of: { readonly soft?: number | null; readonly hard?: number | null } | null): Limits {
  return { ...(of?.soft == null ? {} : { soft: of.soft }), ...(of?.hard == null ? {} : { hard: of.hard }) };
}

type Raise = { readonly soft: number | null; readonly hard: number | null; until: string; reason: string | null };

function quotaAnswer({ raise, soft, hard, ...quota }: RestAnswer): object {
  const raised = raise as Raise | null;
  const { soft: raisedSoft, hard: raisedHard } = limitsOf(raised);
  return {
    ...quota,
    ...limitsOf({ soft: soft as number | null, hard: hard as number | null }),
    ...(raisedSoft === undefined ? {} : { raisedSoft }),
    ...(raisedHard === undefined ? {} : { raisedHard }),
    raisedUntil: raised?.until ?? '',
    raiseReason: raised?.reason ?? '',
  };
}

export const QUOTA_METHODS: Readonly<Record<string, ApiMethod>> = {
  ListQuotas: {
    ask: (message) => ({ method: 'GET', path: quotasPath(message) }),
    answer: (body) => ({ quotas: items(body).map(quotaAnswer) }),
  },
  SetQuota: {
    ask: (message) => ({
      method: 'PUT',
      path: quotaPath(message),
      body: JSON.stringify(limitsIn(message)),
      ...keyed(message),
    }),
    answer: quotaAnswer,
  },
  RaiseQuota: {
    ask: (message) => ({
      method: 'POST',
      path: `${quotaPath(message)}/raise`,
      body: JSON.stringify({ ...limitsIn(message), for: text(message, 'for'), reason: text(message, 'reason') }),
      ...keyed(message),
    }),
    answer: quotaAnswer,
  },
  RemoveQuota: {
    ask: (message) => ({ method: 'DELETE', path: quotaPath(message), ...keyed(message) }),
    answer: ({ quota }) => ({ quota }),
  },
};
