import type { DeleteFlags } from '../commands/dags-delete.ts';
import type { ListDagsFlags } from '../commands/dags-list.ts';
import type { ClientFlags, PageFlags } from '../connection.ts';
import { type ArgumentDefinition, clientFlags, define, pageFlags } from '../define.ts';

const dag: ArgumentDefinition = { name: 'dag', what: 'its name', completes: 'dag' };

export const dagCommands = [
  define<ListDagsFlags>({
    name: 'dags list',
    summary: 'the dags that are deployed',
    isDefault: true,
    flags: [{ flags: '--retired', what: 'with those that were deleted' }, ...pageFlags, ...clientFlags],
    examples: [['signalbox dags', 'all of them, with their schedules']],
    run: async (_, flags) => (await import('../commands/dags-list.ts')).listDags(flags),
  }),
  define<ClientFlags>({
    name: 'dags show',
    summary: 'a dag with its tasks and schedule',
    arguments: [dag],
    flags: clientFlags,
    examples: [['signalbox dags show hello', 'tasks, what they need, what they do']],
    run: async ([name = ''], flags) => (await import('../commands/dags-show.ts')).showDag(name, flags),
  }),
  define<PageFlags>({
    name: 'dags versions',
    summary: 'the versions that a dag has had',
    arguments: [dag],
    flags: [...pageFlags, ...clientFlags],
    examples: [['signalbox dags versions hello', 'newest first']],
    run: async ([name = ''], flags) => (await import('../commands/dags-versions.ts')).listVersions(name, flags),
  }),
  define<PageFlags>({
    name: 'dags windows',
    summary: 'the planned times of a dag: the next one, and what became of the last ones',
    arguments: [dag],
    flags: [...pageFlags, ...clientFlags],
    examples: [['signalbox dags windows report', 'which windows were opened, skipped, missed']],
    run: async ([name = ''], flags) => (await import('../commands/dags-windows.ts')).listWindows(name, flags),
  }),
  define<ClientFlags>({
    name: 'dags pause',
    summary: 'hold the schedule of a dag back',
    details: 'Runs on demand and runs under way are not touched.',
    arguments: [dag],
    flags: clientFlags,
    examples: [['signalbox dags pause report', 'no window is opened until it is resumed']],
    run: async ([name = ''], flags) => (await import('../commands/dags-pause.ts')).pauseSchedule(name, flags),
  }),
  define<ClientFlags>({
    name: 'dags resume',
    summary: 'let the schedule of a dag go on',
    arguments: [dag],
    flags: clientFlags,
    examples: [['signalbox dags resume report', 'windows of the time in between stay skipped']],
    run: async ([name = ''], flags) => (await import('../commands/dags-pause.ts')).resumeSchedule(name, flags),
  }),
  define<DeleteFlags>({
    name: 'dags delete',
    summary: 'retire a dag: no new runs, no schedule; its history stays',
    details: 'Runs under way finish. Deploying it again brings it back.',
    arguments: [dag],
    flags: [{ flags: '-y, --yes', what: 'do not ask' }, ...clientFlags],
    examples: [
      ['signalbox dags delete report', 'asks first'],
      ['signalbox dags delete report --yes', 'for scripts'],
    ],
    run: async ([name = ''], flags) => (await import('../commands/dags-delete.ts')).deleteDag(name, flags),
  }),
];
