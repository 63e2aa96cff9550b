import {
  limitDetailsSchema,
  limitPageSchema,
  limitRemovedSchema,
  limitViewSchema,
  setLimitSchema,
} from '@signalbox/protocol';
import { z } from 'zod';
import { ADMINS, type Operation, READERS } from './operation.ts';

const params = {
  limit: z
    .string()
    .describe(
      'Name of the limit: `pool:database`, `queue:default`, `tenant:team-a` or `cluster`; of starts per time `rate:queue:default` and so on.',
    ),
};
const shared = { group: 'fleet', status: 200 } as const;

export const slotLimitOperations: readonly Operation[] = [
  {
    ...shared,
    id: 'listLimits',
    method: 'GET',
    path: '/v1/limits',
    summary: 'Lists limits over several dags: pools, caps and rates, by name.',
    action: 'list limits',
    roles: READERS,
    answer: limitPageSchema,
  },
  {
    ...shared,
    id: 'getLimit',
    method: 'GET',
    path: '/v1/limits/:limit',
    summary: 'Gets a limit, and which running tasks have its slots since when.',
    action: 'see limits',
    roles: READERS,
    params,
    answer: limitDetailsSchema,
    errors: ['LIMIT_NOT_FOUND'],
  },
  {
    ...shared,
    id: 'setLimit',
    method: 'PUT',
    path: '/v1/limits/:limit',
    summary:
      'Sets a limit, or changes it. It kills nothing: a lower one is `pending` until slots are back. A tenant has at most 1,000 pools, 200 caps of queues and 200 rates. A rate needs `per`: so many attempts start in that time. Caps of tenants and of the cluster are for the tenant `default`.',
    action: 'set limits',
    roles: ADMINS,
    params,
    body: setLimitSchema,
    example: { slots: 5 },
    answer: limitViewSchema,
    errors: ['TENANT_NOT_FOUND', 'TOO_MANY_LIMITS'],
  },
  {
    ...shared,
    id: 'removeLimit',
    method: 'DELETE',
    path: '/v1/limits/:limit',
    summary: 'Removes a limit. Tasks in a pool that was removed wait until it is set again.',
    action: 'remove limits',
    roles: ADMINS,
    params,
    answer: limitRemovedSchema,
    errors: ['LIMIT_NOT_FOUND'],
  },
];
