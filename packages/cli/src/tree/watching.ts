/** Logs and events. */
import { CALLBACK_STATES, EVENT_KINDS } from '@signalbox/protocol/words';
import type { CallbacksFlags } from '../commands/callbacks.ts';
import type { EventsFlags } from '../commands/events.ts';
import type { ExpectedFlags } from '../commands/events-expected.ts';
import type { SendFlags } from '../commands/events-send.ts';
import type { LogsFlags } from '../commands/logs.ts';
import type { ClientFlags } from '../connection.ts';
import { clientFlags, define, JSON_SOURCES, json, oneOf, wholeNumber } from '../define.ts';

export const watchingCommands = [
  define<CallbacksFlags>({
    name: 'callbacks list',
    summary: 'list callbacks of ended runs, sent or waiting',
    isDefault: true,
    flags: [
      {
        flags: '--state <state>',
        what: 'waiting, done or given_up',
        completes: CALLBACK_STATES,
        read: oneOf(CALLBACK_STATES),
      },
      { flags: '--limit <count>', what: 'maximum number of results', usual: 50, read: wholeNumber },
      ...clientFlags,
    ],
    examples: [['signalbox callbacks --state given_up', 'receivers that never answered']],
    run: async (_, flags) => (await import('../commands/callbacks.ts')).listCallbacks(flags),
  }),
  define<ClientFlags>({
    name: 'callbacks repeat',
    summary: 'send the callbacks of an ended run again',
    arguments: [{ name: 'run', what: 'its id' }],
    flags: clientFlags,
    examples: [['signalbox callbacks repeat 01938b5a-1c5e-7000-8000-000000000000', 'after you fixed the receiver']],
    run: async ([run = ''], flags) => (await import('../commands/callbacks.ts')).repeatCallbacks(run, flags),
  }),
  define<ClientFlags>({
    name: 'callbacks secret',
    summary: 'print the secret that receivers verify signatures with',
    flags: clientFlags,
    details: 'Prints only the secret on standard output. How to verify a signature is printed on standard error.',
    examples: [['SECRET=$(signalbox callbacks secret)', 'give it to the receiver']],
    run: async (_, flags) => (await import('../commands/callbacks.ts')).showSecret(flags),
  }),
  define<LogsFlags>({
    name: 'logs',
    summary: 'show logs of tasks',
    details:
      'Without a task, shows the logs of all tasks of the run, one after the other. On a terminal, stderr is yellow.',
    arguments: [
      { name: 'run', what: 'its id, or "last" for the last run that you started' },
      { name: 'task', what: 'the name of a task', isOptional: true },
    ],
    flags: [
      { flags: '--attempt <number>', what: 'attempt number (default: the last one)', read: wholeNumber },
      { flags: '-f, --follow', what: 'follow until the task ends' },
      { flags: '--tail <count>', what: 'only the last lines', read: wholeNumber },
      { flags: '--times', what: 'show the time of each line' },
      ...clientFlags,
    ],
    examples: [
      ['signalbox logs last', 'all tasks of a run'],
      ['signalbox logs last load --follow', 'live'],
      ['signalbox logs last load --attempt 1 --tail 50', 'the end of the first attempt'],
    ],
    run: async ([run = '', task], flags) => (await import('../commands/logs.ts')).logs(run, task, flags),
  }),
  define<EventsFlags>({
    name: 'events list',
    summary: 'list events: runs created and ended, attempts claimed and ended, dags deployed',
    isDefault: true,
    flags: [
      { flags: '-f, --follow', what: 'follow new events' },
      { flags: '--dag <name>', what: 'only this dag', completes: 'dag' },
      { flags: '--run <id>', what: 'only this run' },
      {
        flags: '--kind <kind>',
        what: 'only these kinds, such as run.ended; separated by commas',
        completes: EVENT_KINDS,
      },
      { flags: '--after <cursor>', what: 'only events after this event id' },
      { flags: '--limit <count>', what: 'maximum number of events, without --follow', usual: 50, read: wholeNumber },
      ...clientFlags,
    ],
    examples: [
      ['signalbox events --follow', 'all new events'],
      ['signalbox events --follow --dag hello --json', 'one JSON value per line, for programs'],
    ],
    run: async (_, flags) => (await import('../commands/events.ts')).events(flags),
  }),
  define<ExpectedFlags>({
    name: 'events expected',
    summary: 'list the events that dags expect, by when, and when each came last',
    flags: [{ flags: '--dag <name>', what: 'only this dag', completes: 'dag' }, ...clientFlags],
    examples: [['signalbox events expected', 'what is missing is marked']],
    run: async (_, flags) => (await import('../commands/events-expected.ts')).listExpected(flags),
  }),
  define<ClientFlags>({
    name: 'events folders',
    summary: 'list the folders that the server watches for new files',
    details: 'SIGNALBOX_WATCH_FOLDERS of a server names them. Each server knows its own.',
    flags: clientFlags,
    examples: [['signalbox events folders', 'what each holds, and the last new file']],
    run: async (_, flags) => (await import('../commands/events-folders.ts')).listFolders(flags),
  }),
  define<SendFlags>({
    name: 'events send',
    summary: 'send an event: starts a run of each dag that waits for it',
    details:
      'A dag waits for an event with "on: { event: type }". The payload becomes the params of the run, unless the trigger maps it. The same source and id start each run once.',
    arguments: [{ name: 'event', what: 'its type' }],
    flags: [
      { flags: '--payload <json>', what: `data of the event; ${JSON_SOURCES}`, read: json },
      { flags: '--source <source>', what: 'source of the event, such as /shop' },
      { flags: '--id <id>', what: 'id of the event within its source' },
      { flags: '--subject <subject>', what: 'what the event is about' },
      { flags: '--key <key>', what: 'idempotency key: the same key sends the event once' },
      ...clientFlags,
    ],
    examples: [
      [`signalbox events send order-paid --payload '{"order":17}'`, 'prints the runs that it started'],
      [`signalbox events send order-paid --source /shop --id 17`, 'twice the same id starts each run once'],
    ],
    run: async ([name = ''], flags) => (await import('../commands/events-send.ts')).send(name, flags),
  }),
];
