/** Logs and events. */
import { CALLBACK_STATES, EVENT_KINDS } from '@signalbox/protocol/words';
import type { CallbacksFlags } from '../commands/callbacks.ts';
import type { EventsFlags } from '../commands/events.ts';
import type { SendFlags } from '../commands/events-send.ts';
import type { LogsFlags } from '../commands/logs.ts';
import type { ClientFlags } from '../connection.ts';
import { clientFlags, define, JSON_SOURCES, json, oneOf, wholeNumber } from '../define.ts';

export const watchingCommands = [
  define<CallbacksFlags>({
    name: 'callbacks list',
    summary: 'calls that were made, or wait, because runs have ended',
    isDefault: true,
    flags: [
      {
        flags: '--state <state>',
        what: 'waiting, done or given_up',
        completes: CALLBACK_STATES,
        read: oneOf(CALLBACK_STATES),
      },
      { flags: '--limit <count>', what: 'how many at most', usual: 50, read: wholeNumber },
      ...clientFlags,
    ],
    examples: [['signalbox callbacks --state given_up', 'receivers that never answered']],
    run: async (_, flags) => (await import('../commands/callbacks.ts')).listCallbacks(flags),
  }),
  define<ClientFlags>({
    name: 'callbacks repeat',
    summary: 'make the calls of an ended run once more',
    arguments: [{ name: 'run', what: 'its id' }],
    flags: clientFlags,
    examples: [['signalbox callbacks repeat 01938b5a-1c5e-7000-8000-000000000000', 'after the receiver was mended']],
    run: async ([run = ''], flags) => (await import('../commands/callbacks.ts')).repeatCallbacks(run, flags),
  }),
  define<ClientFlags>({
    name: 'callbacks secret',
    summary: 'what receivers check the signature of calls with',
    flags: clientFlags,
    details: 'Only the secret goes to standard output; how to check a signature goes to standard error.',
    examples: [['SECRET=$(signalbox callbacks secret)', 'give it to the receiver']],
    run: async (_, flags) => (await import('../commands/callbacks.ts')).showSecret(flags),
  }),
  define<LogsFlags>({
    name: 'logs',
    summary: 'what tasks have written',
    details:
      'Without a task: those of every task of the run, one after the other. Lines of stderr are shown in yellow on a terminal.',
    arguments: [
      { name: 'run', what: 'its id, or "last" for the last one that you made' },
      { name: 'task', what: 'the name of a task', isOptional: true },
    ],
    flags: [
      { flags: '--attempt <number>', what: 'of this attempt, not the last one', read: wholeNumber },
      { flags: '-f, --follow', what: 'go on until the task has ended' },
      { flags: '--tail <count>', what: 'only the last lines', read: wholeNumber },
      { flags: '--times', what: 'with the time of each line' },
      ...clientFlags,
    ],
    examples: [
      ['signalbox logs last', 'all tasks of a run'],
      ['signalbox logs last load --follow', 'as it comes'],
      ['signalbox logs last load --attempt 1 --tail 50', 'the end of the first attempt'],
    ],
    run: async ([run = '', task], flags) => (await import('../commands/logs.ts')).logs(run, task, flags),
  }),
  define<EventsFlags>({
    name: 'events list',
    summary: 'what has happened: runs created and ended, attempts claimed and ended, dags deployed',
    isDefault: true,
    flags: [
      { flags: '-f, --follow', what: 'go on, as it happens' },
      { flags: '--dag <name>', what: 'only of this dag', completes: 'dag' },
      { flags: '--run <id>', what: 'only of this run' },
      {
        flags: '--kind <kind>',
        what: 'only of this kind, such as run.ended; several with commas between',
        completes: EVENT_KINDS,
      },
      { flags: '--after <cursor>', what: 'those after this one: the id that an event shows' },
      { flags: '--limit <count>', what: 'how many at most, without --follow', usual: 50, read: wholeNumber },
      ...clientFlags,
    ],
    examples: [
      ['signalbox events --follow', 'everything, from now on'],
      ['signalbox events --follow --dag hello --json', 'a JSON value per line, for programs'],
    ],
    run: async (_, flags) => (await import('../commands/events.ts')).events(flags),
  }),
  define<SendFlags>({
    name: 'events send',
    summary: 'send an event: makes a run of each dag that waits for it',
    details: 'A dag waits for it with "on: { event: name }"; the payload becomes the params of its runs.',
    arguments: [{ name: 'event', what: 'its name' }],
    flags: [
      { flags: '--payload <json>', what: `what the runs are given; ${JSON_SOURCES}`, read: json },
      { flags: '--key <key>', what: 'idempotency key: the same key sends it once' },
      ...clientFlags,
    ],
    examples: [[`signalbox events send order-paid --payload '{"order":17}'`, 'says which runs it has made']],
    run: async ([name = ''], flags) => (await import('../commands/events-send.ts')).send(name, flags),
  }),
];
