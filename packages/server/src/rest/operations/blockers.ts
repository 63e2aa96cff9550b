import { blockerPageSchema } from '@signalbox/protocol';
import { type Operation, READERS } from './operation.ts';

export const blockerOperations: readonly Operation[] = [
  {
    id: 'listBlockers',
    method: 'GET',
    path: '/v1/blockers',
    group: 'fleet',
    summary: 'Lists what holds back waiting tasks and runs, the most work first, and what would help.',
    action: 'see what holds back work',
    roles: READERS,
    status: 200,
    answer: blockerPageSchema,
  },
];
