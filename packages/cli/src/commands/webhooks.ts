/** `signalbox webhooks`. */
import type { WebhookScheme, WebhookSecret } from '@signalbox/protocol';
import { type ClientFlags, connect } from '../connection.ts';
import { colours, print, printJson, short, table } from '../output.ts';
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
  const made = await (await connect(flags)).createWebhook({ dag, scheme, ...(secret === undefined ? {} : { secret }) });
  if (flags.json) return printJson(made);
  process.stderr.write(`webhook ${made.id} of ${short(made.dag)}, scheme ${made.scheme}\n`);
  process.stderr.write(`address: the address of your server, then ${made.path}\n`);
  printSecret(made);
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
