/** `signalbox quotas`. */
import { QUOTA_MEANINGS, type QuotaName, type QuotaView } from '@signalbox/protocol';
import { type ClientFlags, connect } from '../connection.ts';
import { EXIT } from '../exit-codes.ts';
import { coloured, print, printJson, short, table } from '../output.ts';
import { CliError } from '../problem.ts';

export interface QuotaFlags extends ClientFlags {
  readonly soft?: number;
  readonly hard?: number;
}

export interface RaiseFlags extends QuotaFlags {
  readonly for?: string;
  readonly reason?: string;
}

const shown = (limit: number | null) => (limit === null ? '–' : String(limit));

export async function listQuotas(tenant: string, flags: ClientFlags): Promise<void> {
  const page = await (await connect(flags)).listQuotas(tenant);
  if (flags.json) return printJson(page);
  const rows = page.items.map(({ quota, used, soft, hard, level, raise }) => [
    quota,
    QUOTA_MEANINGS[quota],
    String(used),
    shown(raise?.soft ?? soft),
    shown(raise?.hard ?? hard),
    levelWord(level),
    raise === null ? '' : `raised until ${raise.until}${raise.reason === null ? '' : ` (${short(raise.reason)})`}`,
  ]);
  print(table(['quota', 'of', 'used', 'soft', 'hard', 'state', ''], rows));
}

export async function setQuota(tenant: string, quota: string, flags: QuotaFlags): Promise<void> {
  const view = await (await connect(flags)).setQuota(tenant, quota as QuotaName, limitsIn(flags));
  if (flags.json) return printJson(view);
  printQuota(view);
}

export async function raiseQuota(tenant: string, quota: string, flags: RaiseFlags): Promise<void> {
  const { for: span, reason } = flags;
  if (span === undefined || reason === undefined)
    throw new CliError('A raise needs its end and a reason.', 'Pass --for and --reason.', EXIT.usage);
  const raise = { ...limitsIn(flags), for: span, reason };
  const view = await (await connect(flags)).raiseQuota(tenant, quota as QuotaName, raise);
  if (flags.json) return printJson(view);
  printQuota(view);
}

export async function removeQuota(tenant: string, quota: string, flags: ClientFlags): Promise<void> {
  const removed = await (await connect(flags)).removeQuota(tenant, quota as QuotaName);
  if (flags.json) return printJson(removed);
  print(`tenant ${short(tenant)} has no quota of ${QUOTA_MEANINGS[removed.quota]} any more`);
}

function limitsIn({ soft, hard }: QuotaFlags): { soft?: number; hard?: number } {
  if (soft === undefined && hard === undefined)
    throw new CliError('A quota needs a limit.', 'Pass --soft, --hard or both.', EXIT.usage);
  return { ...(soft === undefined ? {} : { soft }), ...(hard === undefined ? {} : { hard }) };
}

function levelWord(level: QuotaView['level']): string {
  return level === 'under' ? '' : coloured(level === 'soft' ? 'throttled' : 'used up');
}

function printQuota({ quota, soft, hard, raise, warnings }: QuotaView): void {
  print(`quota ${quota} (${QUOTA_MEANINGS[quota]}): soft ${shown(soft)}, hard ${shown(hard)}`);
  if (raise !== null) print(`until ${raise.until}: soft ${shown(raise.soft)}, hard ${shown(raise.hard)}`);
  for (const warning of warnings) print(`warning: ${warning}`);
}
