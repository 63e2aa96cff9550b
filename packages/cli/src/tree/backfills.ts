import type { BackfillFlags, CancelBackfillFlags, ListBackfillsFlags } from '../commands/backfills.ts';
import type { ClientFlags } from '../connection.ts';
import { type ArgumentDefinition, clientFlags, define, pageFlags, wholeNumber } from '../define.ts';

const backfill: ArgumentDefinition = { name: 'backfill', what: 'its id' };

function percent(text: string): number {
  return wholeNumber(text.replace(/ ?%$/, '')) / 100;
}

export const backfillCommands = [
  define<BackfillFlags>({
    name: 'backfill',
    summary: 'create runs for past windows of a schedule',
    details:
      'Without --failed and --all it creates runs for windows that have none. With --wait it shows the progress until the backfill ends, and ' +
      'exits with 1 if a run failed. Ctrl-C stops waiting; the backfill continues.',
    arguments: [{ name: 'dag', what: 'its name', completes: 'dag' }],
    flags: [
      { flags: '--from <time>', what: 'the first window, such as 2027-03-01 or 2027-03-01T06:00:00Z' },
      { flags: '--to <time>', what: 'the last window (default: now)' },
      { flags: '--schedule <name>', what: 'name of the schedule (default: default)' },
      { flags: '--failed', what: 'windows whose newest run failed, instead of those without a run' },
      { flags: '--all', what: 'all windows, also those that succeeded' },
      { flags: '--backwards', what: 'the newest window first' },
      { flags: '--until <task>', what: 'its runs go up to this task or group' },
      {
        flags: '--max-active <count>',
        what: 'how many of its runs are live at a time (default: 4)',
        read: wholeNumber,
      },
      { flags: '--share <percent>', what: 'its part of the slots while other tasks wait (default: 5%)', read: percent },
      { flags: '--dry-run', what: 'only list the windows' },
      { flags: '-w, --wait', what: 'show the progress until it ends' },
      ...clientFlags,
    ],
    examples: [
      ['signalbox backfill report --from 2027-03-01 --to 2027-03-31 --dry-run', 'which windows have no run'],
      ['signalbox backfill report --from 2027-03-01 --max-active 8 --wait', 'create them, eight at a time'],
      ['signalbox backfill report --from 2027-03-01 --failed', 'run again what failed'],
    ],
    run: async ([dag = ''], flags) => (await import('../commands/backfills.ts')).backfill(dag, flags),
  }),
  define<ListBackfillsFlags>({
    name: 'backfills list',
    summary: 'list backfills with their progress, newest first',
    isDefault: true,
    flags: [{ flags: '--dag <dag>', what: 'of this dag only', completes: 'dag' }, ...pageFlags, ...clientFlags],
    examples: [['signalbox backfills', 'the last 20']],
    run: async (_, flags) => (await import('../commands/backfills.ts')).listBackfills(flags),
  }),
  define<ClientFlags>({
    name: 'backfills show',
    summary: 'show a backfill with its progress and an estimate of its end',
    arguments: [backfill],
    flags: clientFlags,
    examples: [['signalbox backfills show <backfill>', 'how far it is']],
    run: async ([id = ''], flags) => (await import('../commands/backfills.ts')).showBackfill(id, flags),
  }),
  define<ClientFlags>({
    name: 'backfills watch',
    summary: 'show the progress of a backfill until it ends',
    arguments: [backfill],
    flags: clientFlags,
    examples: [['signalbox backfills watch <backfill>', 'a bar on a terminal, one line per change elsewhere']],
    run: async ([id = ''], flags) => (await import('../commands/backfills.ts')).watchBackfill(id, flags),
  }),
  define<ClientFlags>({
    name: 'backfills pause',
    summary: 'pause a backfill; its live runs continue',
    arguments: [backfill],
    flags: clientFlags,
    examples: [['signalbox backfills pause <backfill>', 'it creates no runs until you resume it']],
    run: async ([id = ''], flags) => (await import('../commands/backfills.ts')).setBackfill('pause', id, flags),
  }),
  define<ClientFlags>({
    name: 'backfills resume',
    summary: 'resume a backfill that is paused',
    arguments: [backfill],
    flags: clientFlags,
    examples: [['signalbox backfills resume <backfill>', 'from where it was']],
    run: async ([id = ''], flags) => (await import('../commands/backfills.ts')).setBackfill('resume', id, flags),
  }),
  define<CancelBackfillFlags>({
    name: 'backfills cancel',
    summary: 'cancel a backfill: it creates no more runs',
    details: 'Its live runs continue, unless you pass --runs.',
    arguments: [backfill],
    flags: [{ flags: '--runs', what: 'cancel its live runs too' }, ...clientFlags],
    examples: [['signalbox backfills cancel <backfill> --runs', 'stop it with everything that it started']],
    run: async ([id = ''], flags) => (await import('../commands/backfills.ts')).cancelBackfill(id, flags),
  }),
];
