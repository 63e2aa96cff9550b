/** Webhooks. */
import { WEBHOOK_SCHEMES } from '@signalbox/protocol/words';
import type { CreateWebhookFlags, RotateWebhookFlags } from '../commands/webhooks.ts';
import type { ClientFlags } from '../connection.ts';
import { clientFlags, define, oneOf, span } from '../define.ts';

const secretFlag = { flags: '--secret <secret>', what: 'a secret that the outside system made, such as Stripe’s' };

export const webhookCommands = [
  define<ClientFlags>({
    name: 'webhooks list',
    summary: 'list webhooks (never the secrets)',
    isDefault: true,
    flags: clientFlags,
    examples: [['signalbox webhooks', 'ids, dags, schemes']],
    run: async (_, flags) => (await import('../commands/webhooks.ts')).listWebhooks(flags),
  }),
  define<CreateWebhookFlags>({
    name: 'webhooks create',
    summary: 'create an address that an outside system calls; the secret is shown once',
    details: 'The dag needs a trigger for the events, such as "on: { type: webhook.github.push }".',
    arguments: [{ name: 'dag', what: 'its name' }],
    flags: [
      {
        flags: '--scheme <scheme>',
        what: 'how calls are signed: standard (Standard Webhooks), github, stripe, or token (a secret in a header)',
        usual: 'standard',
        completes: WEBHOOK_SCHEMES,
        read: oneOf(WEBHOOK_SCHEMES),
      },
      secretFlag,
      ...clientFlags,
    ],
    examples: [
      [
        'signalbox webhooks create deploy --scheme github',
        'paste address and secret into the settings of the repository',
      ],
      ['signalbox webhooks create invoices --scheme stripe --secret whsec_…', 'with the secret that Stripe shows'],
    ],
    run: async ([dag = ''], flags) => (await import('../commands/webhooks.ts')).createWebhook(dag, flags),
  }),
  define<RotateWebhookFlags>({
    name: 'webhooks rotate',
    summary: 'give a webhook a new secret; the old one is accepted for a day',
    arguments: [{ name: 'webhook', what: 'its id' }],
    flags: [
      secretFlag,
      { flags: '--keep-old <span>', what: 'accept the old secret for this long (default: 24h)', read: span },
      ...clientFlags,
    ],
    examples: [['signalbox webhooks rotate 0198c0de-0000-4000-8000-000000000007', 'prints the new secret']],
    run: async ([id = ''], flags) => (await import('../commands/webhooks.ts')).rotateWebhook(id, flags),
  }),
  define<ClientFlags>({
    name: 'webhooks delete',
    summary: 'delete a webhook; calls to it are refused at once',
    arguments: [{ name: 'webhook', what: 'its id' }],
    flags: clientFlags,
    examples: [['signalbox webhooks delete 0198c0de-0000-4000-8000-000000000007', 'the dag stays']],
    run: async ([id = ''], flags) => (await import('../commands/webhooks.ts')).deleteWebhook(id, flags),
  }),
];
