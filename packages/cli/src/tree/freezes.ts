/** Freezing and thawing, and what holds back work. */
import type { FreezeFlags } from '../commands/freezes.ts';
import type { ClientFlags } from '../connection.ts';
import { clientFlags, define } from '../define.ts';

const target = { name: 'target', what: 'dag:<name>, queue:<name>, worker:<id>, tenant:<name> or cluster' };
const worker = { name: 'worker', what: 'its id, the beginning of its id, or its name' };
const reason = { flags: '--reason <text>', what: 'why, for those who find it frozen' };

export const freezeCommands = [
  define<FreezeFlags>({
    name: 'freeze',
    summary: 'start no tasks of a dag, a queue, a tenant or the cluster; running tasks finish',
    details: 'Schedules go on to create runs, which wait. It lasts until "thaw".',
    arguments: [target],
    flags: [reason, ...clientFlags],
    examples: [
      ['signalbox freeze dag:etl --reason "the database is being moved"', 'within about a second'],
      ['signalbox freeze cluster', 'for the tenant default'],
    ],
    run: async ([what = ''], flags) => (await import('../commands/freezes.ts')).freeze(what, flags),
  }),
  define<ClientFlags>({
    name: 'thaw',
    summary: 'let tasks of what was frozen, or of a dag that was halted, start again',
    arguments: [target],
    flags: clientFlags,
    examples: [['signalbox thaw dag:etl', 'waiting tasks start within about a second']],
    run: async ([what = ''], flags) => (await import('../commands/freezes.ts')).thaw(what, flags),
  }),
  define<ClientFlags>({
    name: 'freezes',
    summary: 'list what is frozen or halted, by whom, since when and why',
    flags: clientFlags,
    examples: [['signalbox freezes', 'one line each']],
    run: async (_, flags) => (await import('../commands/freezes.ts')).listFreezes(flags),
  }),
  define<ClientFlags>({
    name: 'blockers',
    summary: 'list what holds back waiting tasks and runs, the most work first, and what would help',
    flags: clientFlags,
    examples: [['signalbox blockers', 'limits, freezes, breakers, busy or missing workers']],
    run: async (_, flags) => (await import('../commands/blockers.ts')).listBlockers(flags),
  }),
  define<ClientFlags>({
    name: 'why',
    summary: 'tell why a task does not run, what helps, and when it probably starts',
    details:
      'Prints the chain of reasons, from the outermost to the innermost: its run, the tasks that it waits for, limits and who has their slots, its place in the queue, workers. ' +
      'Without a task it takes the one that holds the run.',
    arguments: [
      { name: 'run', what: 'its id, or "last" for the last run that you started' },
      { name: 'task', what: 'the name of a task', isOptional: true },
    ],
    flags: clientFlags,
    examples: [
      ['signalbox why last', 'what the newest run waits for'],
      ['signalbox why last load', 'one task of it'],
    ],
    run: async ([id = '', task], flags) => (await import('../commands/why.ts')).why(id, task, flags),
  }),
  define<FreezeFlags>({
    name: 'workers cordon',
    summary: 'give a worker no new tasks; it finishes what it runs, and stays',
    arguments: [worker],
    flags: [reason, ...clientFlags],
    examples: [['signalbox workers cordon box-7:4711', 'to look into it; "workers uncordon" ends it']],
    run: async ([which = ''], flags) => (await import('../commands/freezes.ts')).cordon(which, flags),
  }),
  define<ClientFlags>({
    name: 'workers uncordon',
    summary: 'give a worker tasks again',
    arguments: [worker],
    flags: clientFlags,
    examples: [['signalbox workers uncordon box-7:4711', 'within about a second']],
    run: async ([which = ''], flags) => (await import('../commands/freezes.ts')).uncordon(which, flags),
  }),
];
