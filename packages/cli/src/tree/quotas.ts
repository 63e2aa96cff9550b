/** Quotas of tenants. */
import { QUOTAS } from '@signalbox/protocol/words';
import type { QuotaFlags, RaiseFlags } from '../commands/quotas.ts';
import type { ClientFlags } from '../connection.ts';
import { clientFlags, define, wholeNumberOrZero } from '../define.ts';

const tenant = { name: 'tenant', what: 'its name' };
const quota = { name: 'quota', what: QUOTAS.join(', '), completes: QUOTAS };
const limits = [
  { flags: '--soft <number>', what: 'above this the tenant is throttled', read: wholeNumberOrZero },
  {
    flags: '--hard <number>',
    what: 'beyond this requests are refused; of fanout: the dag is halted',
    read: wholeNumberOrZero,
  },
] as const;

export const quotaCommands = [
  define<ClientFlags>({
    name: 'quotas list',
    summary: 'list the quotas of a tenant and how much of each is used',
    arguments: [tenant],
    flags: clientFlags,
    examples: [['signalbox quotas list team-a', 'your own tenant, or any for the tenant default']],
    run: async ([name = ''], flags) => (await import('../commands/quotas.ts')).listQuotas(name, flags),
  }),
  define<QuotaFlags>({
    name: 'quotas set',
    summary: 'set a quota: over the soft limit the tenant is throttled, over the hard one requests are refused',
    arguments: [tenant, quota],
    flags: [...limits, ...clientFlags],
    examples: [['signalbox quotas set team-a submits --soft 800 --hard 1000', 'runs per minute']],
    run: async ([name = '', which = ''], flags) => (await import('../commands/quotas.ts')).setQuota(name, which, flags),
  }),
  define<RaiseFlags>({
    name: 'quotas raise',
    summary: 'give a quota other limits for a while',
    arguments: [tenant, quota],
    flags: [
      ...limits,
      { flags: '--for <duration>', what: 'how long, such as 2h or 3d' },
      { flags: '--reason <text>', what: 'why, for those who see it' },
      ...clientFlags,
    ],
    examples: [
      ['signalbox quotas raise team-a submits --hard 5000 --for 2h --reason "end of quarter"', 'then as before'],
    ],
    run: async ([name = '', which = ''], flags) =>
      (await import('../commands/quotas.ts')).raiseQuota(name, which, flags),
  }),
  define<ClientFlags>({
    name: 'quotas remove',
    summary: 'remove a quota',
    arguments: [tenant, quota],
    flags: clientFlags,
    examples: [['signalbox quotas remove team-a deploys', 'as many as it likes']],
    run: async ([name = '', which = ''], flags) =>
      (await import('../commands/quotas.ts')).removeQuota(name, which, flags),
  }),
];
