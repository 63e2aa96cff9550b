/** `signalbox audit`. */
import { type ClientFlags, connect } from '../connection.ts';
import { print, printJson, short, table } from '../output.ts';

export interface AuditFlags extends ClientFlags {
  readonly action?: string;
  readonly limit: number;
}

export async function listAudit(flags: AuditFlags): Promise<void> {
  const filter = { limit: flags.limit, ...(flags.action === undefined ? {} : { action: flags.action }) };
  const page = await (await connect(flags)).listAudit(filter);
  if (flags.json) return printJson(page);
  const rows = page.items.map(({ at, actor, action, target, origin, outcome, details }) => [
    at,
    short(actor === '' ? 'unknown' : actor),
    action,
    short(target),
    origin,
    typeof details?.count === 'number' && details.count > 1 ? `${outcome} (${details.count} times)` : outcome,
  ]);
  print(table(['at', 'who', 'what', 'of', 'from', 'outcome'], rows));
}
