import type { DeleteFlags } from '../commands/dags-delete.ts';
import type { ListDagsFlags } from '../commands/dags-list.ts';
import type { PauseFlags } from '../commands/dags-pause.ts';
import type { OwnerFlags } from '../commands/dags-set-owner.ts';
import type { ClientFlags, PageFlags } from '../connection.ts';
import { type ArgumentDefinition, clientFlags, define, pageFlags } from '../define.ts';

const dag: ArgumentDefinition = { name: 'dag', what: 'its name', completes: 'dag' };

export const dagCommands = [
  define<ListDagsFlags>({
    name: 'dags list',
    summary: 'list deployed dags',
    isDefault: true,
    flags: [
      { flags: '--retired', what: 'include deleted dags' },
      { flags: '--tag <tag>', what: 'only dags with this tag' },
      { flags: '--owner <owner>', what: 'only dags of this owner' },
      ...pageFlags,
      ...clientFlags,
    ],
    examples: [
      ['signalbox dags', 'all of them, with their schedules'],
      ['signalbox dags --tag billing', 'those with a tag'],
    ],
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
  define<PauseFlags>({
    name: 'dags pause',
    summary: 'pause all schedules of a dag, or with --tasks all that it does',
    details:
      'Manual runs and running runs are not affected. With --tasks none of its tasks starts either, of any run: the dag is frozen, and "freezes" lists it with the reason. Running tasks finish, and new runs wait.',
    arguments: [dag],
    flags: [
      { flags: '--tasks', what: 'also its tasks' },
      { flags: '--reason <text>', what: 'with --tasks: why, for those who find it paused' },
      ...clientFlags,
    ],
    examples: [
      ['signalbox dags pause report', 'no window fires until you resume it'],
      ['signalbox dags pause report --tasks --reason "bad data"', 'and no task starts'],
    ],
    run: async ([name = ''], flags) => (await import('../commands/dags-pause.ts')).pauseDag(name, flags),
  }),
  define<PauseFlags>({
    name: 'dags resume',
    summary: 'resume all schedules of a dag, and with --tasks its tasks',
    arguments: [dag],
    flags: [{ flags: '--tasks', what: 'also its tasks' }, ...clientFlags],
    examples: [
      ['signalbox dags resume report', 'windows that passed in between stay skipped'],
      ['signalbox dags resume report --tasks', 'waiting tasks start within about a second'],
    ],
    run: async ([name = ''], flags) => (await import('../commands/dags-pause.ts')).resumeDag(name, flags),
  }),
  define<OwnerFlags>({
    name: 'dags set-owner',
    summary: 'set who answers for a dag',
    details:
      'It goes before the owner of the definition, and stays when the dag is deployed. --clear lets that of the definition count again.',
    arguments: [dag, { name: 'owner', what: 'a team, a person or an address', isOptional: true }],
    flags: [{ flags: '--clear', what: 'the owner of the definition counts again' }, ...clientFlags],
    examples: [
      ['signalbox dags set-owner report team-data', 'shown in lists, and to filter by'],
      ['signalbox dags set-owner report --clear', 'that of the definition'],
    ],
    run: async ([name = '', owner], flags) =>
      (await import('../commands/dags-set-owner.ts')).setOwner(name, owner, flags),
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
