import {
  newReservationSchema,
  reservationDeletedSchema,
  reservationPageSchema,
  reservationViewSchema,
} from '@signalbox/protocol';
import { z } from 'zod';
import { ADMINS, type Operation, READERS } from './operation.ts';

const shared = { group: 'fleet', status: 200 } as const;

export const reservationOperations: readonly Operation[] = [
  {
    ...shared,
    id: 'listReservations',
    method: 'GET',
    path: '/v1/reservations',
    summary:
      'Lists reservations: slots that are kept for a dag or a tenant, when, by whom, and what others share meanwhile.',
    action: 'list reservations',
    roles: READERS,
    answer: reservationPageSchema,
  },
  {
    ...shared,
    id: 'createReservation',
    method: 'POST',
    path: '/v1/reservations',
    summary:
      'Keeps slots of queues for a dag, between two instants or each day between two times of day. Meanwhile tasks of other dags of the tenant use the others at most; `critical` ones use any. Nothing that runs is stopped. For a tenant, it keeps them from all other tenants, and is for the tenant `default`.',
    action: 'reserve slots',
    roles: ADMINS,
    body: newReservationSchema,
    example: { dag: 'nightly', slots: 20, from: '22:00', until: '04:00', timezone: 'Europe/Berlin' },
    answer: reservationViewSchema,
    errors: ['DAG_NOT_FOUND', 'TENANT_NOT_FOUND', 'TOO_MANY_RESERVATIONS'],
  },
  {
    ...shared,
    id: 'deleteReservation',
    method: 'DELETE',
    path: '/v1/reservations/:id',
    summary: 'Deletes a reservation. Others can use its slots within seconds.',
    action: 'delete reservations',
    roles: ADMINS,
    params: { id: z.string().describe('Its id.') },
    answer: reservationDeletedSchema,
    errors: ['RESERVATION_NOT_FOUND'],
  },
];
