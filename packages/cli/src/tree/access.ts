/** Credentials and sessions. */
import { ROLES } from '@signalbox/protocol/words';
import type { AuditFlags } from '../commands/audit.ts';
import type { CreateTokenFlags } from '../commands/tokens-create.ts';
import type { ClientFlags } from '../connection.ts';
import { clientFlags, define, oneOf, span, wholeNumber } from '../define.ts';

export const accessCommands = [
  define<ClientFlags>({
    name: 'tokens list',
    summary: 'list tokens (never the secrets)',
    isDefault: true,
    flags: clientFlags,
    examples: [['signalbox tokens', 'names, roles, creation times, revoked or not']],
    run: async (_, flags) => (await import('../commands/tokens-list.ts')).listTokens(flags),
  }),
  define<CreateTokenFlags>({
    name: 'tokens create',
    summary: 'create a token; the secret is shown once',
    arguments: [{ name: 'name', what: 'who it is for' }],
    flags: [
      {
        flags: '--role <role>',
        what: 'admin: everything; operator: everything except tokens and retention; viewer: read only; worker: run tasks only',
        usual: 'worker',
        completes: ROLES,
        read: oneOf(ROLES),
      },
      { flags: '--expires <span>', what: 'expire after this time: 12h, 90d …', read: span, field: 'expiresIn' },
      {
        flags: '--tenant <name>',
        what: 'the tenant that it is for (default: yours; only for admins of the tenant default)',
      },
      {
        flags: '--serves <names>',
        what: 'tenants that its workers serve, separated by commas, or * for all (default: its own; only for admins of the tenant default)',
      },
      { flags: '--queues <names>', what: 'queues that its workers may serve, separated by commas (default: all)' },
      {
        flags: '--slots <count>',
        what: 'maximum slots of all its workers at one server, together (default: 10000)',
        read: wholeNumber,
      },
      ...clientFlags,
    ],
    examples: [
      ['signalbox tokens create fleet', 'for workers on other machines'],
      ['signalbox tokens create gpu-box --queues gpu --slots 8', 'for one machine'],
      ["signalbox tokens create shared --serves '*'", 'for workers that serve every tenant'],
      ['signalbox tokens create ci --role operator --expires 90d', 'for a pipeline that deploys'],
    ],
    run: async ([name = ''], flags) => (await import('../commands/tokens-create.ts')).createToken(name, flags),
  }),
  define<ClientFlags>({
    name: 'tokens revoke',
    summary: 'revoke a token and the sessions it opened; they stop working within seconds',
    arguments: [{ name: 'name', what: 'its name' }],
    flags: clientFlags,
    examples: [['signalbox tokens revoke fleet', 'workers that use it are disconnected']],
    run: async ([name = ''], flags) => (await import('../commands/tokens-revoke.ts')).revokeToken(name, flags),
  }),
  define<AuditFlags>({
    name: 'audit',
    summary: 'show who created, used and revoked credentials, and what was refused',
    flags: [
      { flags: '--action <action>', what: 'only this action: token.create, token.revoke, login, credential.refused …' },
      { flags: '--limit <count>', what: 'maximum number of results', usual: 50, read: wholeNumber },
      ...clientFlags,
    ],
    examples: [['signalbox audit --action token.revoke', 'who revoked which token, and when']],
    run: async (_, flags) => (await import('../commands/audit.ts')).listAudit(flags),
  }),
  define<ClientFlags>({
    name: 'login',
    summary: 'print a link that opens the web pages in a browser, once',
    flags: clientFlags,
    examples: [['signalbox login', 'open the link; it works once, for a few minutes']],
    run: async (_, flags) => (await import('../commands/login.ts')).login(flags),
  }),
];
