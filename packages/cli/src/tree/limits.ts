/** Limits over several dags. */
import type { SetLimitFlags } from '../commands/limits.ts';
import type { ClientFlags } from '../connection.ts';
import { clientFlags, define } from '../define.ts';

const named = {
  name: 'limit',
  what: 'pool:<name>, queue:<name>, tenant:<name> or cluster; rate:queue:<name> and so on',
};

export const limitCommands = [
  define<ClientFlags>({
    name: 'limits list',
    summary: 'list limits over several dags: pools, and caps of queues, tenants and the cluster, and rates',
    isDefault: true,
    flags: clientFlags,
    examples: [['signalbox limits', 'slots, how many are out, and whether a change is pending']],
    run: async (_, flags) => (await import('../commands/limits.ts')).listLimits(flags),
  }),
  define<ClientFlags>({
    name: 'limits show',
    summary: 'show a limit: who has its slots and since when',
    arguments: [named],
    flags: clientFlags,
    examples: [['signalbox limits show pool:database', 'the tasks that have its slots, the longest first']],
    run: async ([name = ''], flags) => (await import('../commands/limits.ts')).showLimit(name, flags),
  }),
  define<SetLimitFlags>({
    name: 'limits set',
    summary:
      'set how many slots a pool has, how many tasks run at once in a queue, a tenant or the cluster, or how many start per time',
    details: 'Kills nothing: a lower limit is pending until tasks that run now have ended.',
    arguments: [named, { name: 'slots', what: 'how many', isOptional: true }],
    flags: [
      { flags: '--rate <starts/time>', what: 'at most so many attempts start per time, such as 100/1m' },
      ...clientFlags,
    ],
    examples: [
      ['signalbox limits set pool:database 5', 'tasks with "pool: { name: database }" share 5 slots'],
      ['signalbox limits set queue:default 100', 'at most 100 tasks of the queue run at once'],
      ['signalbox limits set queue:default --rate 100/1m', 'at most 100 attempts of the queue start in any minute'],
      ['signalbox limits set tenant:team-a 50', 'for admins of the tenant default'],
    ],
    run: async ([name = '', slots], flags) => (await import('../commands/limits.ts')).setLimit(name, slots, flags),
  }),
  define<ClientFlags>({
    name: 'limits remove',
    summary: 'remove a limit; tasks in a pool that was removed wait until it is set again',
    arguments: [named],
    flags: clientFlags,
    examples: [['signalbox limits remove cluster', 'as many tasks run as workers have slots']],
    run: async ([name = ''], flags) => (await import('../commands/limits.ts')).removeLimit(name, flags),
  }),
];
