/** Tenants of the installation. */
import { PRIORITIES } from '@signalbox/protocol/words';
import type { ListTenantsFlags, SuspendTenantFlags, TenantFlags } from '../commands/tenants.ts';
import type { ClientFlags } from '../connection.ts';
import { clientFlags, decimal, define, oneOf } from '../define.ts';

const named = [{ name: 'tenant', what: 'its name' }];
const settings = [
  { flags: '--weight <number>', what: 'its share of slots that several tenants wait for (default: 1)', read: decimal },
  {
    flags: '--default-priority <priority>',
    what: 'priority of dags that are deployed without one (default: normal)',
    completes: PRIORITIES,
    read: oneOf(PRIORITIES),
  },
  {
    flags: '--critical <yes|no>',
    what: 'whether it may use the priority critical (default: no)',
    completes: ['yes', 'no'],
    read: oneOf(['yes', 'no'] as const),
  },
] as const;

export const tenantCommands = [
  define<ListTenantsFlags>({
    name: 'tenants list',
    summary: 'list tenants, their weights and whether they are suspended',
    isDefault: true,
    flags: [{ flags: '--deleted', what: 'also those that were deleted' }, ...clientFlags],
    examples: [['signalbox tenants', 'for admins of the tenant default']],
    run: async (_, flags) => (await import('../commands/tenants.ts')).listTenants(flags),
  }),
  define<ClientFlags>({
    name: 'tenants show',
    summary: 'show a tenant: your own, or any for the tenant default',
    arguments: named,
    flags: clientFlags,
    examples: [['signalbox tenants show team-a', 'state, weight, what it may do']],
    run: async ([name = ''], flags) => (await import('../commands/tenants.ts')).showTenant(name, flags),
  }),
  define<TenantFlags>({
    name: 'tenants create',
    summary: 'create a tenant: a team that shares the installation and sees nothing of others',
    arguments: named,
    flags: [...settings, ...clientFlags],
    examples: [['signalbox tenants create team-a --weight 2', 'twice the share of a tenant with weight 1']],
    run: async ([name = ''], flags) => (await import('../commands/tenants.ts')).createTenant(name, flags),
  }),
  define<TenantFlags>({
    name: 'tenants set',
    summary: 'change the weight of a tenant, its default priority, or whether it may use critical',
    arguments: named,
    flags: [...settings, ...clientFlags],
    examples: [['signalbox tenants set team-a --weight 5', 'holds within seconds, for what waits too']],
    run: async ([name = ''], flags) => (await import('../commands/tenants.ts')).changeTenant(name, flags),
  }),
  define<SuspendTenantFlags>({
    name: 'tenants suspend',
    summary: 'start none of its tasks and refuse its changes; running tasks finish',
    arguments: named,
    flags: [{ flags: '--reason <text>', what: 'why, for those who find it suspended' }, ...clientFlags],
    examples: [['signalbox tenants suspend team-a --reason "a loop of submissions"', 'until it is resumed']],
    run: async ([name = ''], flags) => (await import('../commands/tenants.ts')).suspendTenant(name, flags),
  }),
  define<ClientFlags>({
    name: 'tenants resume',
    summary: 'resume a tenant that was suspended or deleted',
    arguments: named,
    flags: clientFlags,
    examples: [['signalbox tenants resume team-a', 'what waited starts within seconds']],
    run: async ([name = ''], flags) => (await import('../commands/tenants.ts')).resumeTenant(name, flags),
  }),
  define<ClientFlags>({
    name: 'tenants delete',
    summary: 'delete a tenant: its credentials stop working and nothing of it starts',
    details: 'Its data stays until their retention, and its name is not free. "tenants resume" brings it back.',
    arguments: named,
    flags: clientFlags,
    examples: [['signalbox tenants delete team-a', 'the tenant default can not be deleted']],
    run: async ([name = ''], flags) => (await import('../commands/tenants.ts')).deleteTenant(name, flags),
  }),
];
