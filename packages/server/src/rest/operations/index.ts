/**
 * Every operation of the API, once. A route that is not listed here can't be registered. Roles, the OpenAPI document, the
 * docs page, `docs/reference/rest.md` and the names in metrics come from here.
 */

import { assetOperations } from './assets.ts';
import { backfillOperations } from './backfills.ts';
import { blockerOperations } from './blockers.ts';
import { costOperations } from './costs.ts';
import { dagOperations } from './dags.ts';
import { deadLetterOperations } from './dead-letters.ts';
import { freezeOperations } from './freezes.ts';
import { houseOperations } from './house.ts';
import { jobOperations } from './jobs.ts';
import type { Operation } from './operation.ts';
import { quotaOperations } from './quotas.ts';
import { reservationOperations } from './reservations.ts';
import { runOperations } from './runs.ts';
import { scheduleOperations } from './schedules.ts';
import { slotLimitOperations } from './slot-limits.ts';
import { tenantOperations } from './tenants.ts';
import { webhookOperations } from './webhooks.ts';

export * from './operation.ts';

export const OPERATIONS: readonly Operation[] = [
  ...dagOperations,
  ...scheduleOperations,
  ...assetOperations,
  ...backfillOperations,
  ...runOperations,
  ...jobOperations,
  ...deadLetterOperations,
  ...houseOperations,
  ...tenantOperations,
  ...slotLimitOperations,
  ...quotaOperations,
  ...freezeOperations,
  ...reservationOperations,
  ...blockerOperations,
  ...webhookOperations,
  ...costOperations,
];

const BY_ROUTE = new Map(OPERATIONS.map((operation) => [`${operation.method} ${operation.path}`, operation]));

/** A question by HEAD is one by GET whose body is left out. */
export function operationOf(method: string, path: string): Operation | undefined {
  return BY_ROUTE.get(`${method === 'HEAD' ? 'GET' : method} ${path}`);
}
