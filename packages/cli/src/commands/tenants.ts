/** `signalbox tenants`. */
import type { NewTenant, Priority, TenantView } from '@signalbox/protocol';
import { type ClientFlags, connect } from '../connection.ts';
import { EXIT } from '../exit-codes.ts';
import { coloured, print, printJson, short, table } from '../output.ts';
import { CliError } from '../problem.ts';
import { next } from '../program-name.ts';

export interface TenantFlags extends ClientFlags {
  readonly weight?: number;
  readonly defaultPriority?: Priority;
  readonly critical?: 'yes' | 'no';
}

export interface ListTenantsFlags extends ClientFlags {
  readonly deleted?: boolean;
}

export interface SuspendTenantFlags extends ClientFlags {
  readonly reason?: string;
}

const PAGE = 200;

export async function listTenants(flags: ListTenantsFlags): Promise<void> {
  const client = await connect(flags);
  const items: TenantView[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page = await client.listTenants({
      limit: PAGE,
      ...(cursor === '' ? {} : { cursor }),
      ...(flags.deleted === true ? { deleted: true } : {}),
    });
    items.push(...page.items);
    cursor = page.cursor;
  }
  if (flags.json) return printJson({ items, cursor: null });
  const rows = items.map(({ name, state, weight, defaultPriority, critical, reason }) => [
    short(name),
    coloured(state),
    String(weight),
    defaultPriority,
    critical ? 'yes' : 'no',
    short(reason ?? ''),
  ]);
  print(table(['tenant', 'state', 'weight', 'priority', 'critical', 'reason'], rows));
}

export async function showTenant(name: string, flags: ClientFlags): Promise<void> {
  const tenant = await (await connect(flags)).getTenant(name);
  if (flags.json) return printJson(tenant);
  printTenant(tenant);
}

export async function createTenant(name: string, flags: TenantFlags): Promise<void> {
  const tenant = await (await connect(flags)).createTenant({ name, ...settingsOf(flags) });
  if (flags.json) return printJson(tenant);
  printTenant(tenant);
  print(`next: ${next(`tokens create admin --role admin --tenant ${name}`)}`);
}

export async function changeTenant(name: string, flags: TenantFlags): Promise<void> {
  const settings = settingsOf(flags);
  if (Object.keys(settings).length === 0) {
    throw new CliError('Nothing to change.', 'Pass --weight, --default-priority or --critical.', EXIT.usage);
  }
  const tenant = await (await connect(flags)).changeTenant(name, settings);
  if (flags.json) return printJson(tenant);
  printTenant(tenant);
}

export async function suspendTenant(name: string, flags: SuspendTenantFlags): Promise<void> {
  const { reason } = flags;
  const tenant = await (await connect(flags)).suspendTenant(name, reason === undefined ? {} : { reason });
  if (flags.json) return printJson(tenant);
  print(`tenant ${short(name)} is suspended: within seconds none of its tasks start; running tasks finish`);
}

export async function resumeTenant(name: string, flags: ClientFlags): Promise<void> {
  const tenant = await (await connect(flags)).resumeTenant(name);
  if (flags.json) return printJson(tenant);
  print(`tenant ${short(name)} is active: what waited starts within seconds`);
}

export async function deleteTenant(name: string, flags: ClientFlags): Promise<void> {
  const tenant = await (await connect(flags)).deleteTenant(name);
  if (flags.json) return printJson(tenant);
  print(
    `tenant ${short(name)} is deleted: its credentials stop working; ${next(`tenants resume ${name}`)} brings it back`,
  );
}

function settingsOf({ weight, defaultPriority, critical }: TenantFlags): Omit<NewTenant, 'name'> {
  return {
    ...(weight === undefined ? {} : { weight }),
    ...(defaultPriority === undefined ? {} : { defaultPriority }),
    ...(critical === undefined ? {} : { critical: critical === 'yes' }),
  };
}

function printTenant({ name, state, weight, defaultPriority, critical, reason }: TenantView): void {
  const may = critical ? 'may use critical' : 'may not use critical';
  const why = reason === null ? '' : ` (${short(reason)})`;
  print(`tenant ${short(name)}: ${coloured(state)}${why}, weight ${weight}, priority ${defaultPriority}, ${may}`);
}
