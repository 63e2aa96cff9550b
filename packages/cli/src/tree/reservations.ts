/** Slots that are kept for a dag or a tenant. */
import type { ReserveFlags } from '../commands/reservations.ts';
import type { ClientFlags } from '../connection.ts';
import { clientFlags, define } from '../define.ts';

export const reservationCommands = [
  define<ClientFlags>({
    name: 'reservations list',
    summary: 'list slots that are kept for dags and tenants, when, and by whom',
    isDefault: true,
    flags: clientFlags,
    examples: [['signalbox reservations', 'one line each']],
    run: async (_, flags) => (await import('../commands/reservations.ts')).listReservations(flags),
  }),
  define<ReserveFlags>({
    name: 'reservations create',
    summary: 'keep slots of queues for a dag or a tenant, each day or once; what runs goes on',
    details:
      'Meanwhile other dags of the tenant (or other tenants) use what is left of the slots of connected workers. Critical tasks use any. If workers serve several queues, name all of them.',
    flags: [
      { flags: '--dag <name>', what: 'for this dag, before the other dags of the tenant' },
      { flags: '--tenant <name>', what: 'for this tenant, before all others; for admins of the tenant default' },
      { flags: '--slots <count>', what: 'how many' },
      { flags: '--queue <names>', what: 'of which queues, separated by commas', usual: 'default' },
      { flags: '--from <time>', what: 'each day from 22:00, or once from 2027-01-31T22:00:00Z' },
      { flags: '--until <time>', what: 'the same; a time of day that is not after --from is of the next day' },
      { flags: '--tz <zone>', what: 'IANA time zone of times of day (default: UTC)', field: 'timezone' },
      { flags: '--days <names>', what: 'on which it begins, such as mon,tue (default: all)' },
      { flags: '--reason <text>', what: 'why, for those who wait' },
      ...clientFlags,
    ],
    examples: [
      [
        'signalbox reservations create --dag nightly --slots 20 --from 22:00 --until 04:00 --tz Europe/Berlin',
        'every night',
      ],
      [
        'signalbox reservations create --tenant team-a --slots 50 --from 2027-01-31T08:00:00Z --until 2027-01-31T20:00:00Z',
        'one day',
      ],
    ],
    run: async (_, flags) => (await import('../commands/reservations.ts')).createReservation(flags),
  }),
  define<ClientFlags>({
    name: 'reservations delete',
    summary: 'delete a reservation; others can use its slots within seconds',
    arguments: [{ name: 'id', what: 'its id' }],
    flags: clientFlags,
    examples: [['signalbox reservations delete 3', 'see "signalbox reservations" for ids']],
    run: async ([id = ''], flags) => (await import('../commands/reservations.ts')).deleteReservation(id, flags),
  }),
];
