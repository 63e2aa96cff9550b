/** Who may come in. */
import { ROLES } from '@signalbox/protocol/words';
import type { AuditFlags } from '../commands/audit.ts';
import type { CreateTokenFlags } from '../commands/tokens-create.ts';
import type { ClientFlags } from '../connection.ts';
import { clientFlags, define, oneOf, span, wholeNumber } from '../define.ts';

export const accessCommands = [
  define<ClientFlags>({
    name: 'tokens list',
    summary: 'the tokens there are; never the secrets themselves',
    isDefault: true,
    flags: clientFlags,
    examples: [['signalbox tokens', 'names, roles, since when, revoked or not']],
    run: async (_, flags) => (await import('../commands/tokens-list.ts')).listTokens(flags),
  }),
  define<CreateTokenFlags>({
    name: 'tokens create',
    summary: 'make a token; the secret is shown once',
    arguments: [{ name: 'name', what: 'who it is for' }],
    flags: [
      {
        flags: '--role <role>',
        what: 'admin; operator: all but tokens and retention; viewer: reads; worker: runs tasks, nothing else',
        usual: 'worker',
        completes: ROLES,
        read: oneOf(ROLES),
      },
      { flags: '--expires <span>', what: 'no longer valid after 12h, 90d …', read: span, field: 'expiresIn' },
      { flags: '--queues <names>', what: 'the queues that its workers may take, separated by commas; all unless told' },
      {
        flags: '--slots <count>',
        what: 'the most slots that its workers may have at a server, together; 10000 unless told',
        read: wholeNumber,
      },
      ...clientFlags,
    ],
    examples: [
      ['signalbox tokens create fleet', 'for workers on other machines'],
      ['signalbox tokens create gpu-box --queues gpu --slots 8', 'for one machine, and nothing else'],
      ['signalbox tokens create ci --role operator --expires 90d', 'for a pipeline that deploys'],
    ],
    run: async ([name = ''], flags) => (await import('../commands/tokens-create.ts')).createToken(name, flags),
  }),
  define<ClientFlags>({
    name: 'tokens revoke',
    summary: 'take a token back, with the sessions it opened; they stop working within seconds',
    arguments: [{ name: 'name', what: 'its name' }],
    flags: clientFlags,
    examples: [['signalbox tokens revoke fleet', 'workers that use it are cut off']],
    run: async ([name = ''], flags) => (await import('../commands/tokens-revoke.ts')).revokeToken(name, flags),
  }),
  define<AuditFlags>({
    name: 'audit',
    summary: 'who made, used and revoked credentials, and what was refused',
    flags: [
      { flags: '--action <action>', what: 'only these: token.create, token.revoke, login, credential.refused …' },
      { flags: '--limit <count>', what: 'how many at most', usual: 50, read: wholeNumber },
      ...clientFlags,
    ],
    examples: [['signalbox audit --action token.revoke', 'who took which token back, and when']],
    run: async (_, flags) => (await import('../commands/audit.ts')).listAudit(flags),
  }),
  define<ClientFlags>({
    name: 'login',
    summary: 'a fresh link that opens the pages in a browser, once',
    flags: clientFlags,
    examples: [['signalbox login', 'open what it prints; it works for a few minutes, for one browser']],
    run: async (_, flags) => (await import('../commands/login.ts')).login(flags),
  }),
];
