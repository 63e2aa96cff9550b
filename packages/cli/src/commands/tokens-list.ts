/** `signalbox tokens list`. */
import { counted } from '@signalbox/protocol';
import { type ClientFlags, connect } from '../connection.ts';
import { coloured, print, printJson, short, table } from '../output.ts';

export async function listTokens(flags: ClientFlags): Promise<void> {
  const page = await (await connect(flags)).listTokens();
  if (flags.json) return printJson(page);
  const rows = page.items.map(({ name, role, createdAt, createdBy, expiresAt, revokedAt, queues, slots, serves }) => [
    short(name),
    short(role),
    createdAt,
    short(createdBy),
    revokedAt !== null
      ? `${coloured('revoked')} ${revokedAt}`
      : expiresAt === null
        ? 'valid'
        : `valid until ${expiresAt}`,
    [
      queues === null ? '' : `queues ${queues.join(',')}`,
      slots === null ? '' : counted(slots, 'slot'),
      serves === null ? '' : `serves ${serves.join(',')}`,
    ]
      .filter(Boolean)
      .join(', '),
  ]);
  print(table(['token', 'role', 'made', 'by', 'state', 'limits'], rows));
}
