import type { DeleteFlags } from '../commands/dags-delete.ts';
import type { ListDagsFlags } from '../commands/dags-list.ts';
import type { ClientFlags, PageFlags } from '../connection.ts';
import { type ArgumentDefinition, clientFlags, define, pageFlags } from '../define.ts';

const dag: ArgumentDefinition = { name: 'dag', what: 'its name', completes: 'dag' };

export const dagCommands = [
  define<ListDagsFlags>({
    name: 'dags list',
    summary: 'list deployed dags',
    isDefault: true,
    flags: [{ flags: '--retired', what: 'include deleted dags' }, ...pageFlags, ...clientFlags],
    examples: [['signalbox dags', 'all of them, with their schedules']],
    run: async (_, flags) => (await import('../commands/dags-list.ts')).listDags(flags),
  }),
  define<ClientFlags>({
    name: 'dags show',
    summary: 'show a dag with its tasks and schedule',
    arguments: [dag],
    flags: clientFlags,
    examples: [['signalbox dags show hello', 'tasks, what they need, what they do']],
    run: async ([name = ''], flags) => (await import('../commands/dags-show.ts')).showDag(name, flags),
  }),
  define<PageFlags>({
    name: 'dags versions',
    summary: 'list the versions of a dag',
    arguments: [dag],
    flags: [...pageFlags, ...clientFlags],
    examples: [['signalbox dags versions hello', 'newest first']],
    run: async ([name = ''], flags) => (await import('../commands/dags-versions.ts')).listVersions(name, flags),
  }),
  define<PageFlags>({
    name: 'dags windows',
    summary: 'list the windows of a schedule: the next one, and what happened to the last ones',
    arguments: [dag],
    flags: [...pageFlags, ...clientFlags],
    examples: [['signalbox dags windows report', 'which windows created a run, were skipped or missed']],
    run: async ([name = ''], flags) => (await import('../commands/dags-windows.ts')).listWindows(name, flags),
  }),
  define<ClientFlags>({
    name: 'dags pause',
    summary: 'pause all schedules of a dag',
    details: 'Manual runs and running runs are not affected.',
    arguments: [dag],
    flags: clientFlags,
    examples: [['signalbox dags pause report', 'no window fires until you resume it']],
    run: async ([name = ''], flags) => (await import('../commands/dags-pause.ts')).pauseSchedule(name, flags),
  }),
  define<ClientFlags>({
    name: 'dags resume',
    summary: 'resume all schedules of a dag',
    arguments: [dag],
    flags: clientFlags,
    examples: [['signalbox dags resume report', 'windows that passed in between stay skipped']],
    run: async ([name = ''], flags) => (await import('../commands/dags-pause.ts')).resumeSchedule(name, flags),
  }),
  define<DeleteFlags>({
    name: 'dags delete',
    summary: 'retire a dag: no new runs, no schedule; its history stays',
    details: 'Running runs finish. Deploy it again to bring it back.',
    arguments: [dag],
    flags: [{ flags: '-y, --yes', what: 'do not ask for confirmation' }, ...clientFlags],
    examples: [
      ['signalbox dags delete report', 'asks first'],
      ['signalbox dags delete report --yes', 'for scripts'],
    ],
    run: async ([name = ''], flags) => (await import('../commands/dags-delete.ts')).deleteDag(name, flags),
  }),
];
