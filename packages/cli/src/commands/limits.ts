/** `signalbox limits`. */

import type { LimitView } from '@signalbox/protocol';
import { counted } from '@signalbox/protocol';
import { type ClientFlags, connect } from '../connection.ts';
import { EXIT } from '../exit-codes.ts';
import { print, printJson, short, table } from '../output.ts';
import { CliError } from '../problem.ts';

export async function listLimits(flags: ClientFlags): Promise<void> {
  const page = await (await connect(flags)).listLimits();
  if (flags.json) return printJson(page);
  const rows = page.items.map((limit) => [
    short(limit.name),
    limit.per === null ? String(limit.slots) : `${limit.slots}/${limit.per}`,
    String(limit.granted),
    limit.pending ? 'pending' : '',
    short(limit.setBy),
    limit.setAt,
  ]);
  print(table(['limit', 'slots', 'out', '', 'set by', 'at'], rows));
}

export async function showLimit(name: string, flags: ClientFlags): Promise<void> {
  const limit = await (await connect(flags)).getLimit(name);
  if (flags.json) return printJson(limit);
  printLimit(limit);
  print(`in use: ${limit.used}, waited for: ${limit.waiting}`);
  if (limit.missing.length > 0) print(`no answer from ${limit.missing.join(', ')}: what they know is missing`);
  if (limit.holders.length === 0) return;
  const rows = limit.holders.map(({ since, slots, dag, task, run, worker }) => [
    since,
    String(slots),
    short(dag),
    short(task),
    run,
    worker,
  ]);
  print(table(['since', 'slots', 'dag', 'task', 'run', 'worker'], rows));
}

export interface SetLimitFlags extends ClientFlags {
  readonly rate?: string;
}

export async function setLimit(name: string, slots: string | undefined, flags: SetLimitFlags): Promise<void> {
  const { rate } = flags;
  if ((slots === undefined) === (rate === undefined))
    throw new CliError('How many?', 'Give either a number of slots, or --rate.', EXIT.usage);
  if (slots === undefined) return setRate(name, rate!, flags);
  if (!/^\d{1,7}$/.test(slots))
    throw new CliError(`"${slots}" is no number of slots.`, 'Use a whole number.', EXIT.usage);
  const limit = await (await connect(flags)).setLimit(name, Number(slots));
  if (flags.json) return printJson(limit);
  printLimit(limit);
}

async function setRate(name: string, rate: string, flags: ClientFlags): Promise<void> {
  const [, starts, per] = /^(\d{1,7})\/(\S+)$/.exec(rate) ?? [];
  if (starts === undefined || per === undefined)
    throw new CliError(`"${rate}" is no rate.`, 'Write how many attempts start in which time: 100/1m.', EXIT.usage);
  const limit = await (await connect(flags)).setRate(name.replace(/^rate:/, ''), Number(starts), per);
  if (flags.json) return printJson(limit);
  printLimit(limit);
}

export async function removeLimit(name: string, flags: ClientFlags): Promise<void> {
  const removed = await (await connect(flags)).removeLimit(name);
  if (flags.json) return printJson(removed);
  print(`limit ${short(name)} is removed`);
}

function printLimit({ name, slots, per, pending, warnings }: LimitView): void {
  const most = per === null ? counted(slots, 'slot') : `${counted(slots, 'start')} per ${per}`;
  print(`limit ${short(name)}: ${most}${pending ? ' (pending: it holds when slots are back)' : ''}`);
  for (const warning of warnings) print(`warning: ${warning}`);
}
