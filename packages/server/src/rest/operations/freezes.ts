import { freezePageSchema, freezeViewSchema, newFreezeSchema, thawedSchema } from '@signalbox/protocol';
import { z } from 'zod';
import { OPERATORS, type Operation, READERS } from './operation.ts';

const params = {
  target: z.string().describe('What: `cluster`, `tenant:team-a`, `queue:default`, `dag:etl` or `worker:<id>`.'),
};
const shared = { group: 'fleet', status: 200 } as const;

export const freezeOperations: readonly Operation[] = [
  {
    ...shared,
    id: 'listFreezes',
    method: 'GET',
    path: '/v1/freezes',
    summary: 'Lists what is frozen, by whom and since when.',
    action: 'list freezes',
    roles: READERS,
    answer: freezePageSchema,
  },
  {
    ...shared,
    id: 'freeze',
    method: 'PUT',
    path: '/v1/freezes/:target',
    summary:
      'Freezes a dag, a queue, a worker, a tenant or the cluster: within about a second none of its tasks start. Running tasks finish, and schedules go on to create runs. The cluster and other tenants are for the tenant `default`.',
    action: 'freeze this',
    roles: OPERATORS,
    params,
    body: newFreezeSchema,
    example: { reason: 'the database is being moved' },
    answer: freezeViewSchema,
    errors: ['DAG_NOT_FOUND', 'TENANT_NOT_FOUND', 'TOO_MANY_FREEZES', 'WORKER_NOT_FOUND'],
  },
  {
    ...shared,
    id: 'thaw',
    method: 'DELETE',
    path: '/v1/freezes/:target',
    summary:
      'Thaws what was frozen: waiting tasks start within about a second. What the tenant `default` froze, it alone thaws.',
    action: 'thaw this',
    roles: OPERATORS,
    params,
    answer: thawedSchema,
    errors: ['FREEZE_NOT_FOUND', 'TENANT_NOT_FOUND'],
  },
];
