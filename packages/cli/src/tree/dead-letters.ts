/** Dead letters and breakers. */
import { DEAD_LETTER_REASONS, DEAD_LETTER_STATES } from '@signalbox/protocol/words';
import type { BreakerFlags } from '../commands/breakers.ts';
import type { DeadLetterListFlags, UseFlags } from '../commands/dead-letters.ts';
import type { ClientFlags } from '../connection.ts';
import { type ArgumentDefinition, clientFlags, define, oneOf, pageFlags } from '../define.ts';

const letter: ArgumentDefinition = { name: 'letter', what: 'its id, from "dead-letters list"' };
const filters = [
  { flags: '--dag <name>', what: 'only this dag', completes: 'dag' as const },
  { flags: '--fingerprint <hex>', what: 'only this group' },
  { flags: '--task <name>', what: 'only this task' },
];
const dryRun = { flags: '--dry-run', what: 'only print what would happen' };

export const deadLetterCommands = [
  define<DeadLetterListFlags>({
    name: 'dead-letters list',
    summary: 'list tasks that failed for good, newest first',
    isDefault: true,
    flags: [
      ...filters,
      {
        flags: '--reason <reason>',
        what: DEAD_LETTER_REASONS.join(', '),
        completes: DEAD_LETTER_REASONS,
        read: oneOf(DEAD_LETTER_REASONS),
      },
      {
        flags: '--state <state>',
        what: `${DEAD_LETTER_STATES.join(', ')} (default: open)`,
        completes: DEAD_LETTER_STATES,
        read: oneOf(DEAD_LETTER_STATES),
      },
      ...pageFlags,
      ...clientFlags,
    ],
    examples: [
      ['signalbox dead-letters list', 'what needs attention'],
      ['signalbox dead-letters list --dag nightly --reason poison', 'one dag, one reason'],
    ],
    run: async (_, flags) => (await import('../commands/dead-letters.ts')).listDeadLetters(flags),
  }),
  define<ClientFlags & { readonly dag?: string }>({
    name: 'dead-letters groups',
    summary: 'group open dead letters by error, largest group first',
    flags: [filters[0]!, ...clientFlags],
    examples: [['signalbox dead-letters groups', 'one line per cause']],
    run: async (_, flags) => (await import('../commands/dead-letters.ts')).listGroups(flags),
  }),
  define<ClientFlags>({
    name: 'dead-letters show',
    summary: 'show a dead letter with its params, attempts and log',
    arguments: [letter],
    flags: clientFlags,
    examples: [['signalbox dead-letters show 0198c0de-0000-7000-8000-000000000007.0.3', 'why it was given up']],
    run: async ([id = ''], flags) => (await import('../commands/dead-letters.ts')).showDeadLetter(id, flags),
  }),
  define<UseFlags>({
    name: 'dead-letters replay',
    summary: 'replay one dead letter, or all of a dag or group',
    details:
      'The task gets new retries in its run, which keeps its version. With --latest, a new run of the current version starts instead, ' +
      'with the same params. A dead letter can be replayed once. Without an id, pass --dag or --fingerprint to replay all of them; you can stop and start again.',
    arguments: [{ ...letter, isOptional: true }],
    flags: [...filters, { flags: '--latest', what: 'start new runs of the current version' }, dryRun, ...clientFlags],
    examples: [
      ['signalbox dead-letters replay --fingerprint a84a4374d9c0 --dry-run', 'what would run'],
      ['signalbox dead-letters replay --fingerprint a84a4374d9c0 --latest', 'after a fix was deployed'],
    ],
    run: async ([id], flags) => (await import('../commands/dead-letters.ts')).replay(id, flags),
  }),
  define<UseFlags>({
    name: 'dead-letters discard',
    summary: 'close without a replay: one dead letter, or all of a dag or group',
    arguments: [{ ...letter, isOptional: true }],
    flags: [...filters, dryRun, ...clientFlags],
    examples: [['signalbox dead-letters discard --dag old-import', 'they are no longer needed']],
    run: async ([id], flags) => (await import('../commands/dead-letters.ts')).discard(id, flags),
  }),
  define<BreakerFlags>({
    name: 'breakers list',
    summary: 'list open breakers, by dag and error',
    isDefault: true,
    flags: [filters[0]!, ...clientFlags],
    examples: [['signalbox breakers', 'what is held, since when, and the next probe']],
    run: async (_, flags) => (await import('../commands/breakers.ts')).listBreakers(flags),
  }),
  define<BreakerFlags>({
    name: 'breakers reset',
    summary: 'reset a breaker: release what it holds, a little more each second',
    details: 'It opens again if tasks keep failing. Without --fingerprint, resets every breaker of the dag.',
    arguments: [{ name: 'dag', what: 'its name', completes: 'dag' }],
    flags: [{ flags: '--fingerprint <hex>', what: 'only the breaker of this error' }, ...clientFlags],
    examples: [
      ['signalbox breakers reset nightly', 'the database is back'],
      ['signalbox breakers reset nightly --fingerprint a84a4374d9c0', 'only the breaker of one error'],
    ],
    run: async ([dag = ''], flags) => (await import('../commands/breakers.ts')).resetBreaker(dag, flags),
  }),
];
