/** `signalbox webhooks`. */
import type { WebhookScheme, WebhookSecret } from '@signalbox/protocol';
import { type ClientFlags, connect } from '../connection.ts';
import { colours, print, printJson, short, table, warning } from '../output.ts';
import { next } from '../program-name.ts';

export interface CreateWebhookFlags extends ClientFlags {
  readonly scheme: WebhookScheme;
  readonly secret?: string;
}

export interface RotateWebhookFlags extends ClientFlags {
  readonly secret?: string;
  /** Milliseconds. */
  readonly keepOld?: number;
}

export async function createWebhook(dag: string, flags: CreateWebhookFlags): Promise<void> {
  const { scheme, secret } = flags;
  const client = await connect(flags);
  const made = await client.createWebhook({ dag, scheme, ...(secret === undefined ? {} : { secret }) });
  if (flags.json) return printJson(made);
  const { triggers } = await client.getDag(dag);
  process.stderr.write(`webhook ${made.id} of ${short(made.dag)}, scheme ${made.scheme}\n`);
  process.stderr.write(`address: the address of your server, then ${made.path}\n`);
  if (!triggers.some(({ type }) => mayTake(type, scheme))) {
    const text = `no trigger of ${short(made.dag)} takes its calls: deploy one, such as "on: { type: ${TYPES[scheme]} }"`;
    process.stderr.write(`${warning(text)}\n`);
  }
  printSecret(made);
}

/** A type that calls of the scheme have, as an example. */
const TYPES: Readonly<Record<WebhookScheme, string>> = {
  standard: 'webhook.standard',
  github: 'webhook.github.push',
  stripe: 'webhook.stripe.invoice.paid',
  token: 'webhook.token',
};

/** A trigger with this type may take calls of the scheme. */
function mayTake(type: string, scheme: WebhookScheme): boolean {
  const ofScheme = `webhook.${scheme}`;
  if (type.endsWith('*')) return ofScheme.startsWith(type.slice(0, -1)) || type.startsWith(`${ofScheme}.`);
  return type === ofScheme || type.startsWith(`${ofScheme}.`);
}

export async function rotateWebhook(id: string, flags: RotateWebhookFlags): Promise<void> {
  const { secret, keepOld } = flags;
  const made = await (await connect(flags)).rotateWebhook(id, {
    ...(secret === undefined ? {} : { secret }),
    ...(keepOld === undefined ? {} : { keepOld: `${keepOld}ms` }),
  });
  if (flags.json) return printJson(made);
  process.stderr.write(`webhook ${made.id} of ${short(made.dag)} has a new secret\n`);
  printSecret(made);
}

/** The secret alone on standard output, so that it can be caught. */
function printSecret({ secret }: WebhookSecret): void {
  if (secret === null) return;
  process.stderr.write(`${colours.yellow('Copy the secret now. It is shown only once:')}\n`);
  print(secret);
}

export async function listWebhooks(flags: ClientFlags): Promise<void> {
  const page = await (await connect(flags)).listWebhooks();
  if (flags.json) return printJson(page);
  if (page.items.length === 0) return print(`no webhooks: create one with ${next('webhooks create <dag>')}`);
  const rows = page.items.map(({ id, dag, scheme, createdAt, createdBy }) => [
    id,
    short(dag),
    scheme,
    createdAt,
    short(createdBy),
  ]);
  print(table(['webhook', 'dag', 'scheme', 'made', 'by'], rows));
}

export async function deleteWebhook(id: string, flags: ClientFlags): Promise<void> {
  const gone = await (await connect(flags)).deleteWebhook(id);
  if (flags.json) return printJson(gone);
  print(`webhook ${gone.id} is deleted: calls to it are refused`);
}
