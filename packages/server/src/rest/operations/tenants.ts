import {
  listTenantsSchema,
  newTenantSchema,
  suspendTenantSchema,
  tenantPageSchema,
  tenantSettingsSchema,
  tenantViewSchema,
} from '@signalbox/protocol';
import { z } from 'zod';
import { ADMINS, type Operation, READERS } from './operation.ts';

const params = { name: z.string().describe('Name of the tenant.') };
const shared = { group: 'access', roles: ADMINS, status: 200, answer: tenantViewSchema } as const;
const ofInstallation = { ...shared, installation: true } as const;

export const tenantOperations: readonly Operation[] = [
  {
    ...ofInstallation,
    id: 'listTenants',
    method: 'GET',
    path: '/v1/tenants',
    summary: 'Lists tenants, by name.',
    action: 'list tenants',
    query: listTenantsSchema,
    answer: tenantPageSchema,
  },
  {
    ...ofInstallation,
    id: 'createTenant',
    method: 'POST',
    path: '/v1/tenants',
    summary: `Creates a tenant. Create a token of its own with \`tenant\` in \`POST /v1/tokens\`.`,
    action: 'create tenants',
    body: newTenantSchema,
    example: { name: 'team-a', weight: 2 },
    status: 201,
  },
  {
    ...shared,
    id: 'getTenant',
    method: 'GET',
    path: '/v1/tenants/:name',
    summary: 'Gets a tenant: the caller’s own, or any for the tenant `default`.',
    action: 'see tenants',
    roles: READERS,
    params,
    errors: ['TENANT_NOT_FOUND'],
  },
  {
    ...ofInstallation,
    id: 'changeTenant',
    method: 'PUT',
    path: '/v1/tenants/:name',
    summary: 'Changes the settings that are given. They hold within seconds.',
    action: 'change tenants',
    params,
    body: tenantSettingsSchema,
    example: { weight: 5, critical: true },
    errors: ['TENANT_NOT_FOUND'],
  },
  {
    ...ofInstallation,
    id: 'suspendTenant',
    method: 'POST',
    path: '/v1/tenants/:name/suspend',
    summary:
      'Suspends a tenant: within seconds its changes are refused and none of its tasks start. Running tasks finish.',
    action: 'suspend tenants',
    params,
    body: suspendTenantSchema,
    errors: ['TENANT_NOT_FOUND'],
  },
  {
    ...ofInstallation,
    id: 'resumeTenant',
    method: 'POST',
    path: '/v1/tenants/:name/resume',
    summary: 'Resumes a tenant that is suspended or deleted.',
    action: 'resume tenants',
    params,
    errors: ['TENANT_NOT_FOUND'],
  },
  {
    ...ofInstallation,
    id: 'deleteTenant',
    method: 'DELETE',
    path: '/v1/tenants/:name',
    summary: `Deletes a tenant: its credentials stop working and nothing of it starts. Its data stays until their retention; \`resume\` brings it back.`,
    action: 'delete tenants',
    params,
    errors: ['TENANT_NOT_FOUND'],
  },
];
