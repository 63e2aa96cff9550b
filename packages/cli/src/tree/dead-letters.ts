/** Dead letters and breakers. */
import { LETTER_REASONS, LETTER_STATES } from '@signalbox/protocol/words';
import type { BreakerFlags } from '../commands/breakers.ts';
import type { DeadLetterListFlags, UseFlags } from '../commands/dead-letters.ts';
import type { ClientFlags } from '../connection.ts';
import { type ArgumentDefinition, clientFlags, define, oneOf, pageFlags } from '../define.ts';

const letter: ArgumentDefinition = { name: 'letter', what: 'its id, as lists show it' };
const filters = [
  { flags: '--dag <name>', what: 'only of this dag', completes: 'dag' as const },
  { flags: '--fingerprint <hex>', what: 'only of this group' },
  { flags: '--task <name>', what: 'only of this task' },
];
const dryRun = { flags: '--dry-run', what: 'change nothing, say what would be done' };

export const deadLetterCommands = [
  define<DeadLetterListFlags>({
    name: 'dead-letters list',
    summary: 'tasks that failed for good, newest first',
    isDefault: true,
    flags: [
      ...filters,
      {
        flags: '--reason <reason>',
        what: LETTER_REASONS.join(', '),
        completes: LETTER_REASONS,
        read: oneOf(LETTER_REASONS),
      },
      {
        flags: '--state <state>',
        what: `${LETTER_STATES.join(', ')}; open unless told`,
        completes: LETTER_STATES,
        read: oneOf(LETTER_STATES),
      },
      ...pageFlags,
      ...clientFlags,
    ],
    examples: [
      ['signalbox dead-letters list', 'what waits for somebody'],
      ['signalbox dead-letters list --dag nightly --reason poison', 'of one dag, for one reason'],
    ],
    run: async (_, flags) => (await import('../commands/dead-letters.ts')).listDeadLetters(flags),
  }),
  define<ClientFlags & { readonly dag?: string }>({
    name: 'dead-letters groups',
    summary: 'open ones by what they have in common, the largest group first',
    flags: [filters[0]!, ...clientFlags],
    examples: [['signalbox dead-letters groups', 'one line for each cause']],
    run: async (_, flags) => (await import('../commands/dead-letters.ts')).listGroups(flags),
  }),
  define<ClientFlags>({
    name: 'dead-letters show',
    summary: 'one with its params, attempts, and where its log is',
    arguments: [letter],
    flags: clientFlags,
    examples: [['signalbox dead-letters show 0198c0de-0000-7000-8000-000000000007.0.3', 'why it was given up']],
    run: async ([id = ''], flags) => (await import('../commands/dead-letters.ts')).showDeadLetter(id, flags),
  }),
  define<UseFlags>({
    name: 'dead-letters replay',
    summary: 'try it again: one, or all of a dag or of a group',
    details:
      'The task gets a fresh budget of attempts in its run, which goes on in the version that it began with; with --latest a new run of the current version ' +
      'is made, with the same params. A letter is used once. Without an id, give --dag or --fingerprint: it goes on until all have been gone through, and may be stopped and begun again.',
    arguments: [{ ...letter, isOptional: true }],
    flags: [...filters, { flags: '--latest', what: 'as new runs of the current version' }, dryRun, ...clientFlags],
    examples: [
      ['signalbox dead-letters replay --fingerprint a84a4374d9c0 --dry-run', 'what would run'],
      ['signalbox dead-letters replay --fingerprint a84a4374d9c0 --latest', 'after a fix was deployed'],
    ],
    run: async ([id], flags) => (await import('../commands/dead-letters.ts')).replay(id, flags),
  }),
  define<UseFlags>({
    name: 'dead-letters discard',
    summary: 'close it without a replay: one, or all of a dag or of a group',
    arguments: [{ ...letter, isOptional: true }],
    flags: [...filters, dryRun, ...clientFlags],
    examples: [['signalbox dead-letters discard --dag old-import', 'nobody wants these any more']],
    run: async ([id], flags) => (await import('../commands/dead-letters.ts')).discard(id, flags),
  }),
  define<BreakerFlags>({
    name: 'breakers list',
    summary: 'breakers that hold tasks back, by dag and by error',
    isDefault: true,
    flags: [filters[0]!, ...clientFlags],
    examples: [['signalbox breakers', 'what is held, since when, and when the next probe goes']],
    run: async (_, flags) => (await import('../commands/breakers.ts')).listBreakers(flags),
  }),
  define<BreakerFlags>({
    name: 'breakers reset',
    summary: 'let go what a breaker holds, more each second',
    details: 'It opens again if the failures go on. Without --fingerprint: every breaker of the dag.',
    arguments: [{ name: 'dag', what: 'its name', completes: 'dag' }],
    flags: [{ flags: '--fingerprint <hex>', what: 'of the error' }, ...clientFlags],
    examples: [
      ['signalbox breakers reset nightly', 'the database is back'],
      ['signalbox breakers reset nightly --fingerprint a84a4374d9c0', 'only the breaker of one error'],
    ],
    run: async ([dag = ''], flags) => (await import('../commands/breakers.ts')).resetBreaker(dag, flags),
  }),
];
