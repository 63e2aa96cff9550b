/** From files to dags. */
import type { ClientFlags } from '../connection.ts';
import { type ArgumentDefinition, clientFlags, define } from '../define.ts';

const paths: ArgumentDefinition = {
  name: 'paths',
  what: 'definitions as JSON',
  isMany: true,
  completes: 'file',
};

export const authoringCommands = [
  define<ClientFlags>({
    name: 'deploy',
    summary: 'make dags known to a server, or new versions of them',
    details:
      'A dag whose meaning is the same stays at its version. ' +
      'Runs that are under way finish on the version they began with.',
    arguments: [paths],
    flags: clientFlags,
    examples: [['signalbox deploy hello.json', 'one file']],
    run: async (given, flags) => (await import('../commands/deploy.ts')).deploy(given, flags),
  }),
];
