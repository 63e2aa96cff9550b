/** `signalbox reservations`. */
import { counted, type NewReservation, type ReservationView } from '@signalbox/protocol';
import { type ClientFlags, connect } from '../connection.ts';
import { EXIT } from '../exit-codes.ts';
import { print, printJson, short, table } from '../output.ts';
import { CliError } from '../problem.ts';

export interface ReserveFlags extends ClientFlags {
  readonly dag?: string;
  readonly tenant?: string;
  readonly slots?: string;
  readonly queue?: string;
  readonly from?: string;
  readonly until?: string;
  readonly timezone?: string;
  readonly days?: string;
  readonly reason?: string;
}

export async function listReservations(flags: ClientFlags): Promise<void> {
  const page = await (await connect(flags)).listReservations();
  if (flags.json) return printJson(page);
  if (page.items.length === 0) return print('nothing is reserved');
  const rows = page.items.map((one) => [
    one.id,
    short(forOf(one)),
    String(one.slots),
    short(one.queues.join(',')),
    short(timesOf(one)),
    stateOf(one),
    short(one.createdBy),
    short(one.reason ?? ''),
  ]);
  print(table(['id', 'for', 'slots', 'queues', 'when', 'state', 'by', 'reason'], rows));
}

export async function createReservation(flags: ReserveFlags): Promise<void> {
  const { dag, tenant, slots = '', queue = 'default', from, until, timezone, days, reason } = flags;
  if ((dag === undefined) === (tenant === undefined))
    throw new CliError('For whom are the slots kept?', 'Give either --dag or --tenant.', EXIT.usage);
  if (!/^\d{1,7}$/.test(slots))
    throw new CliError(`"${slots}" is no number of slots.`, 'Give --slots with a whole number.', EXIT.usage);
  if (from === undefined || until === undefined)
    throw new CliError('When are they kept?', 'Give --from and --until, such as 22:00 and 04:00.', EXIT.usage);
  const reservation = {
    ...(dag === undefined ? { tenant } : { dag }),
    slots: Number(slots),
    queues: listOf(queue),
    from,
    until,
    ...(timezone === undefined ? {} : { timezone }),
    ...(days === undefined ? {} : { days: listOf(days) as NonNullable<NewReservation['days']> }),
    ...(reason === undefined ? {} : { reason }),
  };
  const made = await (await connect(flags)).createReservation(reservation);
  if (flags.json) return printJson(made);
  const of = `${made.queues.length === 1 ? 'queue' : 'queues'} ${short(made.queues.join(', '))}`;
  print(`reservation ${made.id}: ${counted(made.slots, 'slot')} of ${of} for ${short(forOf(made))}, ${timesOf(made)}`);
}

export async function deleteReservation(id: string, flags: ClientFlags): Promise<void> {
  const deleted = await (await connect(flags)).deleteReservation(id);
  if (flags.json) return printJson(deleted);
  print(`reservation ${short(id)} is deleted: others can use its slots within seconds`);
}

function listOf(names: string): string[] {
  return names.split(',').map((name) => name.trim());
}

function forOf({ dag, tenant }: ReservationView): string {
  return dag === null ? `tenant:${tenant}` : `dag:${dag}`;
}

function timesOf({ from, until, timezone, days }: ReservationView): string {
  if (timezone === null) return `${from} to ${until}`;
  return `${from} to ${until} ${timezone}${days === null ? '' : ` ${days.join(',')}`}`;
}

function stateOf({ open, left, window }: ReservationView): string {
  if (window === null) return 'over';
  if (!open) return `from ${window.from}`;
  return `until ${window.until}${left === null ? '' : `, others share ${left}`}`;
}
