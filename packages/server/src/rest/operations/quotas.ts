import {
  quotaPageSchema,
  quotaRemovedSchema,
  quotaViewSchema,
  raiseQuotaSchema,
  setQuotaSchema,
} from '@signalbox/protocol';
import { z } from 'zod';
import { ADMINS, type Operation, READERS } from './operation.ts';

const ofTenant = { name: z.string().describe('Name of the tenant.') };
const params = {
  ...ofTenant,
  quota: z.string().describe('`submits`, `deploys`, `runs`, `tasks` or `failures`.'),
};
const shared = { group: 'access', status: 200 } as const;
const changes = { ...shared, roles: ADMINS, installation: true, answer: quotaViewSchema } as const;

export const quotaOperations: readonly Operation[] = [
  {
    ...shared,
    id: 'listQuotas',
    method: 'GET',
    path: '/v1/tenants/:name/quotas',
    summary:
      'Lists the quotas of a tenant with what is used of each: the caller’s own, or any for the tenant `default`.',
    action: 'see quotas',
    roles: READERS,
    params: ofTenant,
    answer: quotaPageSchema,
    errors: ['TENANT_NOT_FOUND'],
  },
  {
    ...changes,
    id: 'setQuota',
    method: 'PUT',
    path: '/v1/tenants/:name/quotas/:quota',
    summary:
      'Sets a quota: over the soft limit the tenant is throttled, over the hard one requests are refused. It holds within two seconds. A raise ends.',
    action: 'set quotas',
    params,
    body: setQuotaSchema,
    example: { soft: 800, hard: 1_000 },
    errors: ['TENANT_NOT_FOUND'],
  },
  {
    ...changes,
    id: 'raiseQuota',
    method: 'POST',
    path: '/v1/tenants/:name/quotas/:quota/raise',
    summary: 'Gives a quota other limits for a while. Then those hold again that were set.',
    action: 'raise quotas',
    params,
    body: raiseQuotaSchema,
    example: { hard: 5_000, for: '2h', reason: 'the end of the quarter' },
    errors: ['TENANT_NOT_FOUND', 'QUOTA_NOT_FOUND'],
  },
  {
    ...changes,
    id: 'removeQuota',
    method: 'DELETE',
    path: '/v1/tenants/:name/quotas/:quota',
    summary: 'Removes a quota. What was counted is forgotten as its time passes.',
    action: 'remove quotas',
    params,
    answer: quotaRemovedSchema,
    errors: ['TENANT_NOT_FOUND', 'QUOTA_NOT_FOUND'],
  },
];
